"""What our kernels are made of, as digests: two runs of one digest ran the same code."""

import hashlib
import re
from pathlib import Path

from kernels.problem import Backend
from kernels.registry import KERNELS

ROOT = Path(__file__).parent
DIGITS = 12
_NAMED = re.compile(
    r"""kernels\.(?P<module>[\w.]+)\simport\s(?P<names>[^()\n]*)  # a module, or modules of a folder
    | "(?P<cuda>\w+\.cuh?)" """,
    re.VERBOSE,
)


def source_digests() -> dict[Backend, dict[str, str]]:
    """A digest for every kernel that wraps no library, by backend and name.

    It is of the module that implements the kernel, of what that takes from its own folder, and of the CUDA
    sources and headers that any of these name. Options of the compiler follow from these files.
    """
    found: dict[Backend, dict[str, str]] = {}
    for spec in KERNELS:
        for backend, module in spec.implementation.items() if spec.extra is None else ():
            found.setdefault(backend, {})[spec.name] = _digest(ROOT.parent / f"{module.replace('.', '/')}.py")
    return found


def _digest(start: Path) -> str:
    reached, waiting = {start}, [start]
    while waiting:
        fresh = _named_in(waiting.pop(), start.parent) - reached
        reached |= fresh
        waiting += fresh
    digest = hashlib.sha256()
    for path in sorted(reached):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:DIGITS]


def _named_in(path: Path, folder: Path) -> set[Path]:
    """The files of the folder that a file names."""
    found: set[Path] = set()
    for match in _NAMED.finditer(path.read_text(encoding="utf-8")):
        if match["cuda"]:
            found |= {folder / match["cuda"], folder / "include" / match["cuda"]}
            continue
        module = ROOT / match["module"].replace(".", "/")
        inside = (module / f"{name}.py" for name in re.findall(r"\w+", match["names"]))
        found |= {module.with_suffix(".py"), *inside}
    return {one for one in found if one.is_relative_to(folder) and one.is_file()}
