"""Sweeps wait for their turn: what waits, in which order, and when the next begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.queue import Queue, QueuedSweep
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.words.results.progress import elapsed_text
from flashscope.app.words.results.queueing import estimate_words, in_all, run_words, total_words
from flashscope.profiles.store import load
from flashscope.profiles.wire.events import PlanFinished
from tests.app.fakes import PLAN, SECOND, sweep
from tests.app.rig import Rig, Save
from tests.profiles.results.model.timed import REST_S, RUNS, at, run_s

SHORT = replace(PLAN, problems=PLAN.problems[:1])
OTHER = replace(PLAN, seed=7)


class Machine:
    """Measures one sweep at a time, for as long as a test wants; `refusal` is why none can start."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, int]] = []  # number and run
        self.busy = False
        self.refusal = self.hindrance = ""

    def begin(self, entry: QueuedSweep, _unasked: bool) -> str:
        if not self.refusal:
            self.begun.append((entry.number, entry.run))
            self.busy = True
        return self.refusal


class AnyOrder(RuleBasedStateMachine):
    """Whatever is done with a queue, each run that was not taken out begins once, in the order on show."""

    def __init__(self) -> None:
        super().__init__()
        self.machine = Machine()
        self.queue = Queue(self.machine.begin, lambda: self.machine.busy, lambda: self.machine.hindrance)
        self.expected: list[tuple[int, int]] = []  # that wait
        self.begun: list[tuple[int, int]] = []
        self.numbers = 0
        self.out: list[tuple[QueuedSweep, int]] = []

    def _begin_due(self) -> None:
        """What the queue's timer does once all have heard."""
        if self.queue._next.isActive():
            self.queue._next.stop()
            self.queue._begin_next()
        if not self.machine.busy and self.expected and not self.queue.stopped:
            self.begun.append(self.expected.pop(0))

    @rule(runs=st.integers(1, 4))
    def add(self, runs: int) -> None:
        self.numbers += 1
        self.expected += [(self.numbers, run) for run in range(1, runs + 1)]
        idle = not self.machine.busy and not self.queue.entries
        assert self.queue.add(PLAN, runs) is not idle
        if idle:
            self.begun.append(self.expected.pop(0))

    @rule(failed=st.booleans())
    def end(self, failed: bool) -> None:
        if self.machine.busy:
            self.machine.busy = False
            self.queue.ended("No GPU." if failed else "")
            assert self.queue.stopped == ("No GPU." if failed and self.expected else "")
            if not self.queue.stopped:
                self._advance()

    @rule()
    def go_on(self) -> None:
        if self.queue.stopped:
            self.queue.go_on()
            self._advance()

    @rule(hindrance=st.sampled_from(["", "Claims are being tested."]))
    def hinder(self, hindrance: str) -> None:
        self.machine.hindrance = hindrance
        self.queue.follow_hindrance()
        if not self.machine.busy and not self.queue.stopped:
            self._advance()

    def _advance(self) -> None:
        if self.expected and not self.machine.hindrance:
            self.begun.append(self.expected.pop(0))
        self.queue._next.stop()
        self.queue._begin_next()

    @rule(place=st.integers(0, 5), by=st.integers(-3, 3))
    def move(self, place: int, by: int) -> None:
        if place < len(self.queue.entries):
            numbers = [entry.number for entry in self.queue.entries]
            number = numbers.pop(place)
            numbers.insert(min(max(place + by, 0), len(numbers)), number)
            self.queue.move(number, by)
            self.expected.sort(key=lambda one: numbers.index(one[0]))

    @rule(place=st.integers(0, 5))
    def take_out(self, place: int) -> None:
        if place < len(self.queue.entries):
            number = self.queue.entries[place].number
            taken = self.queue.take_out(number)
            assert taken is not None
            self.out.append(taken)
            self.expected = [one for one in self.expected if one[0] != number]

    @rule()
    def put_back(self) -> None:
        if self.out:
            entry, place = self.out.pop()
            runs = [(entry.number, run) for run in range(entry.run, entry.runs + 1)]
            before = [one.number for one in self.queue.entries[:place]]
            at = sum(one[0] in before for one in self.expected)
            self.expected[at:at] = runs
            self.queue.put_back(entry, place)
            if not self.machine.busy and not self.queue.stopped:
                self._advance()

    @invariant()
    def what_waits_is_what_was_asked_for(self) -> None:
        waiting = [(e.number, run) for e in self.queue.entries for run in range(e.run, e.runs + 1)]
        assert waiting == self.expected
        assert self.queue.waiting == len(self.expected)
        assert self.machine.begun == self.begun
        assert len(set(self.begun)) == len(self.begun)


def test_each_run_begins_once_and_in_the_order_on_show_whatever_is_done(qapp: QApplication) -> None:
    AnyOrder.TestCase().runTest()


