"""The memories of a device, and what is told of them."""

import pytest

from flashscope.app.words.memories import level_text, level_title, memories_sentence
from flashscope.kernels.workload.device import Device
from flashscope.profiles.results.theory.memories import NOT_MEASURED, memory_levels, times_faster
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

GPU = Device(
    backend="cuda",
    name="a GPU",
    memory_bytes=80 << 30,
    compute_capability=(9, 0),
    shared_memory_per_block=227 << 10,
    multiprocessors=132,
    l2_bytes=50 << 20,
)
CPU = Device(backend="cpu", name="a CPU", memory_bytes=16 << 30)


def rates(**values: float) -> Ceilings:
    found = {key: Ceiling(figure=Figure(value=value, source="a load")) for key, value in values.items()}
    return Ceilings(rates=found, cache_bytes=32 << 20)


def test_a_gpu_has_registers_shared_memory_l2_and_its_memory_with_size_and_rate() -> None:
    levels = memory_levels(GPU, rates(**{SHARED_READS: 33_000, L2_READS: 7600, COPY: 3000}), "HBM")
    assert [level.name for level in levels] == ["registers", "shared memory", "L2", "HBM"]
    assert [level.nbytes for level in levels] == [132 << 18, 132 * (227 << 10), 50 << 20, 80 << 30]
    assert [level.rate.value for level in levels] == [None, 33_000, 7600, 3000]
    assert times_faster(levels) == pytest.approx(11)
    assert memories_sentence(levels) == (
        "Shared memory is read 11.0 times as fast as HBM is copied, and HBM holds 2,800 times as much."
    )
    assert [level_text(level, 3000) for level in levels] == [
        *(NOT_MEASURED, "33.0 TB/s · 11.0×", "7.60 TB/s · 2.53×", "3.00 TB/s")
    ]
    assert level_title(levels[2]) == "L2 · 50.0 MiB"


def test_a_cpu_has_its_caches_and_its_memory() -> None:
    levels = memory_levels(CPU, rates(**{CORE_CACHE: 200, LAST_CACHE: 100, COPY: 50}))
    assert [level.name for level in levels] == ["a core's cache", "last cache", "memory"]
    assert [level.nbytes for level in levels] == [None, 32 << 20, 16 << 30]
    assert memories_sentence(levels) == "A core's cache is read 4.00 times as fast as memory is copied."


def test_where_less_than_two_rates_were_measured_the_sentence_says_so() -> None:
    for ceilings in (None, rates(**{COPY: 3000})):
        levels = memory_levels(GPU, ceilings)
        assert times_faster(levels) is None
        assert memories_sentence(levels).startswith("Of these memories no two rates were measured here")
