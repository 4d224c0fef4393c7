"""Another zoom: all of the window takes it at once, and the window stays as large as it is."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLineEdit,
    QListView,
    QScrollBar,
    QStyleOptionViewItem,
    QTableView,
    QTreeView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from flashscope.app.control.settings import SCALES, Settings
from flashscope.app.look.theme import CAPTION_PX, TEXT_PX
from flashscope.app.look.zoom import ZOOM
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.paint_turns import PaintTurns
from tests.app.fakes import sweep
from tests.app.rig import Rig, Save
from tests.app.stepper.builders import random_trace
from tests.matrix import chosen


def zoom(window: MainWindow, percent: int) -> None:
    window.appearance.zoom(percent)
    window.appearance.finish()


def looks(window: MainWindow) -> set[tuple[object, ...]]:
    """What a zoom changes, of every widget of a window but those that Qt makes or sizes by itself."""
    for key in window.pages:
        window.show_page(key)
        QApplication.processEvents()
        for turns in window.findChildren(PaintTurns):
            turns.finish()
    widgets = window.findChildren(QWidget)
    return {look(w) for w in widgets if not w.isWindow() and not is_of_qt(w)}


def is_of_qt(widget: QWidget) -> bool:
    return isinstance(widget, QScrollBar) or widget.objectName().startswith("qt_")


def look(widget: QWidget) -> tuple[object, ...]:
    least, most = widget.minimumSize().toTuple(), widget.maximumSize().toTuple()
    icon = widget.iconSize().toTuple() if isinstance(widget, QAbstractButton) else None
    name = widget.objectName() if isinstance(widget, QLabel) else widget.accessibleName()  # texts change
    return type(widget).__name__, name, widget.fontInfo().pixelSize(), least, most, icon


@pytest.fixture(autouse=True)
def at_100_again(window: MainWindow) -> Iterator[None]:
    yield
    zoom(window, 100)


def test_a_key_makes_everything_larger_at_once_and_the_next_window_is_so_too(
    window: MainWindow, qtbot: QtBot
) -> None:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    action = window.registry.find("scale.up")
    assert action is not None
    width = window.rail.width()
    with qtbot.waitSignal(window.appearance.changed):
        action.trigger()
    axis = page.plots.cells[0].plot.getAxis("left")
    assert QApplication.font().pixelSize() == round(TEXT_PX * 1.25)
    qtbot.waitUntil(lambda: axis.style["tickFont"].pixelSize() == round(CAPTION_PX * 1.25))
    assert window.rail.minimumWidth() == round(width * 1.25)
    assert Settings().scale == 125


@pytest.mark.matrix  # it takes seconds
def test_a_window_zoomed_live_is_like_one_that_is_opened_so(
    window: MainWindow, rig: Rig, qtbot: QtBot, save: Save
) -> None:
    path = save(sweep(), "swept")
    window.pages.complete()
    window.resize(1400, 900)
    rig.open(path)
    zoom(window, 200)
    live = looks(window)
    window.close_unasked()
    Settings().scale = 200
    other = Rig(qtbot)
    opened = other.window()
    opened.pages.complete()
    opened.resize(1400, 900)
    other.open(path)
    assert live == looks(opened)
    other.close()


@pytest.mark.matrix  # it takes seconds
def test_a_zoom_and_back_leaves_everything_as_it_was(window: MainWindow) -> None:
    before = looks(window)
    for percent in (250, 80, 100):
        zoom(window, percent)
    assert looks(window) == before


def row_heights(window: MainWindow) -> dict[str, int]:
    tables = window.findChildren(QTableView)
    return {table.accessibleName(): table.verticalHeader().defaultSectionSize() for table in tables}


@pytest.mark.matrix
def test_the_rows_of_every_table_grow_and_shrink_with_the_zoom(window: MainWindow) -> None:
    window.pages.complete()
    before = row_heights(window)
    assert {"Results, one row a point", "Saved sessions"} < set(before)
    for percent in (180, 250, 100):
        zoom(window, percent)
        expected = {name: round(height * percent / 100) for name, height in before.items()}
        assert row_heights(window) == expected, percent


@pytest.mark.matrix
def test_the_columns_of_the_results_grow_and_shrink_with_the_zoom(window: MainWindow) -> None:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    table = page.bottom.table
    resizable = range(len(table.results.columns) - 1)  # the last one takes what is left
    before = [table.columnWidth(column) for column in resizable]
    zoom(window, 250)
    for column, width in enumerate(before):
        assert table.columnWidth(column) == pytest.approx(2.5 * width, rel=0.05)
    zoom(window, 100)
    assert [table.columnWidth(column) for column in resizable] == before


@pytest.mark.matrix
@chosen("percent", SCALES, {250})
def test_a_window_keeps_its_size_at_every_zoom(window: MainWindow, percent: int) -> None:
    window.resize(1280, 720)
    zoom(window, percent)
    for key in window.pages:
        window.show_page(key)
        QApplication.processEvents()
        assert (window.width(), window.height()) == (1280, 720)


@pytest.mark.matrix
@chosen(
    "size, percent",
    [((1280, 720), 150), ((1280, 720), 200), ((1920, 1080), 200)],
    {((1280, 720), 200)},
)
def test_the_transport_stays_in_view_and_no_card_is_smaller_than_what_is_in_it(
    window: MainWindow, qtbot: QtBot, size: tuple[int, int], percent: int
) -> None:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    page.show_trace(random_trace(8))
    window.resize(*size)
    for key in (*window.pages, "sessions"):
        window.show_page(key)
        window.grab()
    zoom(window, percent)
    for key in ("start", "profile", "stepper"):
        window.show_page(key)
        qtbot.wait(300)
        window.grab()
    whole = page.visibleRegion().boundingRect()
    for control in (*page.transport.controls, page.transport.scrubber, page.transport.row):
        assert whole.contains(control.rect().translated(control.mapTo(page, QPoint(0, 0))))
    for panel in page.board.panels:
        card = panel.parentWidget()
        assert card is not None
        assert card.contentsRect().contains(panel.geometry()), panel.accessibleName()


def icon_sizes(window: MainWindow) -> dict[QWidget, int]:
    """Pixels of the icons of every button, and of those before the texts of every table and list."""
    found: dict[QWidget, int] = {}
    for widget in window.findChildren(QWidget):
        if isinstance(widget.parent(), QLineEdit):
            continue  # Qt gives the cross that clears a field the field's own height
        if isinstance(widget, QAbstractButton) and not widget.icon().isNull():
            found[widget] = widget.iconSize().width()
        elif isinstance(widget, QTableView | QListView | QTreeView):
            option = QStyleOptionViewItem()
            widget.initViewItemOption(option)
            found[widget] = option.decorationSize.width()
    return found


@pytest.mark.matrix
def test_icons_and_marks_grow_with_the_texts_beside_them(window: MainWindow, save: Save, rig: Rig) -> None:
    rig.open(save(sweep(), "swept"))
    looks(window)  # each page is made and shown
    before = icon_sizes(window)
    zoom(window, 200)
    for widget, size in icon_sizes(window).items():
        if widget in before:
            assert size == 2 * before[widget], (widget, widget.accessibleName())


@pytest.mark.matrix
@chosen("percent", [80, 125, 200], {200})
def test_the_transport_has_room_in_the_first_picture_after_the_window_became_narrow_on_another_page(
    window: MainWindow, percent: int
) -> None:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    window.show()
    window.resize(1280, 800)
    window.show_page("stepper")
    QApplication.processEvents()
    window.show_page("sessions")
    window.resize(600, 340)
    zoom(window, percent)
    window.show_page("stepper")
    for button in page.transport.buttons.values():
        assert button.width() >= button.minimumSizeHint().width()
    QApplication.processEvents()  # it is painted: Qt would warn of an icon of no size, and so fail the test


@pytest.mark.matrix  # each takes seconds
@pytest.mark.parametrize(("first", "then"), [(80, 250), (250, 80)])
def test_no_page_has_an_icon_without_room_while_a_zoom_is_half_done(
    window: MainWindow, first: int, then: int
) -> None:
    zoom(window, first)
    for key in window.pages:
        window.show_page(key)
        window.grab()
    window.appearance.zoom(then)
    while window.appearance.busy:
        window.appearance._step()
        for page in window.pages.values():
            page.grab()  # Qt would warn, and so fail the test
    assert pytest.approx(then / 100) == ZOOM.factor


@pytest.mark.matrix  # it takes seconds
def test_zooms_one_after_the_other_end_on_the_screen(
    window: MainWindow, qtbot: QtBot, save: Save, rig: Rig
) -> None:
    window.resize(1280, 800)
    rig.open(save(sweep(), "swept"))
    window.show_page("profile")
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    for percent in (125, 100):
        window.appearance.zoom(percent)
        window.appearance._step()
        window.windowHandle().requestUpdate()  # as whatever asks for a paint, such as a blinking cursor
        with qtbot.waitSignal(window.appearance.changed):
            pass
    qtbot.waitUntil(lambda: window.updatesEnabled() and page._turns.idle)
    qtbot.waitUntil(lambda: on_screen(window) == window.grab().toImage(), timeout=10_000)


def on_screen(window: MainWindow) -> QImage:
    """What is on the screen, not what the window would paint."""
    return window.screen().grabWindow(window.winId()).toImage()
