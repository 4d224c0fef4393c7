"""The Timeline page in front, over timelines whose bars are known."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.chores import wait_for_all
from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK
from flashscope.app.pages.timeline import TimelinePage
from flashscope.app.pages.timeline.card import LanesCard
from flashscope.kernels.workload.timeline import StageTimeline
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.wire.events import TimelineReady
from tests.app.bench import NoRecorder, end
from tests.app.fakes import SilentEngine


class Shown:
    """The page in front, and what is around it."""

    def __init__(self, controller: Controller, engine: SilentEngine, qtbot: QtBot) -> None:
        self.controller, self.engine, self.qtbot = controller, engine, qtbot
        self.page = TimelinePage(controller, DARK)
        qtbot.addWidget(self.page)
        self.page.resize(1000, 640)
        self.page.show()
        qtbot.waitExposed(self.page)

    def say(self, *timelines: StageTimeline) -> None:
        """Have these recorded, and drawn."""
        for one in timelines:
            with self.qtbot.waitSignal(self.page.lineup.changed):
                self.controller.timelines.take(TimelineReady(timeline=one))
        self.qtbot.waitUntil(lambda: len(self.page.lineup.drawn) == len(self.page.lineup.chosen))
        QApplication.processEvents()

    def place_of(self, bar: int, card: int = 0) -> tuple[LanesCard, QPoint]:
        """The middle of a bar on its plot."""
        shown = self.page.cards[card]
        box = shown.plot._item.box_of(bar)
        return shown, shown.plot.mapFromScene(shown.plot.box.mapViewToScene(box.center()))

    def point_at(self, bar: int, card: int = 0) -> None:
        shown, place = self.place_of(bar, card)
        shown.plot._point(QPointF(shown.plot.mapToScene(place)))

    def click(self, bar: int, card: int = 0) -> None:
        shown, place = self.place_of(bar, card)
        QTest.mouseClick(shown.plot.viewport(), Qt.MouseButton.LeftButton, pos=place)

    def wheel_with_shift(self, notches: int) -> None:
        """Turn the wheel over the middle of the first plot while Shift is held."""
        keys, view = Qt.KeyboardModifier.ShiftModifier, self.page.cards[0].plot.viewport()
        place = QPointF(view.rect().center())
        turned, none = QPoint(0, 120 * notches), Qt.MouseButton.NoButton
        there = QPointF(view.mapToGlobal(place))
        phase = Qt.ScrollPhase.NoScrollPhase
        QApplication.sendEvent(view, QWheelEvent(place, there, QPoint(), turned, none, keys, phase, False))


@pytest.fixture
def shown(qtbot: QtBot, tmp_path: Path, qapp: QApplication) -> Iterator[Shown]:
    made: list[SilentEngine] = []

    def make(sink: Sink) -> SilentEngine:
        made.append(SilentEngine(sink))
        return made[0]

    controller = Controller(make, tmp_path, NoRecorder)
    front = Shown(controller, made[0], qtbot)
    yield front
    wait_for_all(front.page)
    end(controller)
