"""The window as a whole: what it shows of the machine, the sweep and what goes wrong, at every size."""

from functools import partial

import pytest
from msgspec.structs import replace
from pyqtgraph import PlotWidget
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.look.theme import DARK, LIGHT
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from flashscope.app.words.results.progress import elapsed_text
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.results.model.time_left import seconds_left
from flashscope.profiles.wire.events import LogLine, MachineFound, PointFailed, PointStarted
from tests.app.fakes import CPU_MACHINE, PLAN, SECOND, sweep
from tests.app.rig import Rig, Save, start_page
from tests.matrix import chosen


def test_the_machine_is_looked_at_only_after_the_window_is_shown(rig: Rig, qtbot: QtBot) -> None:
    assert rig.controller.machine is None
    window = rig.window()
    assert window.isVisible()
    assert rig.controller.machine is not None


@pytest.mark.matrix
def test_a_theme_switch_recolours_existing_plots_and_the_window(window: MainWindow) -> None:
    window.pages.complete()
    plots = window.findChildren(PlotWidget)
    assert plots
    window._view._toggle_theme()
    window.appearance.finish()
    grab_whole(window)
    for plot in plots:
        assert plot.backgroundBrush().color() == QColor(LIGHT.panel)
        assert plot.getPlotItem().getAxis("left").textPen().color() == QColor(LIGHT.dim)
    assert window.appearance.theme == LIGHT
    assert all(page.theme == LIGHT for page in window.pages.values())
    assert window.palette().window().color() == QColor(LIGHT.bg)
    assert window.settings.appearance == "light"
    window._view._toggle_theme()
    window.appearance.finish()
    assert window.appearance.theme == DARK


def test_the_error_line_is_copied_with_its_details_and_dismissed(window: MainWindow, rig: Rig) -> None:
    rig.controller.error_raised.emit("It broke.", "the long story")
    assert window.errors.isVisible()
    window.errors._copy()
    assert QGuiApplication.clipboard().text() == "It broke.\n\nthe long story"
    window.errors._close.click()
    assert not window.errors.isVisible()


@chosen("percent", [100, 200], {100})
def test_a_message_moves_and_resizes_nothing_of_a_page(window: MainWindow, rig: Rig, percent: int) -> None:
    window.resize(1280, 720)
    window.appearance.zoom(percent)
    window.appearance.finish()
    grab_whole(window)
    heights = [window.status.height(), window.page.height()]
    window.errors.show_error("It broke.", "the long story")
    window.errors.offer("Retry", lambda: None)
    grab_whole(window)
    assert window.errors.isVisible()
    assert [window.status.height(), window.page.height()] == heights
    assert not window.status.job.isVisible()
    window.errors.hide()
    grab_whole(window)
    assert [window.status.height(), window.page.height()] == heights
    assert window.status.job.isVisible()
    window.appearance.zoom(100)
    window.appearance.finish()


@pytest.mark.matrix
def test_of_a_sweep_that_took_no_time_none_is_told(window: MainWindow, rig: Rig, save: Save) -> None:
    rig.controller.run(PLAN)
    rig.say(sweep()[:1])
    window.status.refresh()
    assert "0:00" not in window.status.elapsed.text()


@pytest.mark.matrix
def test_beside_a_message_stands_how_far_a_sweep_is(window: MainWindow, rig: Rig) -> None:
    rig.controller.run(PLAN)
    rig.say(sweep()[:3])
    window.status.refresh()
    window.errors.show_error("It broke.")
    assert window.status.bar.isVisible()
    assert window.status.count.isVisible()
    assert not window.status.elapsed.isVisible()


@pytest.mark.matrix
def test_the_badge_tells_where_the_figures_come_from(window: MainWindow, rig: Rig, save: Save) -> None:
    assert window.top_bar.badge.text() == "CPU"
    rig.open(save(sweep(), "saved"))
    assert window.top_bar.badge.text() == "SAVED · CPU Test CPU · 2026-11-21"
    rig.controller.run(PLAN)
    rig.say(sweep(points=1))
    assert window.top_bar.badge.text() == "CPU"


