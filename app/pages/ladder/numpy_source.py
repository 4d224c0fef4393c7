"""The kernels of the ladder in NumPy, as they run on a CPU: a module, and those whose steps it calls."""

import re
from importlib.util import find_spec
from pathlib import Path

from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.reading.step import StepSource
from flashscope.kernels.workload.errors import UnsupportedError

NUMPY_STEPS = tuple(spec.name for spec in LADDER if "cpu" in spec.implementation)
"""The kernels of the ladder that there are in NumPy."""
_CALLED = re.compile(r"^from (flashscope\.kernels\.cpu\.(?:standard|tiles)) import", re.MULTILINE)


def numpy_source(kernel: str) -> StepSource:
    """The source of a kernel's forward pass, which no problem changes.

    Raises:
        UnsupportedError: It is not there in NumPy, or this copy lacks the file.
    """
    module = find_kernel(kernel).implementation.get("cpu")
    if module is None:
        raise UnsupportedError(f"{kernel} is not written in NumPy: choose {', '.join(NUMPY_STEPS)}.")
    own = _file_of(module)
    files = [own, *map(_file_of, _CALLED.findall(own.read_text(encoding="utf-8")))]
    names = [f"kernels/cpu/{file.name}" for file in files]
    parts = [f"# {name}\n{file.read_text(encoding='utf-8')}" for name, file in zip(names, files, strict=True)]
    heading = f"{kernel}: {' and '.join(names)}, NumPy"
    return StepSource(kernel, " and ".join(file.name for file in files), heading, "\n\n".join(parts))


def _file_of(module: str) -> Path:
    found = find_spec(module)
    if found is None or found.origin is None:
        raise UnsupportedError(f"The source of {module} is not to be found.")
    return Path(found.origin)
