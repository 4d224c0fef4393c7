"""Traces of backward passes: asked of the engine one at a time."""

from flashscope.app.control.inside.one_by_one import OneByOne
from flashscope.kernels.workload.backward_trace import BackwardTrace, BackwardTraceRequest
from flashscope.profiles.wire.events import BackwardTraceReady, Event


class BackwardTraces(OneByOne[BackwardTraceRequest]):
    """Asks for traces of backward passes in turn."""

    kind = "backward-trace"

    def _start(self, request: BackwardTraceRequest) -> None:
        self._engine().backward_trace(request)

    def _stop(self) -> None:
        """One is recorded in a moment; its answer is heard."""

    def _answer(self, event: Event) -> BackwardTrace | None:
        return event.trace if isinstance(event, BackwardTraceReady) else None
