"""Asks the controller for traces: one at a time, the last one asked for, on the GPU after the sweep."""

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.controller import Controller
from flashscope.kernels.workload.trace import Trace, TraceRequest


class Tracing(QObject):
    """The trace that the user waits for.

    While another trace is being recorded the next one waits for its turn; only the last one asked for does.

    Attributes:
        wanted: What the user waits for, None when it has come.

    Signals:
        begun: It is being recorded now.
        held_back: It needs the GPU and is recorded once the sweep has ended.
        recorded: It is there (Trace).
        recorded_beside: What `ask_beside` asked for last is there (Trace).
        failed_beside: That could not be recorded.
        failed: It could not be recorded; the controller has told why.
    """

    begun = Signal()
    held_back = Signal()
    recorded = Signal(object)
    recorded_beside = Signal(object)
    failed_beside = Signal()
    failed = Signal()

    def __init__(self, controller: Controller, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.wanted: TraceRequest | None = None
        self._beside: TraceRequest | None = None  # wanted beside what is on show
        self._controller = controller
        self._asked: TraceRequest | None = None  # what the engine records
        controller.trace_ready.connect(self._take)
        controller.trace_failed.connect(self._take_failure)
        controller.running_changed.connect(self._go_on)

    @property
    def waits_for_sweep(self) -> bool:
        """Whether what is wanted waits for the end of the sweep."""
        return self.wanted is not None and self.wanted != self._asked and self._is_held(self.wanted)

    def ask(self, request: TraceRequest) -> None:
        """Want this trace from now on; `recorded` or `failed` follows."""
        self.wanted = request
        if self._is_held(request):
            self.held_back.emit()
            return
        self.begun.emit()
        if self._asked is None:
            self._send(request)

    def ask_beside(self, request: TraceRequest) -> None:
        """Want a trace beside the one on show, on the CPU, once nothing else is being recorded."""
        self._beside = request
        self._go_on()

    def _is_held(self, request: TraceRequest) -> bool:
        return request.backend == "cuda" and self._controller.measuring

    def _send(self, request: TraceRequest) -> None:
        self._asked = request
        self._controller.request_trace(request)

    def _go_on(self) -> None:
        """Ask for what is still wanted, where nothing is in its way."""
        if self._asked is not None:
            return
        if self.wanted is not None:
            self.ask(self.wanted)
        if self._beside is not None and self._asked is None:
            self._send(self._beside)

    def _take(self, trace: Trace) -> None:
        asked, self._asked = self._asked, None
        unasked = asked is None and self.wanted is None
        if asked is not None and trace.request == asked == self._beside:
            self._beside = None
            self.recorded_beside.emit(trace)
        elif trace.request == self.wanted or (unasked and not trace.request.fault):
            self.wanted = None
            self.recorded.emit(trace)
        self._go_on()

    def _take_failure(self) -> None:
        asked, self._asked = self._asked, None
        if asked is not None and asked == self._beside:
            self._beside = None
            self.failed_beside.emit()
        elif asked == self.wanted:
            self.wanted = None
            self.failed.emit()
        self._go_on()
