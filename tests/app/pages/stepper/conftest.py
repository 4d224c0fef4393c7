"""A page with an engine that answers at once from the tests' own recorder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.actions import ActionRegistry
from flashscope.app.control.appearance import appearance_of
from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK
from flashscope.app.pages.stepper import StepperPage
from flashscope.kernels.cpu.backward_trace import record as record_backward
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.wire.events import BackwardTraceReady, RequestFailed, TraceReady
from tests.app.bench import end
from tests.app.fakes import SilentEngine
from tests.app.stepper.builders import build_trace


class BenchEngine(SilentEngine):
    """Answers traces, and nothing else.

    Attributes:
        requests: Every trace asked for.
        backwards: Every trace of a backward pass asked for.
        refusal: When set, traces fail with this reason.
        silent: When set, traces are answered only when a test says so.
        real: When set, traces are those of the CPU backend; a fault is always traced there.
    """

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self.requests: list[TraceRequest] = []
        self.backwards: list[BackwardTraceRequest] = []
        self.refusal = ""
        self.silent = False
        self.real = False

    def trace(self, request: TraceRequest) -> None:
        self.requests.append(request)
        if not self.silent:
            self.answer(request)

    def backward_trace(self, request: BackwardTraceRequest) -> None:
        self.backwards.append(request)
        if not self.silent:
            self.answer_backward(request)

    def answer_backward(self, request: BackwardTraceRequest) -> None:
        """Answer a request of a backward pass now."""
        try:
            trace = record_backward(replace(request, backend="cpu"))
        except (InputError, UnsupportedError) as error:
            self.sink(RequestFailed(request="backward-trace", reason=str(error)))
        else:
            self.sink(BackwardTraceReady(trace=replace(trace, request=request)))

    def answer(self, request: TraceRequest) -> None:
        """Answer a request now."""
        if self.refusal:
            self.sink(RequestFailed(request="trace", reason=self.refusal))
            return
        recorder = record if self.real or request.fault else build_trace
        try:
            trace = recorder(request)
        except InputError as error:  # what a hostile file asks for
            self.sink(RequestFailed(request="trace", reason=str(error)))
        else:
            self.sink(TraceReady(trace=trace))


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
    appearance_of().use(DARK)
    made = Bench(qtbot, tmp_path)
    yield made
    end(made.controller)
