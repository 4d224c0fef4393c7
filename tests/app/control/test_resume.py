"""Going on with a sweep that was broken off, from the window."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from flashscope.app.control import bundled
from flashscope.app.pages.sessions import page as sessions
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.words.results.progress import elapsed_text
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.results.model.remaining import PAUSE_NS
from flashscope.profiles.store import load
from flashscope.profiles.wire.events import Event, PlanFinished, PointFailed, PointStarted
from tests.app.fakes import CPU_MACHINE, MS, PLAN, SECOND, measurement, reading, sweep
from tests.app.rig import Rig, Save
from tests.profiles.sessions import ends_well

MEASURED = 3


@pytest.fixture
def broken_off(save: Save) -> Path:
    """Three of six points; the third took no turns with the fourth."""
    return save(sweep(points=MEASURED), "broken")


def resume(rig: Rig, window: MainWindow, qtbot: QtBot) -> None:
    window.top_bar.resume.click()
    qtbot.waitUntil(lambda: bool(rig.engine.plans), timeout=30_000)


def rest_of_the_sweep(rig: Rig, machine: Machine = CPU_MACHINE, slower: float = 1.0) -> list[Event]:
    """What an engine says that was asked for the rest: repeats, the points that are left, the end."""
    rest = rig.engine.rests[-1]
    assert rest is not None
    events: list[Event] = [rest.begin(machine, None)]
    for place, point in enumerate(point for stage in rest.groups(PLAN) for point in stage):
        t_ns = rest.t_ns + place * SECOND
        ms = point.problem.flops / 1e7 * (3 if point.kernel == "standard" else 1) * slower
        measured = measurement(ms, point.problem.input_bytes)
        events += [
            PointStarted(index=point.index, t_ns=t_ns),
            reading(t_ns / SECOND),
            *ends_well(point.index, t_ns + 900 * MS, measured),
        ]
    return [*events, PlanFinished(t_ns=rest.t_ns + 60 * SECOND, outcome="finished")]


def test_an_unfinished_session_goes_on_in_its_file_and_its_points_say_in_which_part(
    rig: Rig, window: MainWindow, qtbot: QtBot, broken_off: Path
) -> None:
    assert not window.top_bar.resume.isVisible()
    rig.open(broken_off)
    assert window.top_bar.resume.isVisible()
    window.top_bar.resume.setFocus()
    qtbot.waitUntil(window.top_bar.resume.hasFocus)
    resume(rig, window, qtbot)
    assert rig.controller.measuring
    assert not window.top_bar.resume.isVisible()
    assert not isinstance(window.focusWidget(), QAbstractButton)  # Cancel, which Space would press
    first, *others = rest_of_the_sweep(rig)
    rig.say([first])
    assert rig.controller.provenance.badge == "CPU"
    qtbot.waitUntil(lambda: rig.controller.path == broken_off, timeout=30_000)
    rig.say(others)
    qtbot.waitUntil(lambda: not rig.controller.running, timeout=30_000)
    assert not window.top_bar.resume.isVisible()
    window.close_unasked()
    found = load(broken_off)
    assert [state.part for state in found.planned] == [1, 1, 1, 2, 2, 2]
    assert {state.status for state in found.planned} == {"done"}
    assert found.outcome == "finished"
    assert found == rig.controller.session


@pytest.mark.matrix
def test_the_elapsed_time_of_a_resumed_sweep_leaves_out_the_pause_between_its_parts(
    rig: Rig, window: MainWindow, qtbot: QtBot, broken_off: Path
) -> None:
    rig.open(broken_off)
    last_s = MEASURED + 0.9  # when its last point ended
    assert elapsed(window) == elapsed_text(last_s)
    rig.now = 5000.0
    resume(rig, window, qtbot)
    assert elapsed(window) == elapsed_text(last_s), "its next part has not begun"
    rig.say(rest_of_the_sweep(rig)[:1])
    begun_s = last_s + PAUSE_NS / SECOND
    assert elapsed(window) == elapsed_text(begun_s)
    rig.now += 40.0
    assert elapsed(window) == elapsed_text(begun_s + 40)
    rig.say([PlanFinished(t_ns=round((begun_s + 41) * SECOND), outcome="cancelled")])
    rig.now += 300.0
    assert elapsed(window) == elapsed_text(begun_s + 41)


def elapsed(window: MainWindow) -> str:
    window.status.refresh()
    return window.status.elapsed.text().removeprefix("elapsed ")


@pytest.mark.matrix
def test_cancelled_points_stay_on_show_until_a_later_part_starts_them(
    rig: Rig, window: MainWindow, qtbot: QtBot, save: Save
) -> None:
    path = save(
        [
            *sweep(points=MEASURED),
            PointStarted(index=MEASURED, t_ns=9 * SECOND),
            PointFailed(index=MEASURED, t_ns=10 * SECOND, status="cancelled", reason="It was cancelled."),
            PlanFinished(t_ns=10 * SECOND, outcome="cancelled"),
        ],
        "cancelled",
    )
    rig.open(path)
    resume(rig, window, qtbot)
    begun, *others = rest_of_the_sweep(rig)
    started = next(k for k, e in enumerate(others) if isinstance(e, PointStarted) and e.index == MEASURED)
    rig.say([begun, *others[:started]])
    rail = window.pages["profile"].plots.cells[0].plot.rail  # type: ignore[attr-defined]
    window.status.refresh()
    assert window.status.count.text() == "3 of 6 points, 1 cancelled"
    qtbot.waitUntil(lambda: len(rail.scatter.points()) == 1, timeout=30_000)
    rig.say([others[started]])
    window.status.refresh()
    assert window.status.count.text() == "3 of 6 points"
    qtbot.waitUntil(lambda: len(rail.scatter.points()) == 0, timeout=30_000)


@pytest.mark.matrix
def test_the_part_stands_in_the_table_and_beside_the_plots(
    rig: Rig, window: MainWindow, qtbot: QtBot, broken_off: Path
) -> None:
    rig.open(broken_off)
    table, panel = window.pages["profile"].bottom.table, window.pages["profile"].plots.panel  # type: ignore[attr-defined]
    column = next(k for k, one in enumerate(table.results.columns) if one.title == "part")
    qtbot.waitUntil(lambda: bool(table.isColumnHidden(column)))
    resume(rig, window, qtbot)
    rig.say(rest_of_the_sweep(rig))
    qtbot.waitUntil(lambda: not table.isColumnHidden(column), timeout=30_000)
    assert [table.results.index(row, column).data() for row in range(6)] == ["1", "1", "1", "2", "2", "2"]
    window.pages["profile"].plots.move_cursor(1024)  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: "part 2" in panel._rows["flash2"].values[0].toolTip(), timeout=30_000)


@pytest.mark.matrix
def test_a_replay_of_a_resumed_session_shows_it_before_it_went_on_and_ends_as_the_session(
    rig: Rig, window: MainWindow, qtbot: QtBot, broken_off: Path
) -> None:
    rig.open(broken_off)
    resume(rig, window, qtbot)
    rig.say(rest_of_the_sweep(rig))
    qtbot.waitUntil(lambda: not rig.controller.running, timeout=30_000)
    recorded = rig.controller.session
    assert recorded is not None
    rig.controller.replay(1.0)
    playback = rig.controller.playback
    assert playback is not None
    playback.set_playing(False)
    table = window.pages["profile"].bottom.table  # type: ignore[attr-defined]
    column = next(k for k, one in enumerate(table.results.columns) if one.title == "part")
    playback.seek(playback.events.end_ns)
    assert playback.session == recorded
    qtbot.waitUntil(lambda: not table.isColumnHidden(column), timeout=30_000)
    playback.seek(recorded.resumed[0].t_ns - 1)
    assert (playback.session.resumed, len(playback.session.points)) == ([], len(PLAN.points()))
    qtbot.waitUntil(lambda: bool(table.isColumnHidden(column)), timeout=30_000)
    while not playback.at_end:
        playback.step(1)
    assert playback.session == recorded


@pytest.mark.matrix
def test_another_machine_and_a_drift_beyond_the_noise_are_warned_of(
    rig: Rig, window: MainWindow, qtbot: QtBot, broken_off: Path
) -> None:
    rig.open(broken_off)
    resume(rig, window, qtbot)
    rig.say(rest_of_the_sweep(rig, replace(CPU_MACHINE, system="Test OS 2"), slower=1.5))
    qtbot.waitUntil(lambda: not rig.controller.running, timeout=30_000)
    assert "system Test OS 2, not Test OS 1" in window.errors.text
    assert "by more than the noise: N = 256 took, of its first time: standard 1.500×" in window.errors.text
    assert "at its begin N = 256 took" in window.log.text


@pytest.mark.matrix
def test_a_finished_session_offers_no_resuming_and_says_why_when_asked(
    rig: Rig, window: MainWindow, qtbot: QtBot, save: Save
) -> None:
    rig.open(save(sweep(), "whole"))
    assert not window.top_bar.resume.isVisible()
    action = window.registry.find("resume")
    assert action is not None
    action.trigger()
    qtbot.waitUntil(lambda: "nothing to resume" in window.errors.text, timeout=30_000)
    assert rig.engine.plans == []


@pytest.mark.matrix
def test_a_session_that_comes_with_the_program_is_not_resumed(
    rig: Rig, window: MainWindow, qtbot: QtBot, broken_off: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "BUNDLED", broken_off.parent)
    rig.open(broken_off)
    assert not window.top_bar.resume.isVisible()
    action = window.registry.find("resume")
    assert action is not None
    action.trigger()
    qtbot.waitUntil(lambda: "comes with the program" in window.errors.text, timeout=30_000)
    assert rig.engine.plans == []


@pytest.mark.matrix
def test_a_file_that_went_on_elsewhere_meanwhile_ends_the_sweep(
    rig: Rig, window: MainWindow, qtbot: QtBot, broken_off: Path
) -> None:
    rig.open(broken_off)
    resume(rig, window, qtbot)
    first, *_ = rest_of_the_sweep(rig)
    rig.say([replace(first, part=7)])
    qtbot.waitUntil(lambda: rig.engine.cancelled == 1, timeout=30_000)
    assert "has gone on elsewhere" in window.errors.text
    assert load(broken_off).resumed == []


@pytest.fixture
def page(window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionsPage:
    monkeypatch.setattr(sessions, "BUNDLED", tmp_path / "none")
    window.show_page("sessions")
    found = window.pages["sessions"]
    assert isinstance(found, SessionsPage)
    return found


@pytest.mark.matrix  # it takes a second
def test_the_sessions_page_resumes_what_is_chosen_there(
    rig: Rig, page: SessionsPage, qtbot: QtBot, save: Save, broken_off: Path
) -> None:
    save(sweep(), "whole")
    page.refresh()
    qtbot.waitUntil(lambda: set(names(page)) == {"broken", "whole"}, timeout=30_000)
    page.table.selectRow(names(page).index("whole"))
    assert not page._buttons["resume"].isEnabled()
    page.table.selectRow(names(page).index(broken_off.stem))
    assert page._buttons["resume"].isEnabled()
    page._buttons["resume"].click()
    qtbot.waitUntil(lambda: bool(rig.engine.plans), timeout=30_000)
    rest = rig.engine.rests[0]
    assert rest is not None
    assert rest.left == {3, 4, 5}


def names(page: SessionsPage) -> list[str]:
    return [str(page.model.index(row, 0).data()) for row in range(page.model.rowCount())]


@pytest.mark.matrix
def test_during_a_replay_neither_run_nor_resume_calls_it_a_sweep(
    rig: Rig, window: MainWindow, broken_off: Path
) -> None:
    rig.open(broken_off)
    rig.controller.replay(1.0)
    for key in ("run", "resume"):
        window.errors.hide()
        action = window.registry.find(key)
        assert action is not None
        action.trigger()
        assert window.errors.text.startswith("A replay is on show; leave it")
    assert rig.controller.replaying
