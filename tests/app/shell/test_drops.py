"""A file that is dragged over the window: where it lands is framed, and words say what will happen."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QWidget

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.pages.compare import ComparePage
from flashscope.app.pages.registry import VIEWS
from flashscope.app.plots.style import Plot
from flashscope.app.shell.connect_dialog import ConnectDialog
from flashscope.app.shell.drops import CONNECT
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import find_story
from tests.app.mouse import carry, carry_away, drop
from tests.app.rig import Rig

RECORDING, *OTHERS = bundled_sessions()[:3]


def framed(window: MainWindow) -> QRect:
    assert window.drops.sheet.isVisible()
    return window.drops.sheet.geometry()


def place_of(window: MainWindow, widget: QWidget) -> QRect:
    return widget.rect().translated(widget.mapTo(window, QPoint()))


def test_a_recording_over_the_window_is_said_to_be_opened_until_it_leaves(window: MainWindow) -> None:
    assert carry(window, [RECORDING])
    assert window.drops.sheet.words.text() == "Open this recording"
    assert framed(window) == place_of(window, window.stack)
    carry_away(window)
    assert not window.drops.sheet.isVisible()


def test_a_recording_that_is_dropped_is_opened_and_the_words_go(window: MainWindow, rig: Rig) -> None:
    carry(window, [RECORDING])
    rig.opening(lambda: drop(window, [RECORDING]))
    assert rig.controller.path == RECORDING
    assert not window.drops.sheet.isVisible()


@pytest.mark.matrix
def test_over_the_comparison_a_recording_is_said_to_join_it_and_does(window: MainWindow) -> None:
    window.show_page("compare")
    page = window.page
    assert isinstance(page, ComparePage)
    page.lineup.choose([RECORDING])
    assert carry(window, OTHERS)
    assert window.drops.sheet.words.text().startswith("Compare with h200-standard-flash2")
    assert framed(window) == place_of(window, page) & place_of(window, window.stack)
    drop(window, OTHERS)
    assert len(page.lineup.paths) == 3


@pytest.mark.matrix
def test_a_story_is_said_to_be_opened_and_is_where_it_is_edited(window: MainWindow) -> None:
    story = Path(find_story("why-tiling-wins"))
    assert carry(window, [story])
    assert window.drops.sheet.words.text() == "Open this story, to edit and present it"
    drop(window, [story])
    assert window.writing.editor.isVisible()


def test_a_connection_file_is_named_in_the_dialog_that_connects_and_nothing_is_reached_before_it_is_asked_to(
    window: MainWindow,
) -> None:
    file = Path("/nowhere/lab.connection")
    assert carry(window, [file])
    assert window.drops.sheet.words.text() == CONNECT
    drop(window, [file])
    (dialog,) = (one for one in window.findChildren(ConnectDialog) if one.isVisible())
    assert dialog.field.text() == str(file)
    assert dialog.connect_button.isEnabled()
    assert window.controller.devices.dialling == ""


def test_several_recordings_are_compared(window: MainWindow) -> None:
    assert carry(window, [RECORDING, *OTHERS])
    assert window.drops.sheet.words.text() == "Compare these 3 recordings"
    drop(window, [RECORDING, *OTHERS])
    assert window.page.key == "compare"


@pytest.mark.parametrize("name", ["notes.txt", "a folder"])
def test_what_cannot_be_opened_is_told_before_it_is_dropped_and_after(window: MainWindow, name: str) -> None:
    assert not carry(window, [Path(name)])
    words = window.drops.sheet.words.text()
    assert words.startswith(f"{name} cannot be opened. Drop a recording (.flashscope), a story (.toml)")
    drop(window, [Path(name)])
    assert window.errors.text == words


@pytest.mark.matrix
def test_a_full_comparison_says_that_it_is_full(window: MainWindow, tmp_path: Path) -> None:
    window.show_page("compare")
    page = window.page
    assert isinstance(page, ComparePage)
    page.lineup.choose([tmp_path / f"{k}.flashscope" for k in range(6)])
    assert not carry(window, [RECORDING])
    assert window.drops.sheet.words.text() == "Up to 6 sessions can be compared: take one away first."


@pytest.mark.matrix
def test_no_plot_keeps_a_drop_from_the_window(window: MainWindow, rig: Rig) -> None:
    rig.open(RECORDING)
    for key in VIEWS:
        window.show_page(key)
    plots = window.findChildren(Plot)
    assert plots
    assert not [plot for plot in plots if plot.acceptDrops() or plot.viewport().acceptDrops()]
