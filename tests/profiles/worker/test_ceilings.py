"""What a device reaches: medians of a few runs, and a reason where there is none."""

from collections.abc import Callable

import pytest

from flashscope.profiles.wire.ceilings import matmul_key
from flashscope.profiles.wire.events import LogLine
from flashscope.profiles.wire.measurement import Sample
from flashscope.profiles.wire.messages import Message
from flashscope.profiles.worker.ceilings import RUNS, measure_ceilings, reach
from flashscope.profiles.worker.child import CancelledError, Link
from flashscope.profiles.worker.instruments.bench import CeilingLoad, Run
from flashscope.profiles.worker.instruments.bench_cpu import CpuBench

TIMES = (4.0, 2.0, 1.0, 8.0, 5.0, 2.5, 2.0, 1.6, 10.0)  # ms


class Scripted(CpuBench):
    """A bench whose runs take what was written down."""

    timer = "a script"

    def __init__(self, *samples: Sample) -> None:
        self.cache_bytes = 1 << 20
        self.core_cache_bytes = 1 << 18
        self.loads: dict[str, Callable[[], CeilingLoad]] = {}
        self._samples = list(samples)

    def time_ms(self, run: Run) -> float:
        run()
        return 1.0

    def sample(self, run: Run, *, cold: bool, after: Run | None = None) -> Sample:
        assert not cold
        assert after is None
        run()
        return self._samples.pop(0)


class Told(Link):
    """What a worker says, kept; a sweep that is cancelled at its check of that number."""

    def __init__(self, cancelled_at: int = 99) -> None:
        self.said: list[Message] = []
        self._left = cancelled_at

    def send(self, message: Message) -> None:
        self.said.append(message)

    def check(self, timeout_s: float = 0) -> None:  # noqa: ARG002 - as every link's
        self._left -= 1
        if self._left < 0:
            raise CancelledError


def load(runs: list[int] | None = None) -> CeilingLoad:
    return CeilingLoad(lambda: None if runs is None else runs.append(1), 20.0, "a load")


def test_a_ceiling_is_the_median_rate_with_its_quartiles_and_the_clock() -> None:
    runs: list[int] = []
    bench = Scripted(*(Sample(ms, sm_clock_mhz=1000 + ms) for ms in TIMES))
    found = reach(bench, load(runs))
    assert (found.figure.low, found.figure.value, found.figure.high) == (4.0, 8.0, 10.0)
    assert found.figure.source == "a script around a load"
    assert found.sm_clock_mhz == 1002.5
    assert len(runs) == 1 + RUNS


def test_a_rejected_run_does_not_count_and_nothing_but_rejected_ones_is_a_reason() -> None:
    samples = [Sample(ms, "throttled" if ms > 8 else None) for ms in TIMES]
    assert reach(Scripted(*samples), load()).figure.value == 9.0
    with pytest.raises(RuntimeError, match="throttled: power"):
        reach(Scripted(*(Sample(1.0, "throttled: power") for _ in TIMES)), load())


def test_a_load_that_fails_says_why_and_the_others_are_measured() -> None:
    def broken() -> CeilingLoad:
        raise OSError("no such library")

    bench, link = Scripted(*map(Sample, TIMES)), Told()
    bench.loads = {"matmul_float16_tflops": broken, "copy_gbs": load}
    found = measure_ceilings(bench, link)
    assert found.rates["matmul_float16_tflops"].figure.missing == "OSError: no such library"
    assert found.rates["copy_gbs"].figure.value == 8.0
    assert (found.cache_bytes, found.core_cache_bytes) == (1 << 20, 1 << 18)
    (line,) = link.said
    assert isinstance(line, LogLine)
    assert "matmul_float16_tflops" in line.text


@pytest.mark.parametrize(
    ("large_ms", "size"), [((2.4, 2.4, 9.0, 2.4, 2.4), 512), ((9.0, 2.4, 9.0, 9.0, 2.4), 128)]
)
def test_the_rate_of_products_is_of_those_that_are_over_before_others_take_the_core(
    monkeypatch: pytest.MonkeyPatch, large_ms: tuple[float, ...], size: int
) -> None:
    times = iter([*[0.04] * len(large_ms), *large_ms])
    monkeypatch.setattr(CpuBench, "time_ms", lambda *_: next(times))
    chosen = CpuBench().loads[matmul_key("float32")]()
    assert chosen.what == f"NumPy's product of {size} × {size} matrices in float32"
    assert chosen.amount == pytest.approx(2 * size**3 / 1e9)


def test_a_cancelled_sweep_measures_no_further_ceiling() -> None:
    bench = Scripted(*map(Sample, TIMES))
    bench.loads = {"copy_gbs": load, "exp_gexps": load}
    with pytest.raises(CancelledError):
        measure_ceilings(bench, Told(cancelled_at=1))
