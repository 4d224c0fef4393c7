"""The engine that a host holds for a client, with a fake in the engine's place."""

import hashlib
import time
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.own.consent import obstacle_to_run
from flashscope.profiles.cluster.calls import (
    Ask,
    Attach,
    EndLines,
    EngineRequest,
    GiveUp,
    LineSaid,
    PassedOn,
    Refused,
    RunPlan,
    StartLines,
)
from flashscope.profiles.cluster.host.held import MOST_EVENTS, HeldEngine
from flashscope.profiles.cluster.settings import CPU
from flashscope.profiles.cluster.versions import versions_here
from flashscope.profiles.engine.contract import EngineBusyError, Sink
from flashscope.profiles.plan.request import Request
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.cuts import CutsEnded
from flashscope.profiles.wire.events import LogLine
from flashscope.profiles.wire.messages import Cancel, ProbeMachine

PLAN = Request.of("cpu").plan()
REMAINING = Remaining(
    session_id="s",
    part=2,
    left=frozenset({0}),
    again=(),
    repeats=(),
    first=0,
    t_ns=5_000,
    outcome=None,
    ceilings=False,
)
ATTACH = Attach(holder="somebody@here", versions=versions_here())


class Fake:
    """What stands for an engine, and what it says to."""

    def __init__(self, *, trusts_code: bool = False) -> None:
        self.engine = Mock()
        self.woken = Mock()
        self.sink: Sink = Mock()
        self.held = HeldEngine(ATTACH, self._make, self.woken, CPU, trusts_code=trusts_code)

    def _make(self, sink: Sink) -> Mock:
        self.sink = sink
        return self.engine

    def ask(self, number: int, asked: EngineRequest) -> PassedOn | Refused:
        return self.held.ask(Ask(token=self.held.token, number=number, asked=asked))


@pytest.fixture
def fake() -> Fake:
    return Fake()


def line(text: int) -> LogLine:
    return LogLine(source="test", text=str(text))


def test_a_request_that_comes_twice_is_passed_on_once(fake: Fake) -> None:
    for number in (0, 0, 1, 0):
        assert fake.ask(number, ProbeMachine()) == PassedOn()
    assert fake.engine.probe.call_count == 2


def test_what_is_refused_is_refused_again_where_it_comes_twice(fake: Fake) -> None:
    fake.engine.probe.side_effect = EngineBusyError("busy")
    assert fake.ask(0, ProbeMachine()) == fake.ask(0, ProbeMachine()) == Refused(reason="busy")
    assert fake.engine.probe.call_count == 1


def test_requests_reach_the_engine_under_its_own_names(fake: Fake) -> None:
    fake.ask(0, Cancel())
    fake.ask(1, GiveUp(what="stalls"))
    fake.engine.cancel.assert_called_once_with()
    fake.engine.give_up_stalls.assert_called_once_with()


TEXT = "def run(q, k, v): ..."
MINE = OwnKernel(
    name="mine",
    path="/mine.py",
    function="run",
    sha256=hashlib.sha256(TEXT.encode()).hexdigest(),
    backends=("cpu",),
    dtypes=("float32",),
    source=TEXT,
)


def with_own(own: OwnKernel) -> RunPlan:
    return RunPlan(plan=replace(PLAN, own=(own,)))


def test_kernels_that_a_client_sends_are_refused_where_they_are_not_trusted(fake: Fake) -> None:
    answer = fake.ask(0, with_own(MINE))
    assert isinstance(answer, Refused)
    assert answer.reason.startswith("the CPU runs no code that clients send, and mine would be")
    assert "--trust-code" in answer.reason
    fake.engine.run.assert_not_called()
    assert obstacle_to_run(MINE)


@pytest.mark.parametrize("source", [None, f"{TEXT} "])
def test_a_trusted_kernel_whose_text_has_not_its_hash_is_refused(source: str | None) -> None:
    fake = Fake(trusts_code=True)
    answer = fake.ask(0, with_own(replace(MINE, source=source)))
    assert isinstance(answer, Refused)
    assert "does not have its sha256" in answer.reason
    fake.engine.run.assert_not_called()