def test_the_first_sweep_begins_at_once_and_the_second_alone_when_it_has_ended(
    rig: Rig, qtbot: QtBot
) -> None:
    assert not rig.controller.run(PLAN)
    assert rig.controller.run(SHORT)
    assert rig.engine.plans == [PLAN]
    with qtbot.waitSignal(rig.controller.queue.begun):
        rig.say(sweep())
    assert rig.engine.plans == [PLAN, SHORT]
    assert rig.controller.queue.entries == ()
    assert rig.controller.measuring


def test_a_cancelled_sweep_is_followed_by_the_next_and_keeps_its_points(rig: Rig, qtbot: QtBot) -> None:
    rig.controller.run(PLAN)
    rig.controller.run(SHORT)
    rig.say(sweep(points=2))
    qtbot.waitUntil(lambda: rig.controller.sweep_path is not None)
    first = rig.controller.sweep_path
    rig.controller.cancel()
    with qtbot.waitSignal(rig.controller.queue.begun):
        rig.say([PlanFinished(t_ns=9 * SECOND, outcome="cancelled")])
    assert rig.engine.plans == [PLAN, SHORT]
    assert first is not None
    assert first.exists()


def test_a_sweep_that_failed_after_some_points_is_followed_by_the_next(rig: Rig, qtbot: QtBot) -> None:
    rig.controller.run(PLAN)
    rig.controller.run(SHORT)
    rig.say(sweep(points=2))
    with qtbot.waitSignal(rig.controller.queue.begun):
        rig.say([PlanFinished(t_ns=9 * SECOND, outcome="failed", reason="The worker died.")])
    assert rig.engine.plans == [PLAN, SHORT]


def test_a_sweep_that_measured_nothing_stops_the_queue_with_its_reason_until_one_goes_on(
    rig: Rig, qtbot: QtBot
) -> None:
    rig.controller.run(PLAN)
    rig.controller.run(SHORT)
    with qtbot.waitSignal(rig.controller.queue.halted) as halted:
        rig.say([*sweep(points=0), PlanFinished(t_ns=9, outcome="failed", reason="No usable GPU here.")])
    assert halted.args == ["No usable GPU here."]
    assert rig.controller.queue.stopped == "No usable GPU here."
    assert rig.engine.plans == [PLAN]
    with qtbot.waitSignal(rig.controller.queue.begun):
        rig.controller.queue.go_on()
    assert rig.engine.plans == [PLAN, SHORT]


def test_a_sweep_whose_turn_comes_while_something_else_measures_begins_when_that_has_ended(
    rig: Rig, qtbot: QtBot
) -> None:
    rig.controller.run(PLAN)
    rig.controller.run(SHORT)
    queue, told = rig.controller.queue, list[str]()
    queue.changed.connect(lambda: told.append(queue.stopped or queue.waits_for))
    rig.controller.occupy("claims", "Claims are being tested.")
    rig.say(sweep())
    QApplication.processEvents()
    assert [entry.plan for entry in queue.entries] == [SHORT]
    with qtbot.waitSignal(queue.begun):
        rig.controller.occupy("claims", "")
    assert rig.engine.plans == [PLAN, SHORT]
    assert list(dict.fromkeys(told)) == ["", "Claims are being tested."]


