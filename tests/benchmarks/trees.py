"""Two states of kernels/ in one process, to be run in turns: this checkout's, and one exported to a folder.

    git archive REVISION .src kernels | tar -x -C FOLDER

Both go by the name `flashscope.kernels`; within `active` it stands for one of them. What was made there
(problems, launches) lives on outside. So both meet the same CUDA context, stream, inputs and clock.
"""

import hashlib
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

PACKAGE = "flashscope.kernels"
HERE = Path(__file__).resolve().parents[2]


class Tree:
    """One state of kernels/.

    Attributes:
        root: The folder that holds it.
        name: What tables call it.
    """

    def __init__(self, root: Path, name: str) -> None:
        self.root, self.name = root.resolve(), name
        self._modules: dict[str, ModuleType] = {}
        if not (self.root / ".src" / "flashscope" / "kernels" / "__init__.py").is_file():
            raise SystemExit(
                f"{self.root} holds no kernels/: git archive REVISION .src kernels | tar -x -C ..."
            )

    @property
    def digest(self) -> str:
        """A hash of all its sources, Python and CUDA."""
        digest = hashlib.sha256()
        for path in sorted((self.root / "kernels").rglob("*")):
            if path.suffix in {".py", ".cu", ".cuh"}:
                digest.update(f"{path.relative_to(self.root)}\n".encode())
                digest.update(path.read_bytes())
        return digest.hexdigest()[:12]

    @contextmanager
    def active(self) -> Iterator[None]:
        """Meanwhile `flashscope.kernels` is this tree's."""
        others = _taken()
        sys.modules.update(self._modules)
        sys.path.insert(0, str(self.root / ".src"))
        importlib.invalidate_caches()
        try:
            yield
        finally:
            sys.path.remove(str(self.root / ".src"))
            self._modules = _taken()
            sys.modules.update(others)

    def module(self, name: str) -> ModuleType:
        """A module of it; only within `active`.

        Raises:
            RuntimeError: Python found it elsewhere.
        """
        found = importlib.import_module(f"{PACKAGE}.{name}" if name else PACKAGE)
        if not Path(found.__file__ or "").resolve().is_relative_to(self.root):
            raise RuntimeError(f"{found.__name__} is {found.__file__}, not below {self.root}")
        return found


def both(old: Path, *, same: bool = False) -> tuple[Tree, Tree]:
    """The old tree and this checkout's, once their sources were seen to differ.

    Args:
        old: Folder of the old one.
        same: Allow two equal ones, to see what noise alone does.
    """
    trees = Tree(old, "old"), Tree(HERE, "new")
    for tree in trees:
        print(f"{tree.name}: {tree.root}, sources {tree.digest}")  # noqa: T201 - the head of a table
    if trees[0].digest == trees[1].digest and not same:
        raise SystemExit(
            "Both trees hold the same sources: nothing to compare (--same does it all the same)."
        )
    return trees


def _taken() -> dict[str, ModuleType]:
    """All modules of Flashscope, taken out of the interpreter's table."""
    names = [name for name in sys.modules if name.partition(".")[0] == "flashscope"]
    return {name: sys.modules.pop(name) for name in names}