def test_a_trusted_kernel_runs_as_it_was_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flashscope.kernels.own.consent._named", set())
    fake = Fake(trusts_code=True)
    assert fake.ask(0, with_own(MINE)) == PassedOn()
    assert fake.engine.run.call_args.args[0].own == (MINE,)
    assert obstacle_to_run(MINE) == ""


def test_what_remains_begins_later_by_the_time_that_the_way_took(fake: Fake) -> None:
    way_ns = 3_600 * 10**9  # an hour, beside which the test's own time is nothing
    fake.ask(0, RunPlan(plan=PLAN, remaining=REMAINING, at_ns=time.monotonic_ns() - way_ns))
    fake.ask(1, RunPlan(plan=PLAN, remaining=REMAINING))
    fake.ask(2, RunPlan(plan=PLAN, remaining=REMAINING, at_ns=time.monotonic_ns() + way_ns))
    late, *as_asked = (call.args[1].t_ns for call in fake.engine.run.call_args_list)
    assert way_ns <= late - REMAINING.t_ns < 2 * way_ns
    assert as_asked == [REMAINING.t_ns] * 2


def test_what_the_engine_refuses_is_told(fake: Fake) -> None:
    fake.engine.run.side_effect = EngineBusyError("A sweep is already running.")
    answer = fake.ask(0, RunPlan(plan=Request.of("cpu").plan()))
    assert answer == Refused(reason="A sweep is already running.")


def test_events_are_given_again_until_the_client_asks_for_later_ones(fake: Fake) -> None:
    for number in range(3):
        fake.sink(line(number))
    assert fake.woken.call_count == 3
    assert fake.held.waiting(0).events == fake.held.waiting(0).events == (line(0), line(1), line(2))
    assert fake.held.waiting(2).events == (line(2),)
    assert fake.held.waiting(3).events == ()
    fake.sink(line(3))
    assert fake.held.waiting(3).events == (line(3),)


def test_what_waits_for_long_is_given_in_batches(fake: Fake) -> None:
    for number in range(MOST_EVENTS + 1):
        fake.sink(line(number))
    assert len(fake.held.waiting(0).events) == MOST_EVENTS
    assert fake.held.waiting(MOST_EVENTS).events == (line(MOST_EVENTS),)


def start(number: int) -> StartLines:
    return StartLines(number=number, kind="cuts", asked=(b"{}",), gpus=("GPU-1",))


def test_a_process_that_answers_in_lines_is_started_in_place_of_the_one_before(fake: Fake) -> None:
    first, second = fake.engine.lines.side_effect = [Mock(), Mock()]
    fake.ask(0, start(0))
    kind, asked, told, gpus = fake.engine.lines.call_args.args
    assert (kind, list(map(bytes, asked)), gpus) == ("cuts", [b"{}"], ("GPU-1",))
    told(CutsEnded(reason="it is done"))
    (said,) = fake.held.waiting(0).events
    assert isinstance(said, LineSaid)
    assert said.number == 0
    assert b"it is done" in said.line
    fake.ask(1, start(1))
    first.end.assert_called_once_with()
    fake.ask(2, EndLines(number=0))
    second.end.assert_not_called()
    fake.ask(3, EndLines(number=1))
    second.end.assert_called_once_with()


def test_a_client_that_leaves_has_its_process_ended_and_starts_no_other(fake: Fake) -> None:
    fake.ask(0, start(0))
    fake.held.close()
    fake.engine.lines.return_value.end.assert_called_once_with()
    fake.ask(1, start(1))
    assert fake.engine.lines.call_count == 1


def test_a_process_that_cannot_be_started_is_refused_with_why(fake: Fake) -> None:
    fake.engine.lines.side_effect = OSError("no room")
    answer = fake.ask(0, start(0))
    assert isinstance(answer, Refused)
    assert "no room" in answer.reason
