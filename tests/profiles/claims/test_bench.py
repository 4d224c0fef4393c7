"""What experiments measure on a GPU: the plans, the engine that runs them, and the GPU itself."""

from typing import get_args

import pytest
from msgspec.structs import replace

from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.claims import CLAIMS, Lab
from flashscope.profiles.claims.assess import assess
from flashscope.profiles.claims.bench import PLANS, QUICK, ClaimBench
from flashscope.profiles.claims.lab import Topic
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.events import PlanFinished
from tests.app.fakes import FakeEngine, sweep
from tests.profiles.claims.test_claims import NOWHERE

H200 = Device(backend="cuda", name="H200", memory_bytes=140 << 30, compute_capability=(9, 0))
SMALL = Plan(
    backend="cpu",
    kernels=("standard", "flash2"),
    problems=(Problem(seqlen_q=64, seqlen_k=64),),
    protocol=replace(QUICK, repeats=3),
)


def test_there_is_a_plan_for_every_topic() -> None:
    assert set(PLANS) == set(get_args(Topic))
    for make in PLANS.values():
        assert make(H200).points()


def test_it_measures_a_plan_in_an_engine_of_its_own() -> None:
    session = ClaimBench(H200).measured(SMALL)
    assert session is not None
    assert [state.status for state in session.cells] == ["done", "done"]


def test_one_that_is_stopped_asks_its_engine_to_end_and_has_what_came_until_then() -> None:
    class Cancelled(FakeEngine):
        """Says something until it is asked to end, and then its end."""

        def run(self, plan: Plan, remaining: Remaining | None = None) -> None:
            super().run(plan, remaining)
            self.say(sweep(plan, points=1))

        def cancel(self) -> None:
            super().cancel()
            self.say([PlanFinished(t_ns=9, outcome="cancelled")])

    made: list[Cancelled] = []

    def make(sink: Sink) -> Cancelled:
        made.append(Cancelled(sink))
        return made[0]

    looks = iter([False, False, True])
    session = ClaimBench(H200, lambda: next(looks, True), make).measured(SMALL)
    assert session is not None
    assert (session.outcome, session.points[1].status) == ("cancelled", "pending")
    assert made[0].cancelled > 0
    assert (made[0].watched, made[0].closed) == ([], 1)


@pytest.mark.matrix
def test_one_that_was_stopped_ends_without_measuring_the_rest() -> None:
    session = ClaimBench(H200, lambda: True).measured(SMALL)
    assert session is None or session.outcome != "finished" or len(session.cells) == 2


@pytest.mark.gpu
@pytest.mark.timeout(600)
def test_every_claim_comes_to_a_verdict_on_the_gpu_here() -> None:
    from flashscope.kernels.cuda.device import describe  # noqa: PLC0415 - it needs the GPU

    lab = Lab(NOWHERE.recordings, ClaimBench(describe()))
    broken = [claim.key for claim in CLAIMS if "broke" in assess(claim, lab).measured]
    assert broken == []
    assert {row.kernel for row in lab.rows("h200-peers")} >= {"standard", "flash2"}
    assert assess(next(one for one in CLAIMS if one.key == "000-9"), lab).source.startswith("measured on ")


def test_what_breaks_off_settles_no_claim_and_is_tried_once() -> None:
    class Lost(FakeEngine):
        """Is lost after some points."""

        def run(self, plan: Plan, remaining: Remaining | None = None) -> None:
            super().run(plan, remaining)
            opening, *events = sweep(plan, points=3)
            self.say([opening, *(one for one in events if not isinstance(one, PlanFinished))])
            self.say([PlanFinished(t_ns=9, outcome="failed", reason="GPU 0 at lab is lost.")])

    made: list[Lost] = []

    def make(sink: Sink) -> Lost:
        made.append(Lost(sink))
        return made[-1]

    lab = Lab(NOWHERE.recordings, ClaimBench(H200, make_engine=make))
    of_lengths = [one for one in CLAIMS if one.key in {"000-9", "000-111"}]
    findings = [assess(one, lab) for one in of_lengths]
    assert {one.verdict for one in findings} == {"cannot be tested"}
    assert {one.measured for one in findings} == {"The measurement broke off: GPU 0 at lab is lost."}
    assert len(made) == 1
