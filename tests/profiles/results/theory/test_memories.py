"""The memories of a device, and what is told of them."""

from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.words.devices.memories import level_rate, level_times, level_title, memories_sentence
from flashscope.kernels.workload.device import Device
from flashscope.profiles.results.theory.memories import (
    NOT_MEASURED,
    ONLY_BY_ARITHMETIC,
    MemoryLevel,
    memory_levels,
)
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
    return Ceilings(rates=found, cache_bytes=32 << 20, core_cache_bytes=1 << 20)


def test_a_gpu_has_registers_shared_memory_l2_and_its_memory_with_size_and_rate() -> None:
    levels = memory_levels(GPU, rates(**{SHARED_READS: 33_000, L2_READS: 7600, COPY: 3000}), "HBM")
    assert [level.name for level in levels] == ["registers", "shared memory", "L2", "HBM"]
    assert [level.nbytes for level in levels] == [132 << 18, 132 * (227 << 10), 50 << 20, 80 << 30]
    assert [level.rate.value for level in levels] == [None, 33_000, 7600, 3000]
    assert memories_sentence(levels) == (
        "Shared memory is read 11.0× and L2 2.53× as fast as HBM is copied; "
        "HBM holds 2,800× as much as shared memory."
    )
    assert [level_rate(level) for level in levels] == [
        *(ONLY_BY_ARITHMETIC, "33.0 TB/s", "7.60 TB/s", "3.00 TB/s")
    ]
    assert [level_times(level, levels) for level in levels] == ["", "11.0× HBM", "2.53× HBM", ""]
    assert level_title(levels[2]) == "L2 · 50.0 MiB"


def test_a_cpu_has_its_caches_and_its_memory() -> None:
    levels = memory_levels(CPU, rates(**{CORE_CACHE: 200, LAST_CACHE: 100, COPY: 50}))
    assert [level.name for level in levels] == ["a core's cache", "last cache", "memory"]
    assert [level.nbytes for level in levels] == [1 << 20, 32 << 20, 16 << 30]
    assert memories_sentence(levels) == (
        "Copies in a core's cache are 4.00× and in the last cache 2.00× as fast as in memory; "
        "memory holds 16,384× as much as a core's cache."
    )


def test_a_rate_has_its_quartiles_and_its_unit_once_where_all_have_the_same() -> None:
    same, other = (
        MemoryLevel(COPY, "HBM", None, Figure(value=value, low=low, high=high, source="a load"))
        for value, low, high in ((3010.0, 2990.0, 3020.0), (1001.0, 998.0, 1002.0))
    )
    assert level_rate(same) == "3.01 TB/s (2.99 .. 3.02)"
    assert level_rate(other) == "1.00 TB/s (998 GB/s .. 1.00 TB/s)"
    assert level_title(same) == "HBM · size not known"


@given(value=st.floats(allow_nan=False), nbytes=st.none() | st.integers(0, 1 << 90))
def test_whatever_a_file_says_of_a_memory_there_are_words_for_it(value: float, nbytes: int | None) -> None:
    levels = [
        MemoryLevel(key, key, nbytes, Figure(value=value, low=value, high=value))
        for key in (SHARED_READS, COPY)
    ]
    for level in levels:
        assert level_title(level)
        assert level_times(level, levels) or level_rate(level) or not value
    assert memories_sentence(levels).endswith(".")


def test_where_less_than_two_rates_were_measured_the_sentence_says_so() -> None:
    for ceilings in (None, rates(**{COPY: 3000})):
        levels = memory_levels(GPU, ceilings)
        assert [level_rate(level) for level in levels[1:3]] == [NOT_MEASURED] * 2
        assert memories_sentence(levels).startswith(
            "Of these memories no two rates were measured with this session"
        )
