"""When a run fails on stage, the recording of a GPU stands in for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeGuard

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.control.controller import Controller
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import Event, PlanFinished, PlanStarted, PointFailed

FALL_BACK = "Press R for the bundled recording."
NONE_FAILED = "No run failed that this stop shows."
LOST = frozenset({"failed", "timeout"})


class Fallback(QObject):
    """Watches what runs.

    Attributes:
        reason: Why a run failed, empty while none did.
        standing_in: Whether a recording is on show in place of what failed.

    Signals:
        changed: One of these.
    """

    changed = Signal()

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self.reason, self.standing_in = "", False
        self._controller = controller
        self._wanted: Path | None = None  # to be opened once the sweep has ended
        controller.sweep_told.connect(self._follow)
        controller.session_changed.connect(self._look)
        controller.running_changed.connect(self._go_on)

    def clear(self) -> None:
        """Nothing has failed."""
        self.reason, self.standing_in, self._wanted = "", False, None
        self.changed.emit()

    def take(self, recording: Path | None = None) -> None:
        """Show a recording, the lesson's if none is named; a sweep is cancelled first."""
        bundled = bundled_sessions()
        path = recording or (bundled[0] if bundled else None)
        if path is None:
            return
        self._wanted = path.absolute()
        if self._controller.measuring:
            self._controller.cancel()
        else:
            self._go_on()

    def _go_on(self, _running: bool = False) -> None:
        if self._wanted is not None and not self._controller.measuring:
            self._controller.open_session(self._wanted)

    def _look(self, _session: Session | None) -> None:
        """The recording is on show, or something else."""
        self.standing_in = self._wanted is not None and self._controller.path == self._wanted
        self._wanted = self._wanted if self._controller.measuring else None
        self.changed.emit()

    def _follow(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, PlanStarted) and self._controller.sweep_on_show:
                self.clear()
            elif _failed(event):
                self._fail(event.reason)

    def _fail(self, reason: str) -> None:
        self.reason = reason or "The run failed."
        self.changed.emit()


def _failed(event: Event) -> TypeGuard[PointFailed | PlanFinished]:
    """Whether a run, or a point of it, was lost: what does not fit or is not supported was not."""
    if isinstance(event, PointFailed):
        return event.status in LOST
    return isinstance(event, PlanFinished) and event.outcome == "failed"
