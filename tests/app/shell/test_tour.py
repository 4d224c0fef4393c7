"""The first run: five steps, each on the real control, which can be left at any time and never block."""

from collections.abc import Iterator
from itertools import product

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.quick import quick_plan
from flashscope.app.control.settings import Settings
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.frame.callout import visible_part
from tests.app.fakes import PLAN, plan_started
from tests.app.rig import Rig, start_page

SLACK = 2  # pixels that rounding takes
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def touring(window: MainWindow, qtbot: QtBot) -> MainWindow:
    """A window at its first start."""
    window.activateWindow()
    window.resize(1280, 720)
    window.tour.begin_first()
    qtbot.waitUntil(window.tour.callout.ring.isVisible)
    return window


def profile(window: MainWindow) -> ProfilePage:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    return page


def step(window: MainWindow) -> int | None:
    """The step on show, None when the tour is over."""
    return window.tour.at


def pointed_at(window: MainWindow) -> QWidget:
    """What the callout stands beside, with the ring around it."""
    callout = window.tour.callout
    target = callout.target
    assert target is not None
    assert callout.isVisible()
    assert callout.ring.geometry().contains(visible_part(target, window.centralWidget()))
    return target


def go_on(window: MainWindow, rig: Rig) -> None:
    """Press Next in the first step, and wait for the recording that it opens."""
    rig.opening(window.tour.callout.next.click)


