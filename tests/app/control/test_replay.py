"""A replay in the window: played, paused, and at any of its moments. The time is the test's."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from flashscope.app.control.playback import SPEEDS, Playback
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.main_window import MainWindow
from flashscope.profiles.wire.events import Event
from tests.app.fakes import PLAN, sweep
from tests.app.rig import Rig, Save

POINTS = len(PLAN.points())
WHOLE_S = POINTS + 2  # see tests.app.fakes.sweep
FIRST_END_S = 1.9


class Stage:
    """A window whose Profile page shows a replay, paused at its start."""

    def __init__(self, rig: Rig, save: Save, qtbot: QtBot, events: list[Event] | None = None) -> None:
        self.rig, self.qtbot = rig, qtbot
        self.window: MainWindow = rig.window()
        self.window.resize(1280, 720)
        self.window.activateWindow()
        self.path = save(events or sweep(), "recorded")
        rig.open(self.path)
        page = self.window.pages["profile"]
        assert isinstance(page, ProfilePage)
        self.page, self.bar = page, page.replay
        self.begin()

    def begin(self) -> None:
        self.rig.controller.replay(1.0)
        self.playback.set_playing(False)
        self.qtbot.waitUntil(lambda: self.bar.isVisible() and self.bar.scrubber.hasFocus())

    @property
    def playback(self) -> Playback:
        assert self.rig.controller.playback is not None
        return self.rig.controller.playback

    def is_playing(self) -> bool:
        return self.playback.playing

    def is_at_end(self) -> bool:
        return self.playback.at_end

    @property
    def at_s(self) -> float:
        return (self.playback.at_ns - self.playback.events.start_ns) / 1e9

    def press(self, key: Qt.Key) -> None:
        QTest.keyClick(self.window.focusWidget(), key)

    def seen(self) -> dict[str, Any]:
        """Everything that the page says of the moment."""
        self.page._turns.finish()
        model = self.page.bottom.table.proxy
        cells = [
            [model.index(r, c).data() for c in range(model.columnCount())] for r in range(model.rowCount())
        ]
        strip = self.page.bottom.strip
        curves = {
            (card.quantity.key, kernel): card.text_at(kernel, self.page.plots.seqlen)
            for card in self.page.plots.cells
            for kernel in PLAN.kernels
        }
        self.window.status.refresh()
        return {
            "session": self.playback.session,
            "cells": cells,
            "curves": curves,
            "curve": self.page.plots.curve,
            "crosshair": self.page.plots.seqlen,
            "readings": strip.ring.times().tolist(),
            "drawn": {field: repr(lane.curve.getData()) for field, lane in lanes(strip)},
            "status": [self.window.status.count.text(), self.window.status.elapsed.text()],
            "badge": self.window.top_bar.badge.text(),
            "where": self.bar.where.text(),
            "scrubber": self.bar.scrubber.value(),
        }


def lanes(strip: Any) -> list[tuple[str, Any]]:
    strip.draw()
    return list(strip.lanes.items())


@pytest.fixture
def stage(rig: Rig, save: Save, qtbot: QtBot) -> Stage:
    return Stage(rig, save, qtbot)


def test_the_keys_play_pause_step_and_change_the_speed(stage: Stage) -> None:
    assert stage.bar.isVisible()
    stage.press(Qt.Key.Key_Space)
    stage.rig.pass_time(2.5)
    assert stage.at_s == 2.5
    stage.press(Qt.Key.Key_Space)
    assert not stage.is_playing()
    for key, at_s in (
        (Qt.Key.Key_Left, FIRST_END_S),
        (Qt.Key.Key_Right, FIRST_END_S + 1),
        (Qt.Key.Key_End, WHOLE_S),
        (Qt.Key.Key_Home, 0.0),
    ):
        stage.press(key)
        assert stage.at_s == at_s
        assert stage.window.top_bar.badge.text().startswith("REPLAY · CPU")
    stage.press(Qt.Key.Key_Plus)
    assert (stage.playback.speed, stage.bar.speed.currentText()) == (2.0, "2×")
    stage.press(Qt.Key.Key_Minus)
    stage.press(Qt.Key.Key_Minus)
    assert (stage.playback.speed, stage.bar.speed.currentText()) == (0.5, "0.5×")
    stage.bar.speed.setCurrentIndex(SPEEDS.index(50.0))
    assert stage.playback.speed == 50.0


@pytest.mark.matrix
def test_played_to_the_end_the_whole_session_is_on_show_and_the_bar_gone(stage: Stage) -> None:
    whole = stage.playback.recorded
    stage.begin()  # of a session that is replayed already the whole is played anew
    assert stage.playback.recorded is whole
    stage.press(Qt.Key.Key_Space)
    stage.rig.pass_time(WHOLE_S)
    assert stage.rig.controller.session is whole
    assert not stage.rig.controller.replaying
    stage.qtbot.waitUntil(lambda: not stage.bar.isVisible())
    assert stage.window.top_bar.badge.text().startswith("SAVED · CPU")
    assert not isinstance(stage.window.focusWidget(), QAbstractButton)  # which Space would press


@pytest.mark.matrix
def test_a_row_of_the_table_is_the_moment_at_which_its_point_ended(stage: Stage) -> None:
    stage.page.show_view("results")
    stage.page._turns.finish()
    for index in (4, 1):
        click_row(stage, index)
        assert stage.playback.at_ns == stage.playback.events.end_of(index)
        done = [state.status == "done" for state in stage.playback.session.cells]
        assert done == [k <= index for k in range(POINTS)]
        assert stage.page.plots.seqlen == PLAN.points()[index].problem.seqlen_q
    table = stage.page.bottom.table
    table.setFocus()
    table.setCurrentIndex(table.proxy.index(2, 0))
    stage.press(Qt.Key.Key_Return)
    assert stage.playback.at_ns == stage.playback.events.end_of(2)
    stage.rig.controller.cancel()
    click_row(stage, 0)  # which moves the crosshair alone
    assert stage.page.plots.seqlen == PLAN.points()[0].problem.seqlen_q
    assert stage.rig.controller.session is not None
    assert stage.rig.controller.session.ended_points == POINTS


@pytest.mark.matrix
def test_the_scrubber_is_dragged_to_any_moment_and_playing_waits_until_it_is_let_go(stage: Stage) -> None:
    stage.press(Qt.Key.Key_Space)
    scrubber, left = stage.bar.scrubber, Qt.MouseButton.LeftButton
    half, right = QPoint(scrubber.width() // 2, 16), QPoint(scrubber.width(), 16)
    QTest.mousePress(scrubber, left, pos=half)
    assert stage.at_s == pytest.approx(WHOLE_S / 2, abs=0.1)
    assert not stage.is_playing()
    QTest.mouseMove(scrubber, right)
    assert stage.is_at_end()
    QTest.mouseMove(scrubber, half)
    QTest.mouseRelease(scrubber, left, pos=half)
    assert stage.is_playing()
    stage.rig.pass_time(1.0)
    assert stage.at_s == pytest.approx(WHOLE_S / 2 + 1, abs=0.1)
    QTest.mouseClick(scrubber, left, pos=right)  # there it stays
    assert stage.is_at_end()
    assert not stage.is_playing()
    QTest.mousePress(scrubber, left, pos=half)
    stage.rig.controller.cancel()
    QTest.mouseRelease(scrubber, left, pos=half)
    assert not stage.rig.controller.replaying


@pytest.mark.matrix
def test_ticks_stand_where_points_ended(stage: Stage) -> None:
    seconds = [tick.value / 1000 for tick in stage.bar.scrubber.ticks()]
    assert seconds == [k + FIRST_END_S for k in range(POINTS)]


@pytest.mark.matrix
def test_esc_twice_or_the_stop_button_leaves_a_paused_replay(stage: Stage) -> None:
    replaying = []
    for _ in range(2):
        stage.press(Qt.Key.Key_Escape)
        replaying.append(stage.rig.controller.replaying)
    stage.begin()
    stage.bar.leave.click()
    replaying.append(stage.rig.controller.replaying)
    assert replaying == [True, False, False]


@pytest.mark.matrix
@pytest.mark.parametrize("content", [None, b"something else"])
def test_a_file_that_goes_or_is_replaced_disturbs_no_replay_and_is_told_when_opened(
    stage: Stage, content: bytes | None
) -> None:
    stage.path.unlink()
    if content is not None:
        stage.path.write_bytes(content)
    stage.press(Qt.Key.Key_Right)
    assert stage.playback.session.ended_points == 1
    stage.press(Qt.Key.Key_End)
    assert stage.playback.session.ended_points == POINTS
    stage.rig.controller.cancel()
    stage.rig.open(stage.path)
    assert "recorded.flashscope" in stage.window.errors.text or content is not None
    assert stage.window.errors.isVisible()


@pytest.mark.matrix
def test_a_session_keeps_its_name_while_it_is_replayed(stage: Stage) -> None:
    stage.playback.recorded.name = "mine"
    stage.begin()
    assert stage.playback.session.name == "mine"


def click_row(stage: Stage, index: int) -> None:
    table = stage.page.bottom.table
    place = table.visualRect(table.proxy.mapFromSource(table.results.index(index, 0)))
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place.center())


@pytest.mark.matrix
def test_the_keys_of_a_replay_mean_nothing_without_one(stage: Stage) -> None:
    assert enabled(stage) == {True}
    stage.window.show_page("sessions")
    assert enabled(stage) == {False}
    stage.window.show_page("profile")
    stage.rig.controller.cancel()
    assert enabled(stage) == {False}


def enabled(stage: Stage) -> set[bool]:
    found = [stage.window.registry.find(key) for key in stage.bar.offered]
    return {action.isEnabled() for action in found if action is not None}


@pytest.mark.matrix
def test_tab_goes_through_the_bar_and_every_control_says_its_name_and_its_key(stage: Stage) -> None:
    reached = []
    for _ in range(9):
        reached.append(stage.window.focusWidget())
        QTest.keyClick(reached[-1], Qt.Key.Key_Tab)
    for control in (stage.bar.scrubber, stage.bar.speed, stage.bar.leave):
        assert control in reached
    assert reached.index(stage.bar.speed) < reached.index(stage.bar.leave)
    for button in stage.bar.findChildren(QAbstractButton):
        assert button.accessibleName()
        assert "(" in button.toolTip()


UNIT_NS = 15_625_000  # 1/64 s, which is exact in seconds
UNITS = st.integers(0, (WHOLE_S + 6) * 64)
JUMPS = st.lists(
    st.tuples(st.just("seek"), UNITS)
    | st.tuples(st.just("row"), st.integers(0, 11))
    | st.tuples(st.just("step"), st.sampled_from([1, -1]))
    | st.tuples(st.just("play"), st.integers(1, 200)),
    min_size=1,
    max_size=6,
)


@pytest.fixture
def two_curves(rig: Rig, save: Save, qtbot: QtBot) -> Stage:
    """A replay of two curves of three points and two kernels each."""
    causal = tuple(replace(problem, causal=True) for problem in PLAN.problems)
    return Stage(rig, save, qtbot, sweep(replace(PLAN, problems=(*PLAN.problems, *causal))))


@pytest.mark.matrix  # it takes seconds
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
@given(jumps=JUMPS)
def test_what_is_shown_after_any_jumps_is_what_a_straight_replay_shows_at_that_moment(
    two_curves: Stage, jumps: list[tuple[str, int]]
) -> None:
    stage = two_curves
    for kind, value in jumps:
        if not stage.rig.controller.replaying:
            stage.begin()
        jump(stage, kind, value)
    if not stage.rig.controller.replaying or stage.is_at_end():
        return  # the end of a straight replay is the whole session
    at_ns, jumped = stage.playback.at_ns, stage.seen()
    play_straight(stage, at_ns)
    assert stage.seen() == jumped


def jump(stage: Stage, kind: str, value: int) -> None:
    match kind:
        case "seek":
            stage.playback.seek(stage.playback.events.start_ns + value * UNIT_NS)
        case "row":
            stage.bar.go_to_point(value)
        case "step":
            stage.playback.step(value)
        case _:
            stage.playback.set_playing(True)
            stage.rig.pass_time(value / 64)
            if stage.rig.controller.replaying:
                stage.playback.set_playing(False)


def play_straight(stage: Stage, t_ns: int) -> None:
    """Play from the start until then, in steps."""
    stage.begin()
    stage.playback.set_playing(True)
    for left in (7, 6, 5, 4, 3, 2, 1):
        stage.rig.pass_time((t_ns - stage.playback.at_ns) / left / 1e9)
    stage.playback.set_playing(False)
    assert stage.playback.at_ns == t_ns
