"""A timeline on the CPU holds the bars of one round, however many there are."""

import weakref

import pytest

from flashscope.kernels.cpu.stages import Bars, ClockedLaunch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.profiles.worker.timelines import record_timeline

REQUEST = TimelineRequest(
    problem=Problem(seqlen_q=64, seqlen_k=64, head_dim=16), backend="cpu", kernel="flash2", rounds=8
)


def test_no_round_is_held_but_the_quickest(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[object]] = []
    spans: list[int] = []
    held: list[int] = []
    run = ClockedLaunch.run

    def noted(launch: ClockedLaunch) -> Bars:
        bars = run(launch)
        made.append(weakref.ref(bars.begin))
        spans.append(bars.span_ns)
        return bars

    monkeypatch.setattr(ClockedLaunch, "run", noted)
    timeline = record_timeline(
        REQUEST, lambda _done, _total: held.append(sum(one() is not None for one in made))
    )
    assert len(held) == REQUEST.rounds
    assert max(held) <= 1
    assert timeline.clocked_ns.numpy().tolist() == spans[1:]
    assert timeline.span_ns == min(spans[1:])
