"""The threads that NumPy's products run on: a file of the user's own may not set them for all kernels."""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path

MAPPED = Path("/proc/self/maps")  # on Linux alone: what the process has loaded
NAMES = ("scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}")
"""What OpenBLAS calls a function of its own, the way NumPy's wheels build it first."""


def openblas_threads() -> tuple[int, ...] | None:
    """Of each OpenBLAS that was loaded when this was called first; None where there was none."""
    return tuple(read() for read in functions("get_num_threads")) or None


@cache
def functions(what: str) -> tuple[Callable[..., int], ...]:
    """A function of OpenBLAS, from each of its libraries that is loaded."""
    libraries = [ctypes.CDLL(path) for path in sorted(_loaded())]
    names = [name.format(what) for name in NAMES]
    found = (next((name for name in names if hasattr(one, name)), "") for one in libraries)
    return tuple(getattr(one, name) for one, name in zip(libraries, found, strict=True) if name)


def _loaded() -> set[str]:
    if not MAPPED.exists():
        return set()
    lines = MAPPED.read_text(encoding="utf-8").splitlines()
    paths = {line[line.index("/") :] for line in lines if "openblas" in line and "/" in line}
    return {path for path in paths if Path(path).exists()}