@pytest.mark.matrix
def test_run_and_cancel_follow_the_sweep(window: MainWindow, rig: Rig) -> None:
    assert window.top_bar.run.isEnabled()
    assert not window.top_bar.cancel.isVisible()
    start_page(window).quick.click()
    assert window.page.key == "profile"
    assert len(rig.engine.plans) == 1
    assert window.top_bar.run.text() == "Add to queue"
    window.top_bar.cancel.click()
    assert rig.engine.cancelled == 1


def test_the_status_bar_tells_job_count_and_file(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    rig.controller.run(PLAN)
    with qtbot.waitSignal(rig.controller.path_found, timeout=60_000):
        rig.say(sweep(points=3)[:-1])
    window.status.refresh()
    assert "standard · N = 512 · measure 3 of 10" in window.status.job.text()
    assert window.status.count.text() == "2 of 6 points"
    assert rig.controller.path is not None
    assert rig.controller.path.name in window.status.file.text()
    assert rig.controller.path.stem in window.windowTitle()
    assert rig.controller.path in window.settings.recents


@pytest.mark.matrix
def test_the_time_left_in_the_status_bar_falls_with_the_clock_while_a_point_is_measured(
    window: MainWindow, rig: Rig
) -> None:
    rig.now = 3.0
    rig.controller.run(PLAN)
    events = sweep(points=3)
    rig.say(events[: events.index(PointStarted(index=2, t_ns=3 * SECOND)) + 1])
    told = []
    for now in (3.0, 4.0, 5.0):
        rig.now = now
        window.status.refresh()
        told.append(window.status.left.text())
    left = seconds_left(rig.controller.sweep) if rig.controller.sweep else None
    assert left is not None
    assert told == [f"about {elapsed_text(left - since)} left" for since in range(3)]
    assert len(set(told)) == 3


@pytest.mark.matrix
def test_failed_points_move_the_bar_on_and_interrupted_ones_do_not(
    window: MainWindow, rig: Rig, save: Save
) -> None:
    failed = PointFailed(index=1, t_ns=3 * SECOND, status="failed", reason="It did.")
    events = [*sweep(points=2)[:-2], failed, PointStarted(index=2, t_ns=4 * SECOND)]
    rig.open(save(events, "broken off"))
    status = window.status
    status.refresh()
    assert status.bar.value() == 2
    assert status.count.text() == "2 of 6 points, 1 failed, 1 interrupted"


@pytest.mark.matrix
def test_the_drift_check_is_told_in_the_status_bar_and_the_log_and_counts_as_no_point(
    window: MainWindow, rig: Rig
) -> None:
    plan = replace(PLAN, protocol=Protocol(drift_check=True))
    rig.controller.run(plan)
    rig.say(sweep(plan))
    status = window.status
    status.refresh()
    assert status.job.text() == "Sweep finished · drift 1.000×"
    assert status.count.text() == "6 of 6 points"
    assert "drift check: At the end N = 256 took" in window.log.text


def test_log_lines_survive_a_change_of_theme(window: MainWindow, rig: Rig) -> None:
    rig.say([LogLine(source="worker", text="one"), LogLine(source="worker", text="two", level="error")])
    window.apply_theme(LIGHT)
    assert window.log.text.splitlines() == ["worker: one", "worker: two"]


@chosen("size", [(1280, 720), (640, 360)], {(640, 360)})
@pytest.mark.parametrize("page", ["start", "sessions"])
def test_nothing_is_wider_than_the_window(window: MainWindow, page: str, size: tuple[int, int]) -> None:
    window.resize(*size)
    window.show_page(page)
    assert window.size().toTuple() == size
    assert window.top_bar.width() <= size[0]
    assert window.status.width() <= size[0]
    assert window.top_bar.run.geometry().right() <= window.top_bar.width()


@pytest.mark.matrix
def test_a_reason_under_the_form_leaves_the_page_as_high_as_the_window(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    window.resize(1440, 870)
    window.show_page("profile")
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    rig.engine.say([MachineFound(machine=CPU_MACHINE)])
    qtbot.waitUntil(lambda: page.form.blocked_reason is None)
    QTest.qWait(0)
    height = page.height()
    page.form.kernels.choose(())
    qtbot.waitUntil(page.form.message.isVisible)
    for _ in range(5):
        QTest.qWait(0)
    assert page.height() == height
    place = page.form.message.mapTo(window, page.form.message.rect().bottomLeft())
    assert place.y() < window.height()


def test_errors_are_kept_in_the_log(window: MainWindow, rig: Rig) -> None:
    rig.controller.error_raised.emit("It broke.", "")
    assert "It broke." in window.log.text


@pytest.mark.matrix
def test_an_old_error_is_gone_once_a_new_sweep_starts(window: MainWindow, rig: Rig) -> None:
    rig.controller.error_raised.emit("The sweep failed.", "")
    assert window.errors.isVisible()
    rig.controller.run(PLAN)
    assert not window.errors.isVisible()


@pytest.mark.matrix
def test_nothing_of_the_page_before_shows_where_plots_wait_to_be_painted(
    window: MainWindow, qapp: QApplication
) -> None:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    page._turns.finish()
    window.show_page("start")
    qapp.processEvents()
    window.show_page("profile")
    page._turns._timer.stop()  # their turn does not come
    qapp.processEvents()
    shown = grabbed(window)
    for card in (one for one in page.plots.cells if one.isVisible()):
        assert not card.updatesEnabled()
        place = card.plot.viewport().mapTo(window, card.plot.viewport().rect().topLeft())
        area = shown.copy(QRect(place, card.plot.viewport().size()))
        colours = {area.pixel(x, y) for x in range(area.width()) for y in range(0, area.height(), 4)}
        assert len(colours) == 1, card.title


@pytest.mark.matrix
@chosen("covered", [False, True], {True})
def test_no_card_vanishes_while_it_waits_for_its_turn(
    window: MainWindow, qapp: QApplication, qtbot: QtBot, covered: bool
) -> None:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    window.show_page("profile")
    page._turns.finish()
    whole = settled(window, qtbot)
    if covered:
        page._turns.start_covered()
    else:
        page._turns.start()
    page._turns._timer.stop()  # their turns do not come
    page.repaint()
    qapp.processEvents()
    assert (grabbed(window) == whole) is not covered


def grabbed(window: MainWindow) -> QImage:
    """What is on the screen, not what the window would paint."""
    return window.screen().grabWindow(window.winId()).toImage()


def settled(window: MainWindow, qtbot: QtBot) -> QImage:
    """What is on the screen once nothing late changes it: it stays for ten turns of the event loop."""
    seen = [grabbed(window)]

    def stays() -> bool:
        seen.append(grabbed(window))
        return len(seen) > 10 and all(one == seen[-1] for one in seen[-10:])

    qtbot.waitUntil(stays)
    return seen[-1]


def in_view(widget: QWidget) -> bool:
    """Whether it is shown, and not scrolled away."""
    return widget.isVisible() and not widget.visibleRegion().isEmpty()


def stands_beside(view: QWidget, box: QComboBox) -> None:
    """Its popup is above or below it: the platform may move it a moment later."""
    top, popup_top = box.mapToGlobal(QPoint()).y(), view.mapToGlobal(QPoint()).y()
    beside = popup_top >= top + box.height() - 2 or popup_top + view.height() <= top + 2
    assert beside, box.accessibleName()


@chosen("page", ["profile", "stepper", "sessions"], {"sessions"})
def test_every_drop_down_shows_its_entries_whole_and_not_over_itself(
    window: MainWindow, qapp: QApplication, qtbot: QtBot, page: str
) -> None:
    window.resize(1280, 720)
    window.show_page(page)
    qapp.processEvents()
    boxes = [box for box in window.findChildren(QComboBox) if in_view(box) and box.count() > 1]
    assert boxes
    for box in boxes:
        box.showPopup()
        qapp.processEvents()
        view, rows = box.view(), range(min(box.count(), box.maxVisibleItems()))
        for row in rows:
            shown = view.visualRect(box.model().index(row, box.modelColumn()))
            assert view.viewport().rect().contains(shown), (box.accessibleName(), box.itemText(row))
        qtbot.waitUntil(partial(stands_beside, view, box))
        box.hidePopup()
