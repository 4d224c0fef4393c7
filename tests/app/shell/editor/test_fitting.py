"""The editor fits a small screen at every zoom, and shows names of any length."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication, QScrollArea

from flashscope.app.shell.editor.window import StoryEditor
from flashscope.app.shell.main_window import MainWindow
from tests.app.shell.layout.test_fits import ZOOMS, is_cut, texts
from tests.matrix import chosen

LONG = "a name that is as long as names can be, and then some more " * 1


@pytest.fixture
def zoomed(editor: StoryEditor, window: MainWindow) -> Iterator[StoryEditor]:
    stop = editor.desk.draft.stop
    assert stop is not None
    long = replace(stop, title=LONG, kernels=tuple(f"kernel-{n}" for n in range(30)), sentence=LONG * 20)
    editor.desk.edit(editor.desk.draft.changed(long).titled(LONG))
    yield editor
    window.appearance.zoom(100)
    window.appearance.finish()


@chosen("percent", ZOOMS, {100})
def test_nothing_scrolls_sideways_and_no_text_is_cut_off(
    zoomed: StoryEditor, window: MainWindow, percent: int
) -> None:
    window.appearance.zoom(percent)
    window.appearance.finish()
    for empty in (False, True):
        if empty:
            zoomed.desk.begin()
        zoomed.resize(1280, 720)
        QApplication.processEvents()
        zoomed.grab()
        QApplication.processEvents()
        assert zoomed.size().toTuple() == (1280, 720)
        areas = [area for area in zoomed.findChildren(QScrollArea) if area.isVisible()]
        assert not [area for area in areas if area.horizontalScrollBar().maximum()]
        assert not [(one.accessibleName() or repr(one), one.size()) for one in texts(zoomed) if is_cut(one)]
