from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

import pytest

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.events import Event, LogLine, PlanFinished, PlanResumed
from tests.end_to_end.hosts import running_host
from tests.profiles.heard import QUICK

pytestmark = [pytest.mark.cluster, pytest.mark.matrix]
SECOND_NS = 10**9


def test_the_clock_of_a_host_is_measured_once_for_the_shares_of_a_sweep_and_told(tmp_path: Path) -> None:
    from flashscope.profiles.cluster.client.remote import RemoteEngine  # noqa: PLC0415 - imports Dask

    problem = Problem(seqlen_q=64, seqlen_k=64, head_dim=16)
    plan = Plan(backend="cpu", kernels=("flash2",), problems=(problem,), protocol=QUICK)
    left = Remaining(
        session_id="s",
        part=2,
        left=frozenset({0}),
        again=(),
        repeats=(),
        first=0,
        t_ns=5 * SECOND_NS,
        outcome=None,
        ceilings=False,
    )
    events: SimpleQueue[Event] = SimpleQueue()
    heard: list[Event] = []
    with running_host(tmp_path) as host:
        engine = RemoteEngine(events.put, host.connection)
        for _ in range(2):
            engine.run(plan, left)
            heard += until(events, lambda event: isinstance(event, PlanFinished))
        engine.close()
    told = [one.text for one in heard if isinstance(one, LogLine) and "clock" in one.text]
    assert len(told) == 1
    assert "is known within ±" in told[0]
    begun = [one.t_ns for one in heard if isinstance(one, PlanResumed)]
    assert len(begun) == 2
    assert all(left.t_ns < t_ns < left.t_ns + 60 * SECOND_NS for t_ns in begun)


def until(events: SimpleQueue[Event], ended: Callable[[Event], bool]) -> list[Event]:
    heard = [events.get(timeout=60)]
    while not ended(heard[-1]):
        heard.append(events.get(timeout=60))
    return heard
