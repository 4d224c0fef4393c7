"""Ways that lead to the Compare page."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.pages.compare.last import last_like
from flashscope.app.pages.compare.partners import partners
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.profiles.store import change, load, sessions_dir
from flashscope.profiles.wire.events import PlanFinished
from tests.app.fakes import PLAN, SECOND, sweep
from tests.app.pages.compare.conftest import GPU_PLAN, Desk, recorded
from tests.app.rig import Rig, Save


@pytest.mark.matrix
def test_rows_chosen_on_the_sessions_page_are_compared(desk: Desk) -> None:
    files = {recorded("base"), recorded("other", times=1.2)}
    desk.window.show_page("sessions")
    page = desk.window.pages["sessions"]
    assert isinstance(page, SessionsPage)
    page.refresh()
    desk.qtbot.waitUntil(lambda: page.model.rowCount() == len(files) + len(bundled_sessions()))
    desk.qtbot.waitUntil(page.table.isVisible)
    page.table.choose(files)
    page.table.setFocus()
    desk.after(lambda: QTest.keyClick(page.table, Qt.Key.Key_C))
    assert desk.window.page is desk.page
    assert set(desk.page.lineup.paths) == files


@pytest.mark.matrix
def test_the_bundled_recordings_that_are_compared_have_points_in_common(desk: Desk) -> None:
    desk.after(desk.page.empty.bundled_wanted.emit)
    found = desk.board.findings
    assert found is not None
    assert len(found.members) == 2
    assert len(found.pairs) > 100


def test_two_sessions_without_a_common_point_are_no_partners() -> None:
    one, other = recorded("one"), recorded("two", replace(GPU_PLAN, kernels=("flash3",)))
    assert partners([one, other]) == ()
    assert partners([other, one, recorded("three")]) == (one, sessions_dir() / "three.flashscope")


def test_the_last_run_like_one_did_the_same_on_the_same_device() -> None:
    this = recorded("this")
    recorded("other kernels", replace(GPU_PLAN, kernels=("standard",)))
    recorded("other problems", replace(GPU_PLAN, problems=GPU_PLAN.problems[:2]))
    recorded("other backend", PLAN)
    recorded("other cache", replace(GPU_PLAN, protocol=replace(GPU_PLAN.protocol, cold=False)))
    (sessions_dir() / "no session.flashscope").write_text("nothing")
    session = load(this)
    session.id = "another"
    found = last_like(session, sessions_dir())
    assert found is not None
    assert found.path == this
    this.unlink()
    assert last_like(session, sessions_dir()) is None


@pytest.mark.matrix
def test_after_a_sweep_the_last_run_like_it_is_offered(rig: Rig, desk: Desk, save: Save) -> None:
    events = sweep()
    first = replace(events[0], session_id="f" * 32, started_at="2026-11-20T10:00:00+00:00")
    before = save([first, *events[1:]], "a file")
    change(before, "name", "yesterday")
    rig.controller.run(PLAN)
    with desk.qtbot.waitSignal(desk.page.offered):
        rig.say(events)
        if not isinstance(events[-1], PlanFinished):
            rig.say([PlanFinished(t_ns=99 * SECOND, outcome="finished")])
    assert desk.window.errors.text == "There is a run like this one: yesterday."
    desk.after(desk.window.errors._act_button.click)
    assert desk.page.lineup.paths == (before, rig.controller.path)
