"""Nsight Compute's ncu: where it is, and what its refusals mean."""

import shutil
from pathlib import Path

PLACES = ("/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/*/ncu")
NO_PERMISSION = "ERR_NVGPUCTRPERM"
NOT_LOADED = "LibraryNotLoaded"
MISSING = (
    "Nsight Compute (ncu) is not on this machine: it comes with the CUDA toolkit, or as NVIDIA's package "
    "nsight-compute; install it, and have it on the PATH."
)
DENIED = (
    f"This machine lets administrators alone read the counters of its GPU ({NO_PERMISSION}): run Flashscope "
    "as root, or have the driver loaded with NVreg_RestrictProfilingToAdminUsers=0."
)
SANDBOXED = (
    f"Nsight Compute cannot load the driver's library for counters here ({NOT_LOADED}), as in a sandbox such "
    "as gVisor: run Flashscope on the machine itself, or in a container without one."
)
MOST_SAID = 300  # characters


def find_ncu() -> str | None:
    """Where ncu is: on the PATH or where NVIDIA's packages put it."""
    for place in PLACES:
        found = shutil.which("ncu") or next(iter(sorted(Path("/").glob(place[1:]), reverse=True)), None)
        if found:
            return str(found)
    return None


def why_refused(printed: str) -> str:
    """What ncu printed in place of an answer, as a sentence with the remedy where there is one."""
    for name, told in ((NO_PERMISSION, DENIED), (NOT_LOADED, SANDBOXED)):
        if name in printed:
            return told
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("==ERROR==")]
    last = next(reversed(errors or lines), "it said nothing")
    return f"Nsight Compute gave no answer: {last.removeprefix('==ERROR==').strip().rstrip('.')[:MOST_SAID]}."
