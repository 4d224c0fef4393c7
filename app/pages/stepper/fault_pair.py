"""The trace on show and the same one with a fault: asks for what is missing, and compares the two."""

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from flashscope.app.stepper.comparison import FaultComparison, on_cpu
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import SteppedTrace
from flashscope.kernels.workload.trace import FAULTS, Fault, Trace, TraceRequest

KEPT = 16  # traces, so that going through the faults of an input records each once


class FaultPair(QObject):
    """Two traces of one input.

    Attributes:
        fault: What the broken one gets wrong.
        comparison: Both, None until they are there.

    Signals:
        wanted: A trace is missing (TraceRequest).
        changed: There is another comparison, or none.
    """

    wanted = Signal(object)
    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.fault: Fault = FAULTS[0]
        self.comparison: FaultComparison | None = None
        self._shown: Trace | None = None
        self._known: dict[TraceRequest, Trace] = {}
        self._right: SteppedTrace | None = None
        self._given = False  # whether the inputs of what is shown are handed on with it

    def show_story(self, story: SteppedTrace) -> None:
        """Compare this trace: as the right one, or as the broken one that it is."""
        trace = story.recording.trace
        if trace is self._shown:
            return
        self._given = False
        self._shown, self._right = trace, story if trace.request == on_cpu(trace) else None
        if trace.request.fault:
            self.fault = trace.request.fault
        self._known = {request: kept for request, kept in self._known.items() if self._is_of_input(request)}
        self._keep(trace)
        self._compare()

    def choose(self, fault: Fault) -> None:
        """Break it in another way."""
        if fault != self.fault:
            self.fault = fault
            self._compare()

    def take(self, trace: Trace) -> None:
        """Take a trace that was wanted."""
        if self._shown is not None and self._is_of_input(trace.request):
            self._keep(trace)
            self._compare()

    def ask(self) -> None:
        """Want what is missing: one trace at a time."""
        if self._shown is None or self.comparison is not None:
            return
        missing = [one for one in self._requests(self._shown) if one not in self._known]
        if missing:
            self.wanted.emit(missing[0])

    def _requests(self, shown: Trace) -> tuple[TraceRequest, TraceRequest]:
        """The right trace and the broken one."""
        right = on_cpu(shown)
        if self._given:
            of_head = replace(right.shown, dtype="float32")  # inputs are given for one head
            right = replace(right, problem=of_head, head=0, inputs=(shown.q, shown.k, shown.v))
        return right, replace(right, fault=self.fault)

    def _compare(self) -> None:
        self.comparison = None
        if self._shown is not None:
            plain, broken = map(self._known.get, self._requests(self._shown))
            if plain is not None and broken is not None:
                self._take_both(plain, broken)
        self.changed.emit()
        self.ask()

    def _take_both(self, plain: Trace, broken: Trace) -> None:
        """Compare them, if they are of the same inputs: a file's may be other than its seed draws here."""
        if (plain.q, plain.k, plain.v) != (broken.q, broken.k, broken.v):
            self._given, self._right = True, None
            return
        self._right = self._right or SteppedTrace.of(Recording.of(plain))
        self.comparison = FaultComparison.of(self._right, broken)

    def _keep(self, trace: Trace) -> None:
        self._known[trace.request] = trace
        while len(self._known) > KEPT:
            del self._known[next(iter(self._known))]

    def _is_of_input(self, request: TraceRequest) -> bool:
        return self._shown is not None and replace(request, fault="") == self._requests(self._shown)[0]
