"""A page with an engine that answers at once from the tests' own recorder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.control.actions import ActionRegistry
from app.control.controller import Controller
from app.look.appearance import appearance_of
from app.look.fonts import load_fonts
from app.look.theme import DARK
from app.pages.stepper import StepperPage
from kernels.problem import Backend
from kernels.trace import TraceRequest
from profiles.engine.contract import Sink
from profiles.plan.plan import Plan
from profiles.results.rest import Rest
from profiles.wire.events import RequestFailed, TraceReady
from tests.app.stepper.builders import build_trace


class BenchEngine:
    """Answers traces, and nothing else.

    Attributes:
        requests: Every trace asked for.
        refusal: When set, traces fail with this reason.
        silent: When set, traces are answered only when a test says so.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.requests: list[TraceRequest] = []
        self.refusal = ""
        self.silent = False

    def probe(self) -> None:
        pass

    def watch(self, backend: Backend) -> None:
        pass

    def run(self, plan: Plan, rest: Rest | None = None) -> None:
        pass

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass

    def trace(self, request: TraceRequest) -> None:
        self.requests.append(request)
        if not self.silent:
            self.answer(request)

    def answer(self, request: TraceRequest) -> None:
        """Answer a request now."""
        if self.refusal:
            self._sink(RequestFailed(request="trace", reason=self.refusal))
        else:
            self._sink(TraceReady(trace=build_trace(request)))


class Bench:
    """The page with what is around it."""

    def __init__(self, qtbot: QtBot, sessions_dir: Path) -> None:
        self.qtbot = qtbot
        self.controller = Controller(self._make_engine, sessions_dir)
        self.page = StepperPage(self.controller, DARK)
        self.registry = ActionRegistry(self.page)
        for action in self.page.actions_offered():
            self.page.addAction(self.registry.add(action))
        qtbot.addWidget(self.page)
        self.page.resize(1200, 646)

    def _make_engine(self, sink: Sink) -> BenchEngine:
        self.engine = BenchEngine(sink)
        return self.engine

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        self.qtbot.keyClick(self.page, key, modifier)  # type: ignore[no-untyped-call]  # pytest-qt types none

    def click(self, widget: QWidget) -> None:
        where, button = widget.rect().center(), Qt.MouseButton.LeftButton
        self.qtbot.mouseClick(widget, button, pos=where)  # type: ignore[no-untyped-call]  # as above

    def point_at(self, widget: QWidget) -> None:
        self.qtbot.mouseMove(widget, widget.rect().center())  # type: ignore[no-untyped-call]  # as above

    def show(self, preset: str | None = None) -> StepperPage:
        """Show the page, with a preset when one is named, and wait for the trace."""
        self.page.show()
        self.qtbot.waitUntil(lambda: self.page.story is not None)
        if preset is not None:
            before = self.page.story
            self.page.show_preset(preset)
            self.qtbot.waitUntil(lambda: self.page.story is not before)
        return self.page


@pytest.fixture
def bench(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Bench]:
    load_fonts()
    appearance_of().use(DARK)
    made = Bench(qtbot, tmp_path)
    yield made
    made.controller.close()
