"""Audits a model from the window: its process, and then the sweep that replays its calls."""

from typing import Protocol

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.lines_work import LinesWork, MakeProcess
from flashscope.installation import PROGRAM
from flashscope.kernels.workload.audit import ModelAudit
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.replay import replay_plan
from flashscope.profiles.wire.audits import AuditAnswer, AuditAsked, AuditProgress

BEING_AUDITED = "A model is being audited: wait for it, or cancel it in Audit."
NO_REPLAY = (
    f"No call of this model can be replayed here, so there is no session; {PROGRAM} audit MODEL --json "
    "prints all that was recorded."
)
PUT_AWAY = "The audit was put away, as another device is in use now: audit the model again there."


class Sweeps(Protocol):
    """What runs sweeps, as audits need it."""

    @property
    def why_no_sweep(self) -> str:
        """Why none can start now; empty: one can."""

    def replay_calls(self, plan: Plan, audit: ModelAudit) -> str:
        """Start one that replays the calls of an audit, in whose session it is; why not, or nothing."""

    def occupy(self, owner: object, reason: str) -> None:
        """Let no sweep start beside what the owner does, for this reason; without one: it is done."""


class Auditing(LinesWork):
    """One audit at a time.

    Args:
        make: Starts the process of a model.
        sweeps: Replays its calls.
        parent: Qt parent.

    Attributes:
        waits_for: Why the replay of an audit that has ended does not begin yet; empty: none waits.

    Signals:
        progressed: What the model's process is at, and how many of how many parts are done (str, int, int).
    """

    progressed = Signal(str, int, int)

    def __init__(self, make: MakeProcess, sweeps: Sweeps, parent: QObject | None = None) -> None:
        super().__init__(make, parent)
        self._sweeps = sweeps
        self._waiting: tuple[Plan, ModelAudit] | None = None  # until nothing is in the way
        self.waits_for = ""
        self.changed.connect(self._show_occupied)

    def take(self, asked: AuditAsked, answer: AuditAnswer) -> None:
        """Tell how far it is; at its end replay what was found."""
        if isinstance(answer, AuditProgress):
            self.progressed.emit(answer.text, answer.done, answer.total)
            return
        self.finish()
        if answer.audit is None:
            self.failed.emit(answer.reason, answer.detail)
            return
        plan = replay_plan(answer.audit, asked.device)
        if plan is None:
            self.failed.emit(NO_REPLAY, "")
            return
        self._waiting = plan, answer.audit
        self.follow()

    def cancel(self) -> None:
        """Audit no more, and replay nothing that waits."""
        if self._waiting is not None:
            self._waiting = None
            self._wait_for("")
        super().cancel()

    def put_away(self) -> None:
        """The same, and say so: another device is in use, whose times would not go with the model's."""
        there = self.asked is not None or self._waiting is not None
        self.cancel()
        if there:
            self.failed.emit(PUT_AWAY, "")

    def close(self) -> None:
        """Cancel it for good."""
        self._waiting = None
        super().close()

    def follow(self) -> None:
        """Begin the replay that waits, if nothing is in its way."""
        if self._waiting is not None:
            why = self._sweeps.why_no_sweep or self._sweeps.replay_calls(*self._waiting)
            if not why:
                self._waiting = None
            self._wait_for(why)

    def _wait_for(self, why: str) -> None:
        if why != self.waits_for:
            self.waits_for = why
            self.changed.emit()

    def _show_occupied(self) -> None:
        self._sweeps.occupy(self, BEING_AUDITED if self.asked is not None else "")
