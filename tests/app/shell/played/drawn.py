"""A window that shows a file on every page, sorted by every column."""

import sys
from pathlib import Path
from traceback import format_exception

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QTableView

from flashscope.app.pages.registry import VIEWS
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from tests.app.rig import Rig
from tests.limits import limited


def shown(window: MainWindow) -> None:
    """Paint every page, and sort the table by every column, each within the limits but for their making."""
    window.pages.complete()
    for key in VIEWS:
        with limited():
            window.show_page(key)
            grab_whole(window)
    for table in window.findChildren(QTableView):
        with limited():
            for column in range(table.model().columnCount()):
                table.sortByColumn(column, Qt.SortOrder.AscendingOrder)
    QApplication.processEvents()


def drawn_on_every_page(path: Path, rig: Rig, window: MainWindow) -> None:
    """Open a file that is a session, and show it."""
    with limited():
        rig.open(path)
    assert rig.controller.path == path, window.errors.text
    shown(window)


@pytest.fixture
def raised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What nothing has caught."""
    errors: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda *what: errors.append("".join(format_exception(*what))))
    return errors