@pytest.mark.matrix
def test_each_step_goes_on_when_its_own_control_is_clicked(
    touring: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    tour, page = touring.tour, profile(touring)
    assert pointed_at(touring) is start_page(touring).recording
    rig.opening(lambda: QTest.mouseClick(pointed_at(touring), LEFT))
    qtbot.waitUntil(lambda: step(touring) == 1 and pointed_at(touring) is page.plots.cells[0])
    page.plots.move_cursor(4096)
    assert step(touring) == 1, "the pointer on its way elsewhere has ended the step"
    QTest.mouseClick(page.plots.cells[0].plot.viewport(), LEFT)
    assert step(touring) == 2
    assert pointed_at(touring) is touring.tabs
    results = touring.tabs.tabRect(touring.tabs.keys.index("results")).center()
    QTest.mouseClick(touring.tabs, LEFT, pos=results)
    assert touring.view == "results"
    assert step(touring) == 3
    assert pointed_at(touring) is touring.rail.button("inside")
    QTest.mouseClick(pointed_at(touring), LEFT)
    assert touring.page.key == "stepper"
    assert step(touring) == 4
    assert tour.callout.next.text() == "Run it"
    assert pointed_at(touring) is touring.top_bar.new
    QTest.mouseClick(pointed_at(touring), LEFT)
    assert pointed_at(touring) is touring.top_bar.run
    QTest.mouseClick(pointed_at(touring), LEFT)
    assert rig.engine.plans
    assert touring.page.key == "profile", "nothing is seen of the sweep"
    assert step(touring) is None
    assert not tour.callout.isVisible()
    assert not tour.callout.ring.isVisible()


def test_next_does_what_each_step_says(touring: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    callout = touring.tour.callout
    go_on(touring, rig)
    assert rig.controller.session is not None, "Next has opened no recording"
    plots = profile(touring).plots
    before = plots.seqlen
    callout.next.click()
    assert step(touring) == 2
    assert plots.seqlen != before, "Next has left the crosshair where it was"
    callout.next.click()
    assert (step(touring), touring.view) == (3, "results")
    callout.next.click()
    assert (step(touring), touring.view) == (4, "stepper")
    assert "under 15 seconds" in callout.sentence.text(), "what it starts is not said before"
    assert not rig.engine.plans
    callout.next.click()
    assert rig.engine.plans == [quick_plan(rig.controller.machine)]
    assert touring.view == "profile"
    assert step(touring) is None


@pytest.mark.matrix
def test_back_leads_to_the_step_before_and_to_where_it_began(touring: MainWindow, rig: Rig) -> None:
    callout = touring.tour.callout
    assert callout.back.isHidden(), "Back leads out of the first step"
    go_on(touring, rig)
    for _step in range(3):
        callout.next.click()
    for at, view in ((3, "results"), (2, "profile"), (1, "profile"), (0, "start")):
        callout.back.click()
        assert (step(touring), touring.view) == (at, view)
    assert rig.controller.session is not None, "Back has closed the recording"
    assert callout.back.isHidden()


@pytest.mark.matrix
def test_next_goes_on_where_its_step_leads_to_nothing(touring: MainWindow) -> None:
    link = start_page(touring).recording
    assert link is not None
    link.clicked.disconnect()
    for at in (0, 1):
        touring.tour.callout.next.click()
        assert step(touring) == at


@pytest.mark.matrix
def test_next_starts_no_second_sweep(touring: MainWindow, rig: Rig) -> None:
    go_on(touring, rig)
    for _step in range(3):
        touring.tour.callout.next.click()
    rig.controller.run(PLAN)
    rig.say([plan_started()])
    touring.tour.begin()
    go_on(touring, rig)
    for _step in range(4):
        touring.tour.callout.next.click()
    assert rig.engine.plans == [PLAN]
    assert step(touring) is None


@pytest.mark.matrix
def test_the_keys_walk_and_leave_it_and_it_does_not_come_again(
    touring: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    tour = touring.tour
    assert touring.focusWidget() is tour.callout.next
    rig.opening(lambda: QTest.keyClick(tour.callout.next, Qt.Key.Key_Return))
    assert step(touring) == 1
    for button in (tour.callout.back, tour.callout.skip):
        QTest.keyClick(touring.focusWidget(), Qt.Key.Key_Backtab)
        assert touring.focusWidget() is button
    rig.controller.run(PLAN)
    rig.say([plan_started()])
    QTest.keyClick(touring, Qt.Key.Key_Escape)
    assert step(touring) is None
    assert not tour.callout.isAncestorOf(touring.focusWidget())
    assert not rig.engine.cancelled, "leaving the tour has cancelled the sweep"
    assert "Take the tour" in touring.errors.text
    tour.begin_first()
    assert step(touring) is None
    assert Settings().tour_shown
    action = touring.registry.find("tour")
    assert action is not None
    action.trigger()
    assert step(touring) == 0
    assert touring.page.key == "start"
    QTest.keyClick(touring.focusWidget(), Qt.Key.Key_Backtab)
    QTest.keyClick(touring.focusWidget(), Qt.Key.Key_Return)
    assert step(touring) is None


@pytest.mark.matrix
def test_a_stage_ends_it_and_offers_none(touring: MainWindow) -> None:
    touring.stage.enter()
    assert touring.tour.at is None
    assert not touring.tour.callout.isVisible()
    action = touring.registry.find("tour")
    assert action is not None
    assert not action.isEnabled()


@pytest.mark.matrix
def test_it_leads_back_to_the_page_of_its_step(touring: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    tour = touring.tour
    go_on(touring, rig)
    touring.show_page("planner")
    qtbot.waitUntil(lambda: pointed_at(touring) is touring.rail.button("measure"))
    assert "Go to Measure" in tour.callout.sentence.text()
    assert tour.callout.next.text() == "Go there"
    tour.callout.next.click()
    assert (step(touring), touring.view) == (1, "profile")
    qtbot.waitUntil(lambda: pointed_at(touring) is profile(touring).plots.cells[0])
    touring.show_page("planner")
    qtbot.waitUntil(lambda: pointed_at(touring) is touring.rail.button("measure"))
    tour.begin()
    touring.show_page("planner")
    qtbot.waitUntil(lambda: pointed_at(touring) is touring.rail.button("home"))


@pytest.mark.matrix
@pytest.mark.parametrize("view", ["traffic", "telemetry"])
def test_in_another_view_of_its_place_a_step_leads_to_the_tab_and_hides_no_legend(
    touring: MainWindow, rig: Rig, view: str
) -> None:
    go_on(touring, rig)
    callout = touring.tour.callout
    touring.show_page(view)
    assert step(touring) == 1
    assert callout.sentence.text() == "Go to Curves: this step is there."
    assert pointed_at(touring) is touring.tabs
    assert callout.y() > touring.centralWidget().height() // 2
    callout.next.click()
    assert touring.view == "profile"
    assert pointed_at(touring) is profile(touring).plots.cells[0]


@pytest.fixture
def zoomed(touring: MainWindow) -> Iterator[MainWindow]:
    yield touring
    touring.appearance.zoom(100)
    touring.appearance.finish()


@pytest.mark.matrix
def test_a_step_hides_no_control_of_its_own_and_is_whole_at_every_zoom(
    zoomed: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    callout, wrong = zoomed.tour.callout, []
    for percent, size in product((100, 250), ((1280, 720), (1920, 1080))):
        zoomed.resize(*size)
        zoomed.appearance.zoom(percent)
        zoomed.appearance.finish()
        zoomed.tour.begin()
        for at in range(5):
            QApplication.processEvents()
            qtbot.waitUntil(lambda: not callout._soon.isActive())
            room, taken = zoomed.centralWidget().rect(), QRect(callout.geometry())
            target = callout.target
            sentence = callout.sentence
            cut = sentence.height() + SLACK < sentence.heightForWidth(sentence.width())
            if cut or not room.contains(taken):
                wrong.append(f"{at} at {percent} % in {size}: {taken}")
            if target is not None and callout.ring.isVisible() and target.width() < room.width() / 4:
                button = visible_part(target, zoomed.centralWidget())
                wrong += [f"{at} at {percent} % in {size} is hidden"] if taken.intersects(button) else []
            if at == 0:
                go_on(zoomed, rig)
            elif at < 4:
                callout.next.click()
    assert not wrong, "\n".join(wrong)