def test_a_sweep_that_may_not_begin_stays_first_in_the_queue_until_it_may(
    rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.controller.run(PLAN)
    rig.controller.run(SHORT)
    with monkeypatch.context() as patch:
        patch.setattr(rig.controller.devices, "why_not_on", lambda *_: "The GPU is gone.")
        with qtbot.waitSignal(rig.controller.queue.halted):
            rig.say(sweep())
    assert [entry.plan for entry in rig.controller.queue.entries] == [SHORT]
    with qtbot.waitSignal(rig.controller.queue.begun):
        rig.controller.queue.go_on()


def test_no_sweep_waits_while_claims_are_tested(rig: Rig, qtbot: QtBot) -> None:
    rig.controller.occupy("claims", "Claims are being tested.")
    with qtbot.waitSignal(rig.controller.error_raised) as refused:
        rig.controller.run(PLAN)
    assert refused.args[0] == "Claims are being tested."
    assert rig.controller.queue.entries == ()


def test_the_next_sweep_begins_behind_a_recording_that_was_opened_meanwhile(
    rig: Rig, save: Save, qtbot: QtBot
) -> None:
    rig.controller.run(PLAN)
    rig.controller.run(OTHER)
    rig.say(sweep(points=1))
    rig.open(save(sweep(), "recording"))
    shown = rig.controller.session
    with qtbot.waitSignal(rig.controller.queue.begun):
        rig.say([PlanFinished(t_ns=9 * SECOND, outcome="finished")])
    rig.say(sweep(OTHER, points=1))
    assert rig.controller.session is shown
    assert rig.controller.sweep_behind
    assert rig.controller.sweep is not None
    assert rig.controller.sweep.plan == OTHER
    rig.controller.show_sweep()
    assert rig.controller.sweep_on_show


def test_the_next_sweep_is_shown_where_the_one_before_was(rig: Rig, qtbot: QtBot) -> None:
    rig.controller.run(PLAN)
    rig.controller.run(OTHER)
    with qtbot.waitSignal(rig.controller.queue.begun):
        rig.say(sweep())
    rig.say(sweep(OTHER, points=1))
    assert rig.controller.sweep_on_show
    assert rig.controller.session is not None
    assert rig.controller.session.plan == OTHER


def test_several_runs_have_processes_and_files_of_their_own_and_one_plan(rig: Rig, qtbot: QtBot) -> None:
    rig.controller.run(SHORT, runs=3)
    for _ in range(3):
        qtbot.waitUntil(lambda: rig.controller.measuring)
        rig.say(sweep(SHORT))
    rig.controller.close()
    assert rig.engine.plans == [SHORT] * 3
    assert rig.engine.renewed == 3  # the first, too: what measured before is no part of the family
    paths = sorted(rig.controller.sessions_dir.iterdir())
    stems = [path.stem for path in paths]
    family = stems[0].removesuffix("-1")
    assert stems == [f"{family}-{run}" for run in (1, 2, 3)]
    runs = [load(path) for path in paths]
    assert {run.outcome for run in runs} == {"finished"}


def test_choosing_a_device_while_a_sweep_runs_leaves_its_telemetry_until_it_has_ended(rig: Rig) -> None:
    rig.controller.choose_backend("cpu")
    rig.controller.run(PLAN)
    rig.controller.choose_backend("cuda")
    assert rig.engine.watched == ["cpu"]
    rig.say(sweep())
    assert rig.engine.watched == ["cpu", "cuda"]


def test_a_sweep_that_begins_by_itself_leaves_the_chosen_device_alone(rig: Rig, qtbot: QtBot) -> None:
    rig.controller.choose_backend("cpu")
    rig.controller.run(PLAN)
    rig.controller.run(SHORT)
    rig.controller.choose_backend("cuda")
    with qtbot.waitSignal(rig.controller.queue.begun):
        rig.say(sweep())
    assert rig.controller.backend == "cuda"
    assert rig.engine.watched == ["cpu"]


def test_the_time_of_what_runs_and_waits_goes_by_work_not_by_the_number_of_points(
    qapp: QApplication,
) -> None:
    machine = Machine()
    queue = Queue(machine.begin, lambda: machine.busy, lambda: machine.hindrance)
    session, left = at(15)  # of 18 points, the longest to come
    plan = session.plan
    queue.add(plan)
    assert queue.estimates(None) == [None]
    queue.add(replace(plan, problems=plan.problems[-1:]), runs=2)
    queue.add(replace(plan, problems=plan.problems[:1]))
    expected = left, 2 * left, sum(REST_S + RUNS * run_s(kernel, 256) for kernel in plan.kernels)
    assert queue.estimates(session) == pytest.approx(list(expected), rel=0.02)
    assert total_words(queue.estimates(session)) == f"about {elapsed_text(sum(expected))}"
    assert left > 10 * expected[2]


@given(st.lists(st.none() | st.floats(0, 1e5), max_size=5))
def test_a_total_of_which_a_part_is_not_known_is_a_least(estimates: list[float | None]) -> None:
    said = total_words(estimates)
    if None in estimates and any(one is not None for one in estimates):
        assert said.startswith("at least ")
    elif estimates and None not in estimates:
        assert said.startswith("about ") or said == "a few seconds"
    else:
        assert "about" not in said


@given(st.floats(0, 1e5), st.booleans())
def test_what_waits_never_takes_no_time(seconds: float, known: bool) -> None:
    said = [estimate_words(seconds), total_words([seconds] if known else [seconds, None])]
    assert not any(text.endswith((" 0:00", " 0:01")) for text in said)


def test_of_a_time_that_is_not_known_nothing_is_said_in_all() -> None:
    assert in_all(total_words([None])) == "time not known yet"
    assert in_all(total_words([60.0, None])) == "at least 1:00 in all"
    assert in_all(total_words([])) == ""


def test_runs_are_told_as_one_row() -> None:
    assert run_words(1, 1, 1) == ""
    assert run_words(2, 2, 5) == "run 2 of 5"
    assert run_words(3, 5, 5) == "runs 3 to 5 of 5"


@pytest.mark.matrix
def test_no_button_beside_one_that_goes_when_it_is_pressed_takes_the_focus(
    rig: Rig, window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    bar = window.top_bar
    rig.controller.run(PLAN)
    rig.say(sweep(points=1))
    rig.open(save(sweep(), "recording"))
    bar.sweep.setFocus()
    qtbot.waitUntil(bar.sweep.hasFocus)
    QTest.keyClick(bar.sweep, Qt.Key.Key_Space)
    assert rig.controller.sweep_on_show
    assert not bar.sweep.isVisible()
    assert window.focusWidget() is window.page
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Space)
    assert rig.controller.measuring
