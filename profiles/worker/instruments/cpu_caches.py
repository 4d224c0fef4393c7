"""The caches of a CPU as Linux tells them, under `/sys/devices/system/cpu`."""

import os
from pathlib import Path

CPUS = Path("/sys/devices/system/cpu")
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def cache_sizes(cpus: Path = CPUS) -> dict[int, int]:
    """Bytes of the data cache of each level of a core that this process may use; empty where nothing tells.

    Args:
        cpus: The folder that has one of each core.
    """
    found = {}
    for folder in sorted((cpus / f"cpu{_own_core()}" / "cache").glob("index*")):
        try:
            level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
            if kind != "Instruction":
                found[int(level)] = _nbytes(size)
        except (OSError, ValueError, KeyError, IndexError):  # noqa: PERF203 - a handful of levels
            continue  # a kernel that tells it in another way tells nothing
    return found


def _own_core() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # macOS and Windows have none
    return min(affinity(0)) if affinity else 0


def _nbytes(text: str) -> int:
    """`1024K` in bytes."""
    return int(text[:-1]) * UNITS[text[-1]]
