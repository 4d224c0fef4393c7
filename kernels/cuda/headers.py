"""Where the CUDA toolkit's headers are: `cuda_fp16.h` and others that sources of the user's own include.

CuPy's own compilation finds them; NVRTC, called for the very architecture, looks in no folder by itself.
"""

import os
import shutil
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

KNOWN_BY = "cuda_fp16.h"
USUAL = Path("/usr/local/cuda/include")
VARIABLES = ("CUDA_PATH", "CUDA_HOME")
REMEDY = "the CUDA toolkit's headers are not here: set CUDA_PATH, or pip install 'nvidia-cuda-runtime>=13'"


@cache
def toolkit_headers() -> Path | None:
    """The folder that the environment names, else of NVIDIA's package, beside nvcc, or the usual one."""
    return next((folder for folder in _folders() if (folder / KNOWN_BY).is_file()), None)


def _folders() -> Iterator[Path]:
    yield from (Path(os.environ[name]) / "include" for name in VARIABLES if os.environ.get(name))
    spec = find_spec("nvidia")
    for place in (spec.submodule_search_locations or []) if spec else []:
        yield from sorted(Path(place).glob("cu[0-9]*/include"), reverse=True)
        yield Path(place) / "cuda_runtime" / "include"
    if compiler := shutil.which("nvcc"):
        yield Path(compiler).resolve().parents[1] / "include"
    yield USUAL
