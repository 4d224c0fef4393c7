"""Stall profiles: asked of the engine one at a time."""

from flashscope.app.control.inside.one_by_one import OneByOne
from flashscope.kernels.workload.stalls import StallProfile, StallRequest
from flashscope.profiles.wire.events import Event, StallsProgress, StallsReady


class Stalls(OneByOne[StallRequest]):
    """Asks for stall profiles in turn."""

    kind, progress = "stalls", StallsProgress

    def _start(self, request: StallRequest) -> None:
        self._engine().stalls(request)

    def _stop(self) -> None:
        self._engine().give_up_stalls()

    def _answer(self, event: Event) -> StallProfile | None:
        return event.profile if isinstance(event, StallsReady) else None
