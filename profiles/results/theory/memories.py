"""The memories of a device, from the registers to its RAM: what each holds, and how fast it was read here."""

from collections.abc import Iterator
from typing import NamedTuple

from flashscope.kernels.workload.device import Device
from flashscope.profiles.wire.ceilings import (
    COPY,
    CORE_CACHE,
    L2_READS,
    LAST_CACHE,
    SHARED_READS,
    Ceiling,
    Ceilings,
)
from flashscope.profiles.wire.measurement import Figure

REGISTER_BYTES = 4 * (
    64 << 10
)  # of a multiprocessor since compute capability 5.0 (CUDA C++ Programming Guide)
NOT_MEASURED = "its rate was not measured"
ONLY_BY_ARITHMETIC = "no rate: only arithmetic reads registers"


class MemoryLevel(NamedTuple):
    """One of them.

    Attributes:
        key: Of its rate; empty where there is none to measure.
        name: What it is called.
        nbytes: What all of it holds on the device, None when unknown.
        rate: 10^9 bytes a second with quartiles, or why there is none.
    """

    key: str
    name: str
    nbytes: int | None
    rate: Figure


def memory_levels(device: Device, ceilings: Ceilings | None, memory: str = "memory") -> list[MemoryLevel]:
    """All of a device, the fastest first.

    Args:
        device: Whose.
        ceilings: What was measured on it; None: nothing was.
        memory: What its largest one is called.
    """
    rates = ceilings.rates if ceilings else {}

    def level(key: str, name: str, nbytes: int | None) -> MemoryLevel:
        known = rates.get(key, Ceiling(figure=Figure(missing=NOT_MEASURED)))
        return MemoryLevel(key, name, nbytes, known.figure)

    cache, own = (ceilings.cache_bytes, ceilings.core_cache_bytes) if ceilings else (None, None)
    whole = level(COPY, memory, device.memory_bytes)
    if device.backend == "cpu":
        return [level(CORE_CACHE, "a core's cache", own), level(LAST_CACHE, "last cache", cache), whole]
    on_chip = level(SHARED_READS, "shared memory", _shared(device))
    return [*_registers(device), on_chip, level(L2_READS, "L2", device.l2_bytes or cache), whole]


def _registers(device: Device) -> Iterator[MemoryLevel]:
    if device.multiprocessors:
        held = REGISTER_BYTES * device.multiprocessors
        yield MemoryLevel("", "registers", held, Figure(missing=ONLY_BY_ARITHMETIC))


def _shared(device: Device) -> int | None:
    """What blocks may have of it on all multiprocessors."""
    a_block, count = device.shared_memory_per_block, device.multiprocessors
    return a_block * count if a_block and count else None
