"""Runs back to back: long enough, read once they have settled, and stopped when asked to."""

from collections.abc import Callable

import pytest

from flashscope.profiles.wire.measurement import Figure, Sample
from flashscope.profiles.worker import sustain as module
from flashscope.profiles.worker.instruments.bench import Run
from flashscope.profiles.worker.instruments.bench_cpu import CpuBench
from flashscope.profiles.worker.sustain import LEAST, STRETCH_S, sustain


class Clockwork(CpuBench):
    """A bench whose time passes by runs alone: each takes longer until it has settled."""

    timer = "clockwork"

    def __init__(self, mhz: float | None) -> None:
        self.runs, self.now_s, self.stretches = 0, 0.0, list[int]()
        self._mhz = mhz

    def run(self) -> None:
        self.runs += 1
        self.now_s += 0.002 if self.now_s < 0.4 else 0.004

    def stretch(self, run: Run, runs: int) -> Sample:
        begun = self.now_s
        for _ in range(runs):
            run()
        self.stretches.append(runs)
        return Sample((self.now_s - begun) * 1e3 / runs, sm_clock_mhz=self._mhz)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Clockwork:
    made = Clockwork(1500.0)
    monkeypatch.setattr(module, "monotonic", lambda: made.now_s)
    return made


def test_the_second_half_is_read_when_the_clock_has_settled(bench: Clockwork) -> None:
    figures = sustain(bench, bench.run, 2.0, lambda: None)
    runtime, clock = figures["sustained_ms"], figures["sustained_mhz"]
    assert runtime.value == pytest.approx(4.0)
    assert runtime.low == pytest.approx(4.0)
    assert (clock.value, clock.low, clock.high) == (1500.0, 1500.0, 1500.0)
    assert runtime.source == "clockwork over runs back to back, the second half of 2 s"
    assert 2.0 <= bench.now_s < 2.0 + 2 * STRETCH_S


def test_runs_come_in_stretches_of_a_twentieth_of_a_second(bench: Clockwork) -> None:
    sustain(bench, bench.run, 2.0, lambda: None)
    assert bench.stretches[0] == 1
    assert set(bench.stretches[1:]) <= {24, 25, 12, 13}


def test_a_run_that_takes_longer_than_all_the_time_is_made_four_times(bench: Clockwork) -> None:
    figures = sustain(bench, lambda: setattr(bench, "now_s", bench.now_s + 9.0), 2.0, lambda: None)
    assert len(bench.stretches) == LEAST
    assert figures["sustained_ms"].value == pytest.approx(9000.0)


def test_without_a_clock_there_is_no_figure_of_it(bench: Clockwork) -> None:
    bench._mhz = None
    assert "sustained_mhz" not in sustain(bench, bench.run, 0.1, lambda: None)


def test_energy_is_of_every_run_of_the_loop(bench: Clockwork, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, float]] = []

    def spend(_: object, loop: Callable[[], int], seconds: float) -> dict[str, Figure]:
        told.append((loop(), seconds))
        return {"energy_mj": Figure(value=3.0)}

    monkeypatch.setattr(module, "spend", spend)
    assert sustain(bench, bench.run, 2.0, lambda: None)["energy_mj"].value == 3.0
    assert told == [(bench.runs, 2.0)]


def test_it_stops_between_two_stretches(bench: Clockwork) -> None:
    def stop() -> None:
        if len(bench.stretches) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sustain(bench, bench.run, 1e9, stop)
    assert len(bench.stretches) == 3
