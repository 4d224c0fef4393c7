"""What our kernels are made of, as digests: two runs of one digest ran the same code."""

import hashlib
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.catalogue.source_text import running
from flashscope.kernels.workload.problem import Backend, Passes

KERNELS_FOLDER = Path(__file__).parents[1]
ROOT = KERNELS_FOLDER.parents[1]  # from where Flashscope is found
DIGITS = 12
BACKWARD = " backward"  # behind the name of the kernel whose backward pass a digest is of
_NAMED = re.compile(
    r"""kernels\.(?P<module>[\w.]+)\simport\s(?P<names>[^()\n]*)  # a module, or modules of a folder
    | "(?P<cuda>\w+\.cuh?)" """,
    re.VERBOSE,
)
_WORD = re.compile(r"\w+")


def source_digests() -> dict[Backend, dict[str, str]]:
    """A digest for every kernel whose code is ours, and for its backward pass, by backend and key.

    It is of the module that implements the pass, of what that takes from its own folder, and of the CUDA
    sources and headers that any of these name, without their comments and docstrings. Options of the
    compiler follow from these files.
    """
    found: dict[Backend, dict[str, str]] = {}
    files = _Files()  # kernels share most of them
    for backend, key, module in _modules():
        found.setdefault(backend, {})[key] = _digest(module, files)
    return found


def source_digest(backend: Backend, key: str) -> str | None:
    """One of them, without reading what the others are of; None where there is none."""
    return next((_digest(module, _Files()) for *of, module in _modules() if of == [backend, key]), None)


def _modules() -> Iterator[tuple[Backend, str, Path]]:
    """What implements each pass: its backend, its key and the file."""
    for spec in (one for one in KERNELS if one.extra is None or one.written_here):
        backward = spec.backward.implementation if spec.backward else {}
        for key, modules in ((spec.name, spec.implementation), (spec.name + BACKWARD, backward)):
            for backend, module in modules.items():
                yield backend, key, ROOT / f"{module.replace('.', '/')}.py"


def digest_keys(kernel: str, passes: Passes) -> tuple[str, ...]:
    """The keys of the digests of the code that these passes of a kernel run."""
    forward = () if passes == "backward" else (kernel,)
    return forward if passes == "forward" else (*forward, kernel + BACKWARD)


class _Files:
    """What digests are of, each file read once.

    Attributes:
        running: What of a file runs.
        named: The files of a folder that a file of it names.
    """

    def __init__(self) -> None:
        self.running = cache(_running)
        self.named = cache(lambda path, folder: _named_in(self.running(path), folder))


def _running(path: Path) -> str:
    return running(path.read_text(encoding="utf-8"), python=path.suffix == ".py")


def _digest(start: Path, files: _Files) -> str:
    reached, waiting = {start}, [start]
    while waiting:
        fresh = files.named(waiting.pop(), start.parent) - reached
        reached |= fresh
        waiting += fresh
    digest = hashlib.sha256()
    for path in sorted(reached):
        digest.update(f"{path.name}\0{files.running(path)}".encode())
    return digest.hexdigest()[:DIGITS]


def _named_in(text: str, folder: Path) -> set[Path]:
    """The files of the folder that a text names."""
    found: set[str] = set()  # a path takes longer to make than all else here, and few are of the folder
    within = f"{folder}{os.sep}"
    for match in _NAMED.finditer(text):
        if match["cuda"]:
            found |= {f"{within}{match['cuda']}", f"{within}include{os.sep}{match['cuda']}"}
            continue
        module = f"{KERNELS_FOLDER}{os.sep}{match['module'].replace('.', os.sep)}"
        found |= {f"{module}.py", *(f"{module}{os.sep}{name}.py" for name in _WORD.findall(match["names"]))}
    return {path for one in found if one.startswith(within) and (path := Path(one)).is_file()}
