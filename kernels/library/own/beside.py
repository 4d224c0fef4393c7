"""Modules that lie beside files of the user's own: a process can have one of each name."""

import ast
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

_folders: list[Path] = []  # of files that were run here, as they were added to the path


def find_beside(folder: Path) -> None:
    """Have modules be found in a folder, too; last, so that none hides an installed one."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
        _folders.append(folder)


def taken_from_elsewhere(code: bytes, folder: Path) -> str:
    """Which module that a file imports from beside it lies, with other text, beside one that was run earlier.

    Returns:
        What it does, to be said behind its name; empty where each import means what lies beside the file.
    """
    for name in dict.fromkeys(_imported(code)):
        mine, found = _beside(name, folder), _found(name)
        if mine is None or found is None or found == mine:
            continue
        elsewhere = found.parent if found.name != "__init__.py" else found.parent.parent
        if elsewhere in _folders and found.read_bytes() != mine.read_bytes():
            return (
                f"imports {name}, which lies beside it, but this process has that of {elsewhere}, where "
                f"another kernel's file lies. Measure the two in sweeps of their own, or rename one {name}."
            )
    return ""


def _imported(code: bytes) -> Iterator[str]:
    """The outermost names of what a file imports, in its functions, too."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _beside(name: str, folder: Path) -> Path | None:
    places = (folder / name / "__init__.py", folder / f"{name}.py")
    return next((one for one in places if one.is_file()), None)


def _found(name: str) -> Path | None:
    """The file that a module of this name comes from here; None where none tells."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):  # a module that was put there by hand
        return None
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None
