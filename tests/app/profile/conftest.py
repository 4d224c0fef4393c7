"""A Profile page over an engine that says only what a test scripts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.control.chores import wait_for_all
from app.control.controller import Controller
from app.look.appearance import appearance_of
from app.look.theme import DARK
from app.pages.profile import ProfilePage
from app.plots.export_button import ExportButton
from profiles.results.rows import PointRow
from profiles.wire.events import Event
from tests.app.profile.builders import SilentEngine, make_controller


@dataclass
class Bench:
    """The page, what it talks to, and a way to let the engine speak."""

    page: ProfilePage
    controller: Controller
    engine: SilentEngine
    qtbot: QtBot

    def tell(self, events: Sequence[Event]) -> None:
        """Push events as an engine does, and wait until the window has drawn them."""
        told: list[Event] = []
        self.controller.events_arrived.connect(told.extend)
        for event in events:
            self.engine.sink(event)
        self.qtbot.waitUntil(lambda: bool(told) and told[-1] is events[-1], timeout=60_000)
        self.controller.events_arrived.disconnect(told.extend)
        self.drawn()

    def drawn(self) -> None:
        """Let every part of the page have its turn."""
        self.page._staged.finish()

    def sweep(self, events: Sequence[Event]) -> None:
        """The same, as a sweep that the page started."""
        self.page.run()
        self.tell(events)


@pytest.fixture
def bench(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Bench]:
    controller, engine = make_controller(tmp_path)
    page = ProfilePage(controller, DARK)
    qtbot.addWidget(page)
    appearance = appearance_of()
    appearance.use(DARK)
    appearance.dress(page)
    page.resize(1200, 640)
    page.show()
    qtbot.waitExposed(page)
    yield Bench(page, controller, engine, qtbot)
    controller.close()


def column_of(bench: Bench, title: str) -> int:
    """Where a column of the results table stands."""
    return [column.title for column in bench.page.bottom.table.results.columns].index(title)


def selected(page: ProfilePage) -> list[PointRow]:
    """The points whose rows are selected in the results table."""
    table = page.bottom.table
    indexes = table.selectionModel().selectedRows()
    return [table.results.row_at(table.proxy.mapToSource(index).row()) for index in indexes]


def save(button: ExportButton, kind: str, path: Path) -> None:
    """Save a plot, and return once it is written or refused, and said."""
    button.save(kind, path)
    end_saving(button)


def copy(button: ExportButton) -> None:
    """Copy a plot, and return once it is on the clipboard, and said."""
    button.copy()
    end_saving(button)


def end_saving(button: ExportButton) -> None:
    """Return once what is being written is written or refused, and said."""
    wait_for_all(button)
    QCoreApplication.processEvents()
