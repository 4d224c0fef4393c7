"""Asks the controller for traces: one at a time, the last one asked for, on the GPU after the sweep."""

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.controller import Controller
from flashscope.kernels.workload.trace import Trace, TraceRequest


class Tracing(QObject):
    """The trace that the user waits for.

    While another trace is being recorded the next one waits for its turn; only the last one asked for does.
    A mode may want another one beside it, on the CPU, once that is there.

    Attributes:
        wanted: What the user waits for, None when it has come.
        beside: What a mode wants beside what is on show, None when it has come.

    Signals:
        begun: It is being recorded now.
        held_back: It needs the GPU and is recorded once the sweep has ended.
        recorded: It is there (Trace).
        failed: It could not be recorded; the controller has told why.
        recorded_beside: What a mode wanted is there (Trace), or could not be recorded (None).
    """

    begun = Signal()
    held_back = Signal()
    recorded = Signal(object)
    failed = Signal()
    recorded_beside = Signal(object)

    def __init__(self, controller: Controller, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.wanted: TraceRequest | None = None
        self.beside: TraceRequest | None = None
        self._controller = controller
        self._asked: TraceRequest | None = None  # what the engine records
        self._asked_beside = False  # whether that is for beside what is on show
        self._dropped: TraceRequest | None = None  # what is recorded and wanted no more
        controller.trace_ready.connect(self._take)
        controller.trace_failed.connect(self._take_failure)
        controller.running_changed.connect(self._go_on)
        controller.devices.moved.connect(self._ask_anew)

    @property
    def waits_for_sweep(self) -> bool:
        """Whether what is wanted waits for the end of the sweep."""
        return self.wanted is not None and self.wanted != self._asked and self._is_held(self.wanted)

    def ask(self, request: TraceRequest) -> None:
        """Want this trace from now on, and nothing beside it; `recorded` or `failed` follows."""
        self.wanted, self.beside = request, None
        if self._is_held(request):
            self.held_back.emit()
            return
        self.begun.emit()
        if self._asked is None:
            self._send(request)

    def drop(self) -> None:
        """Want nothing any more; what is being recorded is not shown."""
        self._dropped, self.wanted, self.beside = self._asked, None, None

    def ask_beside(self, request: TraceRequest) -> None:
        """Want this trace beside the one on show; `recorded_beside` follows, unless another is asked for."""
        self.beside = request
        self._go_on()

    def _is_held(self, request: TraceRequest) -> bool:
        return request.backend == "cuda" and self._controller.measuring

    def _send(self, request: TraceRequest, *, beside: bool = False) -> None:
        self._asked, self._asked_beside = request, beside
        self._controller.request_trace(request)

    def _go_on(self) -> None:
        """Ask for what is still wanted, where nothing is in its way."""
        if self._asked is not None:
            return
        beside = self.beside
        if self.wanted is not None:
            self.ask(self.wanted)
            self.beside = beside
        if beside is not None and self._asked is None:
            self._send(beside, beside=True)

    def _ask_anew(self) -> None:
        """Whoever was asked is in use no more and answers nobody: ask what is in use now."""
        self._asked = self._dropped = None
        self._asked_beside = False
        self._go_on()

    def _take(self, trace: Trace) -> None:
        beside, self._asked = self._asked_beside and self._asked is not None, None
        dropped, self._dropped = self._dropped, None
        unasked = self.wanted is None and not beside and not trace.request.fault
        unasked = unasked and not (dropped is not None and dropped.asks_for(trace.request))
        if unasked or (self.wanted is not None and self.wanted.asks_for(trace.request)):
            self.wanted = None
            self.recorded.emit(trace)
        elif beside and self.beside is not None and self.beside.asks_for(trace.request):
            self.beside = None
            self.recorded_beside.emit(trace)
        self._go_on()

    def _take_failure(self) -> None:
        asked, self._asked = self._asked, None
        if asked == self.wanted:
            self.wanted = None
            self.failed.emit()
        elif self._asked_beside and asked == self.beside:
            self.beside = None
            self.recorded_beside.emit(None)
        self._go_on()
