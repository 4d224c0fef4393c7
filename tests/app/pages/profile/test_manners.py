"""Small things that one who uses the page relies on."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.chores import at_once
from flashscope.app.plots.export.picture import image
from flashscope.app.shell.start_up.run import keep_on_screen
from tests.app.bench import Bench, copy, marked, save, selected
from tests.profiles.sessions import make_plan, script

EVENTS = script(make_plan(("standard", "flash2"), (256, 512, 1024)))


@pytest.mark.matrix
def test_l_leaves_ratios_and_rates_linear(bench: Bench) -> None:
    bench.sweep(EVENTS)
    scales = [cell.plot.scale_name for cell in bench.page.plots.cells]
    assert scales == ["log2", "log10", "linear", "linear"]
    bench.page.plots.four.toggle_log()
    assert {cell.plot.scale_name for cell in bench.page.plots.cells} == {"linear"}
    bench.page.plots.four.toggle_log()
    assert [cell.plot.scale_name for cell in bench.page.plots.cells] == scales


@pytest.mark.matrix
def test_an_export_and_a_copy_are_told(bench: Bench, tmp_path: Path) -> None:
    bench.sweep(EVENTS)
    told: list[str] = []
    bench.page.noticed.connect(told.append)
    bench.page.copy_command_line()
    copy(bench.page.plots.cells[1].export_button)
    save(bench.page.plots.cells[1].export_button, "png", tmp_path / "runtime.png")
    assert told == [
        "The sweep is on the clipboard as a command line.",
        "The picture is on the clipboard: Runtime, ms · median, q1–q3.",
        "Exported Runtime, ms · median, q1–q3 to runtime.png.",
    ]


@pytest.mark.matrix
def test_an_exported_picture_has_no_crosshair(bench: Bench) -> None:
    bench.sweep(EVENTS)
    card = bench.page.plots.cells[1]
    made = card.make_export()
    assert made is not None
    with_it = at_once(image(made))
    card.plot.set_cursor_at(None)
    assert at_once(image(made)) == with_it
    card.plot.set_cursor_at(512)
    at_once(image(made))
    assert card.plot._cross.isVisible(), "it is back on the screen"


@pytest.mark.matrix
def test_ctrl_c_copies_the_selected_rows_with_their_headings(bench: Bench) -> None:
    bench.sweep(EVENTS)
    table = bench.page.bottom.table
    bench.page.plots.move_cursor(512)
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    titles, *rows = [line.split("\t") for line in QGuiApplication.clipboard().text().split("\n")]
    assert titles[:2] == ["kernel", "N"]
    assert [row[:2] for row in rows] == [["standard", "512"], ["flash2", "512"]]
    assert {len(row) for row in rows} == {len(titles)}


@pytest.mark.matrix
def test_the_rows_at_the_crosshair_are_marked_after_a_run_and_none_is_selected(bench: Bench) -> None:
    bench.sweep(EVENTS)
    assert bench.page.plots.seqlen is not None
    assert {row.seqlen for row in marked(bench.page)} == {bench.page.plots.seqlen}
    assert not selected(bench.page)


@pytest.mark.parametrize("place", [QPoint(0, 0), QPoint(3000, 2000)])
def test_a_window_larger_than_the_screen_opens_as_large_as_that(qtbot: QtBot, place: QPoint) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.setGeometry(QRect(place, window.screen().availableGeometry().size() * 2))
    keep_on_screen(window)
    assert window.screen().availableGeometry().contains(window.geometry())
