"""A Profile page over an engine that says only what a test scripts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.appearance import appearance_of
from flashscope.app.control.chores import wait_for_all
from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.plots.export.button import ExportButton
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.wire.events import Event
from tests.app.fakes import SilentEngine
from tests.app.rest import come_to_rest
from tests.app.rig import PatientBot


class NoRecorder:
    """Keeps nothing."""

    created = True

    def __init__(self, path: Path) -> None:
        self.path = path

    def record(self, event: Event) -> None: ...

    def catch_up(self) -> None: ...

    def close(self) -> None: ...


def make_controller(folder: Path) -> tuple[Controller, SilentEngine]:
    """A controller over an engine that says nothing of itself."""
    made: list[SilentEngine] = []

    def make(sink: Sink) -> SilentEngine:
        made.append(SilentEngine(sink))
        return made[0]

    controller = Controller(make, folder, NoRecorder)
    return controller, made[0]


def end(controller: Controller) -> None:
    """Close it, and delete it once Qt gets to that: what its signals call would hold its pages for good."""
    controller.close()
    controller.deleteLater()


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
        self.page._turns.finish()

    def settle(self) -> None:
        """Let every part have its turn in the event loop, and all be laid out and painted that is to be."""
        self.qtbot.waitUntil(lambda: self.page._turns.idle)
        come_to_rest(self.page)

    def sweep(self, events: Sequence[Event]) -> None:
        """The same, as a sweep that the page started."""
        self.page.run()
        self.tell(events)


def make_bench(qtbot: QtBot, folder: Path) -> Bench:
    """A page on show that has not been told of anything."""
    controller, engine = make_controller(folder)
    page = ProfilePage(controller, DARK)
    qtbot.addWidget(page)
    appearance = appearance_of()
    appearance.use(DARK)
    appearance.dress(page)
    page.resize(1200, 640)
    page.show()
    qtbot.waitExposed(page)
    return Bench(page, controller, engine, qtbot)


@pytest.fixture
def bench(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Bench]:
    made = make_bench(qtbot, tmp_path)
    yield made
    end(made.controller)


@pytest.fixture(scope="module")
def shared_bench(
    qapp: QApplication, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    """The same for those tests of a module that leave it as they find it."""
    made = make_bench(PatientBot(request), tmp_path_factory.mktemp("bench"))
    yield made
    made.page.close()
    made.page.deleteLater()
    end(made.controller)


def column_of(bench: Bench, title: str) -> int:
    """Where a column of the results table stands."""
    return [column.title for column in bench.page.bottom.table.results.columns].index(title)


def selected(page: ProfilePage) -> list[PointRow]:
    """The points whose rows are selected in the results table."""
    table = page.bottom.table
    indexes = table.selectionModel().selectedRows()
    return [table.results.row_at(table.proxy.mapToSource(index).row()) for index in indexes]


def marked(page: ProfilePage) -> list[PointRow]:
    """The points whose rows are marked in the results table, as they stand at the crosshair."""
    table = page.bottom.table
    rows = [table.results.row_at(k) for k in range(table.results.rowCount())]
    return [row for row in rows if row.point.index in table.marked]


def save(button: ExportButton, kind: str, path: Path) -> None:
    """Save a plot, and return once it is written or refused, and said."""
    button.exporter.save(kind, path)
    end_saving(button)


def copy(button: ExportButton) -> None:
    """Copy a plot, and return once it is on the clipboard, and said."""
    button.exporter.copy()
    end_saving(button)


def end_saving(button: ExportButton) -> None:
    """Return once what is being written is written or refused, and said."""
    wait_for_all(button)
    QCoreApplication.processEvents()
