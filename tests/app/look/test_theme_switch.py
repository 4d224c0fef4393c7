"""A switch of the theme: in several turns of the event loop, and never half of it in view."""

from collections import Counter

import pytest
from PySide6.QtCore import QCoreApplication, QObject, QTimer
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.chores import wait_for_all
from flashscope.app.look.stylesheet import stylesheet
from flashscope.app.look.theme import CONTRAST, DARK, LIGHT, Theme
from flashscope.app.look.zoom import scaled
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.registry import VIEWS
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.badge import Badge
from flashscope.app.widgets.split import Split
from tests.app.fakes import PLAN, plan_started
from tests.app.rig import Rig
from tests.matrix import chosen

MOST_WIDGETS = 320  # that take a stylesheet in one step: the form is the largest


@pytest.fixture
def switches(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, QWidget, str]]:
    """Every stylesheet that a part gets from now on, with the turn of the event loop in which it does."""
    window.appearance.use(DARK)
    turns = [0]
    timer = QTimer(window, interval=0)
    timer.timeout.connect(lambda: turns.append(turns.pop() + 1))
    timer.start()
    made: list[tuple[int, QWidget, str]] = []
    dress = QWidget.setStyleSheet

    def counting(part: QWidget, sheet: str) -> None:
        seen = window.updatesEnabled() and part.isVisible()
        assert not seen, "a window in neither theme would be painted"
        made.append((turns[0], part, sheet))
        dress(part, sheet)

    monkeypatch.setattr(QWidget, "setStyleSheet", counting)
    return made


def colours(window: MainWindow) -> Counter[tuple[str, str, str, str]]:
    """What colours the widgets of a window have, by class and role of the stylesheet."""
    return Counter(
        (type(one).__name__, str(one.property("role")), _name(one.palette().text().color()), _background(one))
        for one in window.findChildren(QWidget)
    )


def _background(widget: QWidget) -> str:
    return _name(widget.palette().color(widget.backgroundRole()))


def _name(colour: QColor) -> str:
    return colour.name(QColor.NameFormat.HexArgb)


def test_a_switch_dresses_part_after_part_in_several_turns(
    window: MainWindow, qtbot: QtBot, switches: list[tuple[int, QWidget, str]]
) -> None:
    window.appearance.choose("light")
    assert switches == []
    with qtbot.waitSignal(window.appearance.changed):
        pass
    qtbot.waitUntil(window.updatesEnabled)
    assert len({turn for turn, _part, _sheet in switches}) > 2
    assert {sheet for _turn, part, sheet in switches if not isinstance(part, Badge)} == {stylesheet(LIGHT)}
    assert window.palette().window().color().name() == LIGHT.bg.lower()


@pytest.mark.matrix
def test_what_is_hidden_follows_after_what_is_seen_and_at_once_when_it_is_shown(
    window: MainWindow, qtbot: QtBot
) -> None:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    window.pages.make("stepper")
    hidden = window._frames["stepper"]
    window.appearance.use(DARK)
    window.show()
    window.appearance.choose("light")
    with qtbot.waitSignal(window.appearance.changed):
        pass
    assert window.rail.styleSheet() == stylesheet(LIGHT)
    assert page.plots.styleSheet() == hidden.styleSheet() == stylesheet(DARK)
    window.show_page("profile")
    assert page.plots.styleSheet() == stylesheet(LIGHT)
    assert hidden.styleSheet() == stylesheet(DARK)
    window.appearance.finish()
    assert hidden.styleSheet() == stylesheet(LIGHT)


@pytest.mark.matrix
def test_a_switch_takes_over_what_the_one_before_it_has_not_reached(window: MainWindow, qtbot: QtBot) -> None:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    window.appearance.use(DARK)
    window.show()
    window.appearance.zoom(125)
    with qtbot.waitSignal(window.appearance.changed):
        pass
    window.appearance.choose("light")
    window.appearance.finish()
    assert page.form.styleSheet() == window.rail.styleSheet() == scaled(stylesheet(LIGHT))
    window.appearance.zoom(100)
    window.appearance.finish()
    assert page.form.styleSheet() == stylesheet(LIGHT)


@pytest.mark.matrix  # it takes seconds
def test_no_part_is_so_large_that_it_would_hold_the_window_up(
    window: MainWindow, request: pytest.FixtureRequest
) -> None:
    for key in VIEWS:
        window.show_page(key)
        window.grab()
    wait_for_all(window)  # what pages read
    QCoreApplication.processEvents()
    switches = request.getfixturevalue("switches")
    window.appearance.use(LIGHT)
    assert max(len(part.findChildren(QWidget)) for _turn, part, _sheet in switches) < MOST_WIDGETS


@pytest.mark.matrix
def test_another_choice_in_the_middle_of_a_switch_is_the_one_that_is_seen(
    window: MainWindow, qtbot: QtBot, switches: list[tuple[int, QWidget, str]]
) -> None:
    window.appearance.choose("light")
    window.appearance.choose("contrast")
    qtbot.waitUntil(window.updatesEnabled)
    qtbot.waitUntil(lambda: bool(switches) and switches[-1][2] == stylesheet(CONTRAST))
    assert window.appearance.theme is CONTRAST


@chosen("theme", [LIGHT, CONTRAST], [LIGHT])
def test_a_window_switched_live_has_the_colours_of_one_opened_so(
    window: MainWindow, qtbot: QtBot, theme: Theme
) -> None:
    window.appearance.use(theme)
    window.appearance.use(DARK)
    before = colours(window)
    window.appearance.use(theme)
    assert colours(window) != before
    window.appearance.use(DARK)
    assert colours(window) == before


@pytest.mark.matrix  # it takes seconds
def test_switches_leave_no_objects_behind(window: MainWindow) -> None:
    def count() -> Counter[str]:
        return Counter(one.metaObject().className() for one in window.findChildren(QObject))

    for key in VIEWS:
        window.show_page(key)
        window.grab()
    window.appearance.use(LIGHT)
    window.appearance.use(DARK)
    before = count()
    for theme in (LIGHT, DARK, CONTRAST, DARK):
        window.appearance.use(theme)
    assert count() - before == Counter()


def test_a_dialog_of_the_window_is_in_the_theme_of_the_window_also_after_a_switch(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.appearance.use(DARK)
    window.show()
    box = QMessageBox(QMessageBox.Icon.Question, "Flashscope", "Close?", parent=window)
    qtbot.addWidget(box)
    box.open()
    assert box.styleSheet() == stylesheet(DARK)
    window.appearance.use(LIGHT)
    assert box.styleSheet() == stylesheet(LIGHT)
    assert box.grab().toImage().pixelColor(1, 1) == QColor(LIGHT.bg)


@pytest.mark.matrix
def test_the_line_above_the_telemetry_has_the_themes_colour(window: MainWindow, rig: Rig) -> None:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    split = page.findChild(Split)
    assert split is not None
    rig.controller.run(PLAN)
    rig.say([plan_started()])  # it stands under the curves while something runs
    window.show_page("profile")
    window.resize(1280, 800)
    for theme in (DARK, LIGHT):
        window.appearance.use(theme)
        line = split.handle(1)
        drawn = window.grab().toImage()
        place = line.mapTo(window, line.contentsRect().center())
        assert drawn.pixelColor(place) == QColor(theme.line)
