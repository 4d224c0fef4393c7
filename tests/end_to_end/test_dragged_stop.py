"""A stop of a story is dragged to another place on a display: Qt drags nothing without one."""

from pathlib import Path

import pytest

from tests.end_to_end import program
from tests.virtual_display import virtual_display

PATIENCE_S = 120
DRAGGING = """
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from flashscope.app.shell.editor.stop_list import StopEntry, StopList

app = QApplication([])
stops = StopList()
stops.show_entries([StopEntry(n, f"title {n}", "", None, "", False) for n in range(1, 5)], 2)
stops.moved.connect(lambda source, place: (print(source, place, flush=True), app.quit()))
stops.resize(400, 400)
stops.show()

def drag():
    window, left, none = stops.windowHandle(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    at = lambda row, below: stops.viewport().mapTo(
        stops, stops.visualRect(stops.entries.index(row)).topLeft() + QPoint(60, below)
    )
    begin, end = at(2, 40), at(0, 12)
    QTest.mousePress(window, left, none, begin)
    for step in range(1, 6):
        there = begin + (end - begin) * step / 5
        QTimer.singleShot(60 * step, lambda there=there: QTest.mouseMove(window, there))
    QTimer.singleShot(500, lambda: QTest.mouseRelease(window, left, none, end))
    QTest.mouseMove(window, begin - QPoint(0, 15))

QTimer.singleShot(500, drag)
QTimer.singleShot(60_000, app.quit)
app.exec()
"""


@pytest.mark.xvfb
def test_a_stop_that_is_dropped_before_the_first_is_the_first(tmp_path: Path) -> None:
    script = tmp_path / "dragging.py"
    script.write_text(DRAGGING)
    with virtual_display() as display:
        options = {"DISPLAY": display.name, "PYTHONPATH": program.PYTHONPATH, "QT_QPA_PLATFORM": "xcb"}
        with program.started(home=tmp_path, script=script, **options) as process:
            said, wrong = process.communicate(timeout=PATIENCE_S)
    assert said == "2 0\n", wrong
