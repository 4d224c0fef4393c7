"""What Linux tells of a CPU's caches, and what a bench makes of it."""

from pathlib import Path

import pytest

from flashscope.profiles.wire.ceilings import COPY, CORE_CACHE, LAST_CACHE
from flashscope.profiles.worker.instruments import bench_cpu, cpu_caches
from flashscope.profiles.worker.instruments.bench_cpu import ASSUMED_CACHE_BYTES, CpuBench
from flashscope.profiles.worker.instruments.cpu_caches import cache_sizes

USUAL = (
    ("1", "Data", "48K"),
    ("1", "Instruction", "32K"),
    ("2", "Unified", "1024K"),
    ("3", "Unified", "32M"),
)


def told(folder: Path, caches: tuple[tuple[str, str, str], ...], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cpu_caches, "_own_core", lambda: 3)
    for number, one in enumerate(caches):
        index = folder / "cpu3" / "cache" / f"index{number}"
        index.mkdir(parents=True)
        for name, text in zip(("level", "type", "size"), one, strict=True):
            (index / name).write_text(f"{text}\n")
    return folder


def test_the_data_cache_of_each_level_is_read_of_a_core_that_may_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache_sizes(told(tmp_path, USUAL, monkeypatch)) == {1: 48 << 10, 2: 1 << 20, 3: 32 << 20}


@pytest.mark.parametrize("size", ["", "K", "32X", "many K"])
def test_a_size_that_cannot_be_read_is_left_out(
    size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches = (("2", "Unified", "1024K"), ("3", "Unified", size))
    assert cache_sizes(told(tmp_path, caches, monkeypatch)) == {2: 1 << 20}
    assert cache_sizes(tmp_path / "nowhere") == {}


def test_a_bench_flushes_and_copies_within_the_caches_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_cpu, "cache_sizes", lambda: {2: 1 << 20, 3: 8 << 20})
    bench = CpuBench()
    assert bench.cache_bytes == 8 << 20
    last, core = bench.loads[LAST_CACHE](), bench.loads[CORE_CACHE]()
    assert "copies of 1024 KiB within the last cache" in last.what
    assert "copies of 128 KiB within a core's own cache" in core.what


def test_nothing_is_said_of_a_cache_whose_size_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_cpu, "cache_sizes", dict)
    bench = CpuBench()
    assert bench.cache_bytes == ASSUMED_CACHE_BYTES
    with pytest.raises(OSError, match="does not tell the size of the last cache"):
        bench.loads[LAST_CACHE]()
    assert bench.loads[COPY]().amount > 0
