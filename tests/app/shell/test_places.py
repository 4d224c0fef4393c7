"""Five places, each with its views as tabs; a key, a name or a button leads to each."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPointF, QRect, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import counted_recording
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.registry import PLACES, VIEWS
from flashscope.app.pages.roofline import RooflinePage
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.pages.traffic import TrafficPage
from flashscope.app.shell.main_window import MainWindow
from tests.app.fakes import PLAN, plan_started, sweep
from tests.app.pixels import pixels
from tests.app.rig import Rig, Save

CONTROL = Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton


def profile(window: MainWindow) -> ProfilePage:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    return page


def press(window: MainWindow, key: Qt.Key, modifier: Qt.KeyboardModifier = CONTROL) -> None:
    window.activateWindow()
    QTest.keyClick(window, key, modifier)


@pytest.mark.matrix  # it takes a second
def test_ctrl_1_to_5_lead_to_the_places_and_ctrl_6_to_9_to_the_views_that_had_them(
    window: MainWindow,
) -> None:
    reached = []
    for digit in "123456789":
        press(window, Qt.Key(ord(digit)))
        reached.append(window.view)
    first = [place.views[0].key for place in PLACES]
    assert reached == [*first, "traffic", "roofline", "claims", "ladder"]


def test_a_place_comes_back_with_the_view_that_it_showed_last(window: MainWindow) -> None:
    window.show_page("roofline")
    QTest.mouseClick(window.rail.button("learn"), LEFT)
    assert window.view == "claims"
    QTest.mouseClick(window.rail.button("measure"), LEFT)
    assert window.view == "roofline"
    assert window.rail.button("measure").isChecked()
    assert not window.rail.button("learn").isChecked()


@pytest.mark.matrix
def test_a_place_of_one_view_has_no_tabs_and_every_other_one_has_all_of_its_views(window: MainWindow) -> None:
    for place in PLACES:
        window.show_place(place.key)
        assert window.tabs.isVisible() is (len(place.views) > 1)
        assert window.tabs.keys == [view.key for view in place.views]
        shown = [window.tabs.tabText(i).replace("&&", "&") for i in range(window.tabs.count())]
        assert shown == [view.title for view in place.views]


@pytest.mark.matrix  # it takes a second or more
def test_every_view_is_marked_in_its_tabs_and_shown(window: MainWindow) -> None:
    for key, view in VIEWS.items():
        window.show_page(key)
        assert window.page.key == view.page_key
        assert window.tabs.keys[window.tabs.currentIndex()] == key


@pytest.mark.matrix
def test_a_letter_leads_to_a_view_of_the_page_in_front_and_nowhere_elsewhere(
    window: MainWindow,
) -> None:
    window.show_page("profile")
    press(window, Qt.Key.Key_R, Qt.KeyboardModifier.NoModifier)
    assert window.view == "results"
    press(window, Qt.Key.Key_T, Qt.KeyboardModifier.NoModifier)
    assert window.view == "telemetry"
    window.show_page("claims")
    press(window, Qt.Key.Key_T, Qt.KeyboardModifier.NoModifier)
    assert window.view == "claims"


@pytest.mark.matrix
def test_curves_have_the_page_and_the_telemetry_stands_under_them_while_something_runs(
    window: MainWindow, rig: Rig, save: Save, qtbot: QtBot
) -> None:
    rig.open(save(sweep(), "swept"))
    page = profile(window)
    assert window.view == "profile"
    assert page.plots.isVisible()
    assert not page.bottom.isVisible()
    rig.controller.run(PLAN)
    rig.say([plan_started()])
    assert page.plots.isVisible()
    qtbot.waitUntil(page.bottom.isVisible)  # in a turn of its own
    window.show_page("telemetry")
    assert not page.plots.isVisible()
    assert page.bottom.part == "telemetry"


def test_the_form_is_closed_over_a_recording_and_two_clicks_run_from_anywhere(
    window: MainWindow, rig: Rig, save: Save
) -> None:
    rig.open(save(sweep(), "swept"))
    page = profile(window)
    assert not page.form.isVisible()
    assert not window.top_bar.run.isVisible()
    window.show_page("claims")
    QTest.mouseClick(window.top_bar.new, LEFT)
    assert window.view == "profile"
    assert page.form.isVisible()
    assert not window.top_bar.new.isVisible()
    QTest.mouseClick(window.top_bar.run, LEFT)
    assert rig.engine.plans
    assert not page.form.isVisible(), "the form takes the room of what is measured"


@pytest.mark.parametrize(("view", "deleted", "over_time"), [("trash", True, False), ("trend", False, True)])
def test_the_library_its_trash_and_its_course_are_views_of_one_place(
    window: MainWindow, view: str, deleted: bool, over_time: bool
) -> None:
    page = window.pages["sessions"]
    assert isinstance(page, SessionsPage)
    window.show_page(view)
    assert window.page is page
    assert (page.deleted, page.over_time) == (deleted, over_time)
    window.show_page("sessions")
    assert (page.deleted, page.over_time) == (False, False)


@pytest.mark.matrix
def test_problems_chosen_in_one_view_are_on_show_in_every_other(
    window: MainWindow, rig: Rig, save: Save
) -> None:
    problems = tuple(
        replace(PLAN.problems[0], seqlen_q=n, seqlen_k=n, head_dim=d) for d in (64, 128) for n in (256, 512)
    )
    rig.open(save(sweep(plan=replace(PLAN, problems=problems)), "two heads"))
    page, roofline = profile(window), window.pages["roofline"]
    assert isinstance(roofline, RooflinePage)
    page._turns.finish()
    curves = list(page.plots._curves)
    shown = page.plots.curve
    assert shown is not None
    other = next(curve for curve in curves if curve != shown)
    window.show_page("roofline")
    page.plots.context.curves.activated.emit(curves.index(other))
    assert page.plots.curve == other
    assert roofline._curve == other
    page.plots.context.curves.activated.emit(curves.index(shown))
    assert roofline._curve == shown


@pytest.mark.matrix  # it takes a second
def test_kernels_hidden_in_one_view_are_hidden_in_every_other_and_counted_beside_the_tabs(
    window: MainWindow, rig: Rig, save: Save, qtbot: QtBot
) -> None:
    rig.open(save(sweep(), "swept"))
    page, roofline = profile(window), window.pages["roofline"]
    assert isinstance(roofline, RooflinePage)
    page._turns.finish()
    context = page.plots.context
    assert context.isVisible()
    assert context.kernels.text() == "2 of 2 kernels"
    context.menu().actions()[0].trigger()
    page._turns.finish()
    assert context.kernels.text() == "1 of 2 kernels"
    assert list(page.plots.kernels) == ["flash2"]
    with qtbot.waitSignal(roofline.drawn):
        window.show_page("roofline")
    assert set(roofline.card.legend.hidden) == {"standard"} & set(roofline.card.legend._buttons)
    rig.controller.hide_kernels((), ("standard", "flash2"))
    assert list(page.plots.kernels) == ["standard", "flash2"]
    window.show_page("claims")
    assert not context.isVisible(), "it speaks of a session that another place does not show"


@pytest.mark.matrix
def test_a_view_without_data_opens_a_recording_that_has_it_or_leads_to_a_sweep_that_measures_it(
    window: MainWindow, rig: Rig, save: Save, qtbot: QtBot
) -> None:
    rig.open(save(sweep(), "swept"))
    window.show_page("traffic")
    traffic, page = window.page, profile(window)
    assert isinstance(traffic, TrafficPage)
    window.trigger("profile.counted")
    assert window.view == "profile"
    assert page.form.isVisible()
    assert page.form.request().protocol.counters
    window.show_page("traffic")
    rig.opening(traffic.open_counted.click)
    assert window.view == "traffic"
    qtbot.waitUntil(lambda: bool(traffic.cards))


def press_again(window: MainWindow, at: QPointF) -> None:
    """The second press of a double click there, on whatever is there by then, and its release."""
    hit = window.childAt(at.toPoint())
    assert hit is not None
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    for kind, held in ((QEvent.Type.MouseButtonDblClick, left), (QEvent.Type.MouseButtonRelease, none)):
        place = QPointF(hit.mapFrom(window, at.toPoint()))
        event = QMouseEvent(kind, place, window.mapToGlobal(at), left, held, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(hit, event)


@pytest.mark.matrix
def test_a_double_click_on_new_sweep_opens_the_form_and_starts_nothing(window: MainWindow, rig: Rig) -> None:
    recording = counted_recording()
    assert recording is not None
    rig.open(recording)
    bar = window.top_bar
    at = QPointF(bar.new.mapTo(window, bar.new.rect().center()))
    QTest.mouseClick(bar.new, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert window.childAt(at.toPoint()) is bar.run
    press_again(window, at)
    assert not rig.controller.running
    QTest.mouseClick(bar.run, Qt.MouseButton.LeftButton)
    assert rig.controller.running


def test_the_arrows_beside_tabs_without_room_can_be_seen(rig: Rig, qtbot: QtBot) -> None:
    window = rig.window()
    window.appearance.zoom(250)
    window.resize(1280, 720)
    window.show_page("results")
    window.show()
    arrows = window.tabs.findChildren(QToolButton)
    qtbot.waitUntil(lambda: all(arrow.isVisible() for arrow in arrows), timeout=60_000)
    for arrow in arrows:
        middle, reach = arrow.rect().center(), arrow.width() // 4
        inner = QRect(middle.x() - reach, middle.y() - reach, 2 * reach, 2 * reach)
        assert len(set(pixels(arrow.grab(inner).toImage()).flat)) > 1, "nothing but its ground"


def test_a_place_with_one_view_goes_by_one_word_wherever_it_is_told_of() -> None:
    alone = [place for place in PLACES if len(place.views) == 1]
    assert alone
    assert [place.title for place in alone] == [place.views[0].title for place in alone]
