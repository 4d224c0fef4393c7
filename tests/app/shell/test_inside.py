"""From a point of Measure to what is inside its kernel, and one step back."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.timeline import TimelinePage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from flashscope.app.widgets.menus import commands_of
from flashscope.app.widgets.paint_turns import PaintTurns
from flashscope.kernels.cpu.trace import record
from flashscope.profiles.store import load
from flashscope.profiles.wire.events import RequestFailed, TraceReady
from tests.app.fakes import HOPPER_MACHINE, sweep
from tests.app.rig import Rig, Save
from tests.app.shell.layout.test_fits import is_cut, texts
from tests.app.stepper.builders import random_trace
from tests.app.timelines import made_timeline
from tests.matrix import chosen

PEERS, SMALL = BUNDLED / "h200-peers.flashscope", BUNDLED / "h200-standard-flash2.flashscope"


@pytest.fixture
def measure(window: MainWindow, rig: Rig) -> ProfilePage:
    """The curves of standard and flash2 on a GPU, on a machine without one."""
    return curves(window, rig, SMALL)


@pytest.fixture
def peers(window: MainWindow, rig: Rig) -> ProfilePage:
    """Those of all kernels."""
    return curves(window, rig, PEERS)


def curves(window: MainWindow, rig: Rig, path: Path) -> ProfilePage:
    window.resize(1280, 800)
    rig.open(path)
    window.show_page("profile")
    page = window.page
    assert isinstance(page, ProfilePage)
    drawn(page)
    return page


@pytest.fixture
def stepper(window: MainWindow) -> StepperPage:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    return page


def drawn(page: ProfilePage) -> None:
    for turns in page.findChildren(PaintTurns):
        turns.finish()


def choose(page: ProfilePage, kernel: str, seqlen: int) -> None:
    """Choose a point as a click on its row does."""
    rows = (row for row in page.plots.rows if (row.kernel, row.seqlen) == (kernel, seqlen))
    page.bottom.table.choose_point(next(rows).point.index)
    drawn(page)


def answer(rig: Rig) -> None:
    """Have the engine record the trace that it was asked for last."""
    with rig._qtbot.waitSignal(rig.controller.trace_ready):
        rig.engine.say([TraceReady(trace=record(rig.engine.traces[-1]))])


def test_the_chosen_point_is_stepped_through_in_its_kernels_order_and_what_was_changed_is_said(
    window: MainWindow, rig: Rig, peers: ProfilePage, stepper: StepperPage
) -> None:
    choose(peers, "flash1", 4096)
    QTest.keyClick(peers, Qt.Key.Key_I)
    assert window.view == "stepper"
    answer(rig)
    assert stepper.story is not None
    request = stepper.story.recording.trace.request
    assert (request.order, request.problem.seqlen_k, request.problem.head_dim) == ("flash1", 512, 64)
    assert stepper.visits.line.isVisible()
    told = stepper.visits.line.words.text()
    assert told.startswith("Inside flash1 at N = 4,096. On the CPU: ")
    assert "float32 in the place of bfloat16: a CPU traces in that alone." in told
    assert stepper.visits.line.words.accessibleName() == told
    assert stepper.bar.preset.currentText() == "flash1 at N = 4,096"


@pytest.mark.matrix
def test_without_a_chosen_point_the_one_that_the_sentence_speaks_of_is_meant(
    window: MainWindow, rig: Rig, peers: ProfilePage, stepper: StepperPage
) -> None:
    assert rig.controller.point is None
    panel = peers.plots.panel
    name = "Look inside flash3 at N = 16,384"
    assert panel.inside.accessibleName() == name
    panel.inside.click()
    assert window.view == "stepper"
    assert "flash3 has no trace on a CPU; flash2, which it goes on from," in stepper.visits.line.words.text()
    assert "“H200 inside flash2 and flash3”" in stepper.visits.line.words.text()


@chosen("way", ["escape", "button", "keys", "action"], {"escape"})
def test_one_step_leads_back_to_the_view_the_point_and_the_trace_before(
    window: MainWindow, rig: Rig, measure: ProfilePage, stepper: StepperPage, way: str
) -> None:
    before = random_trace()
    stepper.show_trace(before)
    stepper.seek(7)
    stepper.show_mode("blocks")
    choose(measure, "standard", 2048)
    window.show_page("results")
    window.trigger("inside")
    answer(rig)
    assert stepper.modes.key == "lanes", "of the modes the one that shows it"
    if way == "escape":
        window.trigger("escape")
    elif way == "button":
        assert stepper.visits.line.back.accessibleName() == "Back to Results"
        stepper.visits.line.back.click()
    elif way == "keys":
        QTest.keyClick(stepper, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    else:
        window.trigger("inside.back")
    assert window.view == "results"
    meant = rig.controller.point_meant
    assert meant is not None
    assert (meant.kernel, meant.problem.seqlen) == ("standard", 2048)
    assert stepper.story is not None
    assert stepper.position is not None
    assert stepper.story.recording.trace is before
    assert (stepper.position.at, stepper.modes.key) == (7, "blocks")
    assert stepper.visits.line.isHidden()


@pytest.mark.matrix
def test_back_before_the_trace_is_there_leaves_what_was_on_show(
    window: MainWindow, rig: Rig, measure: ProfilePage, stepper: StepperPage
) -> None:
    before = random_trace()
    stepper.show_trace(before)
    choose(measure, "flash2", 1024)
    window.trigger("inside")
    window.trigger("inside.back")
    answer(rig)
    assert stepper.story is not None
    assert stepper.story.recording.trace is before


@pytest.mark.matrix
def test_a_trace_that_fails_leaves_no_words_on_a_point_over_what_is_on_show(
    window: MainWindow, rig: Rig, qtbot: QtBot, measure: ProfilePage, stepper: StepperPage
) -> None:
    stepper.show_trace(random_trace())
    choose(measure, "flash2", 1024)
    window.trigger("inside")
    with qtbot.waitSignal(rig.controller.trace_failed):
        rig.engine.say([RequestFailed(request="trace", reason="No room.")])
    assert stepper.visits.line.isHidden()
    assert window.view == "stepper"


@pytest.mark.matrix
def test_another_preset_is_no_point_any_more(
    window: MainWindow, rig: Rig, measure: ProfilePage, stepper: StepperPage
) -> None:
    choose(measure, "flash2", 1024)
    window.trigger("inside")
    answer(rig)
    stepper.show_trace(random_trace())
    assert stepper.visits.line.isHidden()
    assert stepper.bar.preset.findData("point") == -1


@pytest.mark.matrix
def test_the_other_loop_order_of_a_point_is_still_that_point(
    window: MainWindow, rig: Rig, measure: ProfilePage, stepper: StepperPage
) -> None:
    choose(measure, "flash2", 1024)
    window.trigger("inside")
    answer(rig)
    asked = rig.engine.traces[-1]
    stepper.bar.order.setCurrentIndex(stepper.bar.order.findData("flash1"))
    assert rig.engine.traces[-1].order == "flash1"
    assert rig.engine.traces[-1].problem == asked.problem
    answer(rig)
    assert stepper.visits.line.isVisible()


def test_the_menu_of_a_curve_looks_inside_the_point_under_the_crosshair(
    window: MainWindow, rig: Rig, measure: ProfilePage, stepper: StepperPage
) -> None:
    card = measure.plots.cells[0]
    measure.plots.move_cursor(2048)
    card.point_at("flash2")
    menu = card.plot_menu.menu()
    inside = next(one for one in menu.actions() if one.text() == "Look inside the point: flash2")
    inside.trigger()
    assert window.view == "stepper"
    assert stepper.visits.line.words.text().startswith("Inside flash2 at N = 2,048.")
    menu.deleteLater()


def test_rows_the_roofline_and_traffic_have_the_commands(window: MainWindow, measure: ProfilePage) -> None:
    wanted = ["Look inside the point", "Record a timeline of the point"]
    table = measure.bottom.table
    choose(measure, "flash2", 1024)
    window.show_page("results")
    assert set(wanted) <= {action.text() for action in table.menu().actions()}
    for view in ("roofline", "traffic"):
        window.show_page(view)
        actions = commands_of(window.page, ("inside", "inside.timeline"))
        assert [action.isEnabled() for action in actions] == [True, True]
        menu = window.page.card.plot_menu if view == "roofline" else window.page.plot_menu  # type: ignore[attr-defined]
        assert set(wanted) <= {action.text() for action in menu.menu().actions()}
    window.show_page("sessions")
    assert not any(one.isEnabled() for one in commands_of(window.page, ("inside", "inside.timeline")))


@pytest.mark.matrix
def test_a_kernel_with_clocks_is_recorded_on_the_cpu_and_found_again_the_next_time(
    window: MainWindow, rig: Rig, qtbot: QtBot, measure: ProfilePage
) -> None:
    choose(measure, "flash2", 1024)
    window.trigger("inside.timeline")
    page = window.page
    assert isinstance(page, TimelinePage)
    (asked,) = rig.engine.timelines
    assert (asked.kernel, asked.problem.seqlen_k, asked.problem.dtype) == ("flash2", 1024, "float32")
    assert page.visit.line.words.text().startswith("A timeline of flash2 at N = 1,024.")
    page.lineup.take_recorded(replace(made_timeline("flash2"), request=asked))
    qtbot.waitUntil(lambda: len(page.lineup.drawn) == 1)
    window.trigger("escape")
    assert window.view == "profile"
    assert page.visit.line.isHidden()
    window.trigger("inside.timeline")
    assert len(rig.engine.timelines) == 1
    assert page.visit.line.isVisible()


@pytest.mark.matrix
def test_a_kernel_without_clocks_says_so_and_stays(window: MainWindow, peers: ProfilePage) -> None:
    choose(peers, "flash3", 1024)
    window.trigger("inside.timeline")
    assert window.view == "profile"
    assert window.errors.text == (
        "flash3 has no build with clocks here: "
        "flash1 and flash2 have one on a CPU, "
        "flash1, flash2, flash3-a, flash3-b, flash3-c, flash3 and flash3-fp8 on a GPU."
    )


@pytest.mark.matrix
def test_nothing_is_recorded_beside_a_sweep_and_the_line_says_why(
    window: MainWindow, rig: Rig, measure: ProfilePage
) -> None:
    choose(measure, "flash2", 1024)
    rig.controller.occupy("claims", "Another Flashscope measures on this machine.")
    window.trigger("inside.timeline")
    page = window.page
    assert isinstance(page, TimelinePage)
    assert not rig.engine.timelines
    assert page.visit.line.words.text().endswith("Not recorded: Another Flashscope measures on this machine.")


def test_a_trace_of_a_point_is_kept_in_its_session_found_again_and_taken_out_by_one_undo(
    window: MainWindow, rig: Rig, qtbot: QtBot, save: Save, stepper: StepperPage
) -> None:
    path = save(sweep(), "own")
    page = curves(window, rig, path)
    choose(page, "flash2", 256)
    window.trigger("inside")
    answer(rig)
    keep = stepper.visits.keep_button
    assert keep.isVisible()
    assert keep.accessibleName() == "Keep the trace in the session on show"
    assert stepper.story is not None
    trace = stepper.story.recording.trace
    with qtbot.waitSignal(rig.controller.keeping.kept):
        keep.click()
    assert load(path).traces == [trace]
    assert not keep.isVisible()
    assert stepper.bar.preset.findText("Recorded: flash2 order on a CPU, N = 256") >= 0
    window.trigger("inside.back")
    asked = len(rig.engine.traces)
    window.trigger("inside")
    assert len(rig.engine.traces) == asked, "it is in the session"
    assert stepper.story.recording.trace is trace
    with qtbot.waitSignal(rig.controller.keeping.kept):
        rig.controller.edits.undo()
    assert load(path).traces == []
    assert keep.isVisible()
    assert stepper.story.recording.trace is trace
    rig.open(path)
    window.show_page("profile")
    drawn(page)
    choose(page, "flash2", 256)
    window.trigger("inside")
    assert len(rig.engine.traces) == asked + 1


@pytest.mark.matrix
def test_a_bundled_recording_keeps_no_trace_and_says_why(
    window: MainWindow, rig: Rig, measure: ProfilePage, stepper: StepperPage
) -> None:
    choose(measure, "flash2", 1024)
    window.trigger("inside")
    answer(rig)
    assert not stepper.visits.keep_button.isEnabled()
    assert "duplicate it in the Library" in stepper.visits.keep_button.toolTip()
    window.trigger("stepper.keep")
    assert load(SMALL).traces == []


@pytest.mark.matrix
def test_another_session_has_no_way_back_to_a_point_of_the_one_before(
    window: MainWindow, rig: Rig, measure: ProfilePage, stepper: StepperPage
) -> None:
    choose(measure, "flash2", 1024)
    window.trigger("inside")
    answer(rig)
    rig.open(BUNDLED / "h200-decode.flashscope")
    assert stepper.visits.line.isHidden()
    assert not stepper.back()
    QApplication.processEvents()


@pytest.mark.matrix
@pytest.mark.parametrize("percent", [80, 100, 150, 200, 250])
def test_no_word_on_a_point_is_cut_off_at_any_zoom(
    window: MainWindow, rig: Rig, measure: ProfilePage, stepper: StepperPage, percent: int
) -> None:
    window.resize(1280, 720)
    choose(measure, "flash2", 4096)
    window.trigger("inside.timeline")
    timeline = window.page
    assert isinstance(timeline, TimelinePage)
    window.trigger("inside.back")
    window.trigger("inside")
    answer(rig)
    window.appearance.zoom(percent)
    window.appearance.finish()
    try:
        window.trigger("inside.back")
        for command, line in (("inside.timeline", timeline.visit.line), ("inside", stepper.visits.line)):
            window.trigger(command)
            for _ in range(2):
                QApplication.processEvents()
                grab_whole(window)
            cut = [one for one in texts(line) if is_cut(one)]
            assert not cut, (command, [one.size() for one in cut])
            assert line.words.height() >= line.words.heightForWidth(line.words.width()), command
            window.trigger("inside.back")
    finally:
        window.appearance.zoom(100)
        window.appearance.finish()


@pytest.mark.matrix
def test_where_there_is_a_gpu_its_points_are_traced_there_as_they_are_timed(rig: Rig) -> None:
    rig.engine.machine = HOPPER_MACHINE
    window = rig.window()
    choose(curves(window, rig, PEERS), "flash3", 1024)
    window.trigger("inside")
    asked = rig.engine.traces[-1]
    assert (asked.backend, asked.kernel, asked.problem.dtype) == ("cuda", "flash3", "bfloat16")
    stepper = window.page
    assert isinstance(stepper, StepperPage)
    assert (asked.problem.seqlen_k, asked.problem.heads, asked.problem.batch) == (1024, 32, 16)
    assert stepper.visits.line.words.text() == "Inside flash3 at N = 1,024."


@pytest.mark.matrix
def test_a_backward_point_is_stepped_through_in_the_mode_backward_and_back(
    window: MainWindow, rig: Rig, stepper: StepperPage
) -> None:
    measure = curves(window, rig, BUNDLED / "h200-backward.flashscope")
    row = next(row for row in measure.plots.rows if row.problem.passes == "backward")
    measure.bottom.table.choose_point(row.point.index)
    drawn(measure)
    window.trigger("inside")
    assert (window.view, stepper.modes.key) == ("stepper", "backward")
    (request,) = rig.engine.backwards
    assert (request.backend, request.kernel, request.problem.passes) == ("cpu", "flash2", "backward")
    told = stepper.visits.line.words.text()
    assert told.startswith(f"Inside the backward pass of {row.kernel} at N = ")
    window.trigger("inside.back")
    assert window.view == "profile"
    assert stepper.modes.key == "blocks"
