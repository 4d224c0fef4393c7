"""What a kernel takes of an SM, as ptxas reports it while it compiles."""

import re
from typing import NamedTuple

from flashscope.kernels.workload.errors import DeviceUnavailableError

ENTRY = re.compile(r"Compiling entry function '(\w+)'(.*?)(?=Compiling entry function|\Z)", re.DOTALL)
FIGURES = (
    r"Used (\d+) registers",
    r"(\d+) bytes stack frame",
    r"(\d+) bytes spill stores",
    r"(\d+) bytes smem",
    r"(\d+) bytes spill loads",
)


SILENT = (
    "The CUDA compiler had this build in its cache, and says nothing of what it takes; set "
    "CUDA_CACHE_DISABLE to 1 and start again."
)


class Resources(NamedTuple):
    """What a kernel takes.

    Attributes:
        registers: Of a thread.
        stack: Bytes of a thread in local memory, spills among them.
        spilled: Bytes that the stores of spilled registers write, each store once.
        shared: Bytes of static shared memory of a block.
        reloaded: Bytes that the loads of spilled registers read, each load once.
    """

    registers: int
    stack: int
    spilled: int
    shared: int
    reloaded: int


def resources(log: str) -> dict[str, Resources]:
    """What each kernel of a source takes, by its name.

    Args:
        log: The compiler's, with `--ptxas-options=-v`.
    """
    return {entry: Resources(*(_figure(one, text) for one in FIGURES)) for entry, text in ENTRY.findall(log)}


def _figure(pattern: str, text: str) -> int:
    """A number of the log; what ptxas does not name is 0."""
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def resources_of(entry: str, log: str) -> Resources:
    """What one kernel takes, from the compiler's log.

    Raises:
        DeviceUnavailableError: The log does not say, as of a build that was in NVRTC's cache.
    """
    taken = resources(log)
    if entry not in taken:
        raise DeviceUnavailableError(SILENT)
    return taken[entry]
