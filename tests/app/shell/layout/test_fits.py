"""At 1280 x 720 every page fits at every zoom: it scrolls up and down at most, and no text is cut off."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QScrollArea,
    QTableView,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import CAPTION_PX
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.registry import VIEWS
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.plots.sweep.quantity_chooser import QuantityChooser
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from flashscope.app.widgets.empty_view import EmptyView
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.widgets.scrolling import Scrolling
from tests.app.fakes import sweep
from tests.app.rest import come_to_rest
from tests.app.rig import Rig, Save
from tests.app.stepper.builders import random_trace
from tests.matrix import chosen

ZOOMS = (80, 100, 150, 200, 250)
SLACK = 2  # pixels that rounding takes
PADDING = 22  # of a heading, left and right


@pytest.fixture
def full(rig: Rig, save: Save) -> Iterator[MainWindow]:
    """A window with a session and a trace in it."""
    window = rig.window()
    window.resize(1280, 720)
    rig.open(save(sweep(), "a sweep of a usual name"))
    stepper = window.pages["stepper"]
    assert isinstance(stepper, StepperPage)
    stepper.show_trace(random_trace())
    yield window
    window.appearance.zoom(100)
    window.appearance.finish()


def texts(window: QWidget) -> list[QWidget]:
    """What shows a text that is neither broken into lines nor shortened."""
    labels = [one for one in window.findChildren(PlainLabel) if one.text() and not one.wordWrap()]
    alone = Qt.ToolButtonStyle.ToolButtonIconOnly
    buttons = [
        one
        for one in window.findChildren(QAbstractButton)
        if one.text() and not (isinstance(one, QToolButton) and one.toolButtonStyle() == alone)
    ]
    return [one for one in (*labels, *buttons) if one.isVisible()]


def is_cut(shown: QWidget) -> bool:
    if isinstance(shown, PlainLabel):
        least = shown.fontMetrics().size(0, shown.text())
    else:
        least = shown.minimumSizeHint() if isinstance(shown, QuantityChooser) else shown.sizeHint()
    return shown.width() + SLACK < least.width() or shown.height() + SLACK < least.height()


@pytest.mark.matrix
@pytest.mark.parametrize("percent", ZOOMS)
def test_no_page_scrolls_sideways_and_no_text_in_it_is_cut_off(
    full: MainWindow, percent: int, qtbot: QtBot
) -> None:
    full.appearance.zoom(percent)
    full.appearance.finish()
    wrong = []
    for key in VIEWS:
        full.show_page(key)
        come_to_rest(full.page)
        grab_whole(full)
        frame = full._frames[full.page.key]
        assert isinstance(frame, Scrolling)
        if frame.horizontalScrollBar().maximum():
            wrong.append(f"{key} scrolls by {frame.horizontalScrollBar().maximum()}")
        areas = [area for area in full.page.findChildren(QScrollArea) if area.isVisible()]
        wrong += [f"{key}: {a!r} scrolls" for a in areas if a.horizontalScrollBar().maximum()]
        wrong += [
            f"{key}: {one.accessibleName() or one!r} {one.size()}" for one in texts(full) if is_cut(one)
        ]
    badge = full.top_bar.badge
    if badge.width() < badge.sizeHint().width() / 2:
        wrong.append(f"the badge says {QLabel.text(badge)} of {badge.text()}")
    assert full.size().toTuple() == (1280, 720)
    assert not wrong, "\n".join(wrong)


@pytest.mark.matrix
def test_a_picture_of_a_page_has_room_for_texts_that_were_written_just_now(
    window: MainWindow, rig: Rig
) -> None:
    window.resize(1280, 720)
    rig.open(next(path for path in bundled_sessions() if path.stem == "h200-peers"))
    window.show_page("telemetry")
    grab_whole(window)
    cut = [one.text() for one in window.page.findChildren(PlainLabel) if one.isVisible() and is_cut(one)]
    assert cut == []


@pytest.mark.matrix
@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_no_heading_of_a_table_is_shortened(full: MainWindow, size: tuple[int, int]) -> None:
    full.resize(*size)
    metrics = QFontMetrics(ui_font(CAPTION_PX, bold=True))
    short = []
    for key in VIEWS:
        full.show_page(key)
        come_to_rest(full.page)
        for table in full.page.findChildren(QTableView):
            header, model = table.horizontalHeader(), table.model()
            for k in (k for k in range(header.count()) if not header.isSectionHidden(k)):
                title = str(model.headerData(k, Qt.Orientation.Horizontal))
                if header.sectionSize(k) < metrics.horizontalAdvance(title) + PADDING:
                    short.append(f"{key}: {title} has {header.sectionSize(k)} pixels")
    assert not short


@pytest.mark.matrix
def test_a_choice_without_room_ends_in_an_ellipsis_and_one_with_room_is_whole(full: MainWindow) -> None:
    page = full.pages["profile"]
    assert isinstance(page, ProfilePage)
    full.show_page("profile")
    page.open_form(True)
    box = page.device
    box.setItemText(
        box.currentIndex(),
        "CPU · a processor with a name that is as long as they are, and then as long again",
    )
    assert box.shown.startswith("CPU · a pro")
    assert box.shown.endswith("…")
    box.setItemText(box.currentIndex(), "CPU · short")
    QApplication.processEvents()
    assert box.shown == "CPU · short"


@chosen("percent", ZOOMS, {ZOOMS[-1]})
def test_a_short_badge_is_whole_beside_the_buttons_at_every_zoom(window: MainWindow, percent: int) -> None:
    window.resize(1280, 720)
    window.appearance.zoom(percent)
    window.appearance.finish()
    QApplication.processEvents()
    badge = window.top_bar.badge
    try:
        assert (QLabel.text(badge), badge.text()) == ("CPU", "CPU")
    finally:
        window.appearance.zoom(100)
        window.appearance.finish()


def test_a_view_with_nothing_to_show_is_no_higher_than_its_frame(window: MainWindow) -> None:
    window.pages.complete()
    window.resize(1280, 720)
    found = []
    for key in VIEWS:
        window.show_page(key)
        come_to_rest(window.page)
        grab_whole(window)
        if any(one.isVisible() for one in window.page.findChildren(EmptyView)):
            found.append(key)
            frame = window._frames[window.page.key]
            assert isinstance(frame, Scrolling)
            assert not frame.verticalScrollBar().maximum(), key
    assert {"ranks", "traffic"} <= {*found}
