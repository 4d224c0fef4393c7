"""One sweep that is shared among devices: who measures what, and one sequence of events of it all."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.own.spec import with_own
from flashscope.profiles.cluster.several.sharing import DeviceShare, Sharing
from flashscope.profiles.engine.beginning import plan_started, predicted_bytes
from flashscope.profiles.engine.contract import Engine, Sink
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.events import (
    CeilingsMeasured,
    Event,
    LogLine,
    Outcome,
    PlanFinished,
    PlanResumed,
    PlanStarted,
    PointFailed,
    PointMeasured,
    PointStarted,
    Readings,
    RequestFailed,
    TelemetryStarted,
)


@dataclass
class SharedDevice:
    """One of several devices.

    Attributes:
        name: What it is called.
        engine: Measures there.
        machine: Who that is, None until it was looked at.
        telemetry: What watches it, None: nothing does.
        trusts_code: Whether kernels of the user's own may run there.
    """

    name: str
    engine: Engine
    machine: Machine | None = None
    telemetry: TelemetryStarted | None = None
    trusts_code: bool = True


def telemetry_of(members: Sequence[SharedDevice]) -> TelemetryStarted | None:
    """What watches devices, as one event; None until the first of them is watched."""
    first, *others = (one.telemetry for one in members)
    return None if first is None else replace(first, others=tuple(others))


@dataclass
class Turn:
    """What a device is at in a sweep.

    Attributes:
        share: What it measures, None: it is free.
        ended: The points of the share that have an outcome.
        failing: Failures that were told and may be those of points in flight when the device was lost.
        timed: Whether its events go by the session's clock by now.
        lost: Why it measures no more; empty: it does.
    """

    share: DeviceShare | None = None
    ended: set[int] = field(default_factory=set)
    failing: list[PointFailed] = field(default_factory=list)
    timed: bool = False
    lost: str = ""


class SharedRun:
    """A sweep on several devices; used on one thread.

    Each device is asked to measure one share after the other, as if each were what is left of a session, by
    whose clock it then tells its times. What is said of points is passed on; that a share begins and ends
    is not. A device whose run fails is out: what it had in flight, and what it had not begun, goes to the
    others. Where none is left, points in flight fail with the reason of the last.

    Args:
        plan: What is measured.
        remaining: What is left of it, None: all.
        members: The devices, by their numbers.
        emit: Takes every event.

    Attributes:
        ended: Whether the last event was said.
    """

    def __init__(
        self, plan: Plan, remaining: Remaining | None, members: Sequence[SharedDevice], emit: Sink
    ) -> None:
        self.ended = False
        self._plan, self._remaining, self._members, self._emit = plan, remaining, members, emit
        self._sharing = Sharing(plan, remaining, range(len(members)))
        self._turns = [Turn() for _ in members]
        self._torn: dict[int, PointFailed] = {}  # in flight on a device that was lost, and not begun anew
        self._reason = ""  # why the last device was lost
        self._ceilings = self._cancelled = False
        self._session_id, self._ahead_ns = "", 0

    def begin(self) -> None:
        """Say that it begins, and have every device measure."""
        opening = self._opening()
        self._session_id = opening.session_id
        self._ahead_ns = opening.t_ns - time.monotonic_ns()
        self._emit(opening)
        self._go_on()

    def cancel(self) -> None:
        """Begin nothing more, and stop what runs within one repeat."""
        self._cancelled = True
        for member, turn in zip(self._members, self._turns, strict=True):
            if turn.share is not None:
                member.engine.cancel()
        self._go_on()

    def heard(self, device: int, event: Event) -> None:
        """Take in what the engine of a device said."""
        turn = self._turns[device]
        if isinstance(event, PlanFinished):
            self._share_ended(device, event)
            return
        if isinstance(event, PointFailed) and event.status == "failed":
            turn.failing.append(event)
            return
        if not isinstance(event, RequestFailed | LogLine):  # which are said of a lost device, too
            self._flush(turn)
        match event:
            case PlanStarted() | PlanResumed():
                turn.timed = True
            case Readings() if turn.timed:
                self._emit(replace(event, device=device))
            case PointStarted(index=index):
                self._torn.pop(index, None)
                self._emit(replace(event, device=device))
            case PointMeasured() | PointFailed():
                self._end_point(turn, event)
            case _ if self._is_told(event):
                self._emit(event)

    def _opening(self) -> PlanStarted | PlanResumed:
        telemetry = telemetry_of(self._members)
        machine, *others = (member.machine for member in self._members)
        if machine is None or None in others:
            raise ValueError("a device was not looked at")
        known = tuple(one for one in others if one is not None)
        if self._remaining is not None:
            return replace(self._remaining.begin(machine, telemetry), others=known)
        predicted = predicted_bytes(self._plan, with_own(KERNELS, self._plan.own))
        return replace(plan_started(self._plan, predicted, machine, telemetry), others=known)

    def _go_on(self) -> None:
        """Have each device that is free measure its next share; end where none measures any more."""
        for device, (member, turn) in enumerate(zip(self._members, self._turns, strict=True)):
            if self._cancelled or turn.lost or turn.share is not None:
                continue
            turn.share, turn.ended = self._sharing.take(device), set()
            if turn.share is not None:
                now = time.monotonic_ns() + self._ahead_ns
                left = turn.share.remaining(self._session_id, now, ceilings=not self._ceilings)
                member.engine.run(self._plan, left)
        if not self.ended and all(turn.share is None for turn in self._turns):
            self._end()

    def _end(self) -> None:
        outcome: Outcome = "cancelled" if self._cancelled else "failed" if self._sharing.waits else "finished"
        for event in self._torn.values():
            self._emit(event)
        self.ended = True
        now = time.monotonic_ns() + self._ahead_ns
        self._emit(
            PlanFinished(t_ns=now, outcome=outcome, reason=self._reason if outcome == "failed" else "")
        )

    def _share_ended(self, device: int, event: PlanFinished) -> None:
        """A device is through with its share, or is lost."""
        turn = self._turns[device]
        share, turn.share = turn.share, None
        if share is None:  # it was closed
            return
        if event.outcome == "failed":
            self._lose(device, share, event)
        else:
            self._flush(turn)
        self._go_on()

    def _lose(self, device: int, share: DeviceShare, event: PlanFinished) -> None:
        turn = self._turns[device]
        turn.lost = self._reason = event.reason
        torn = [one for one in turn.failing if one.reason == event.reason]
        turn.failing = [one for one in turn.failing if one not in torn]
        self._flush(turn)
        self._torn |= {one.index: one for one in torn}
        self._sharing.lost(device, share, turn.ended)
        others = sum(not one.lost for one in self._turns)
        if others and not self._cancelled:
            text = (
                f"{event.reason} What it has not ended is measured by the {others} left; it is out of this "
                "sweep, also where it comes back."
            )
            self._emit(LogLine(source="engine", text=text, level="warning"))

    def _flush(self, turn: Turn) -> None:
        """Tell the failures that were held back: the device goes on after them."""
        failing, turn.failing = turn.failing, []
        for event in failing:
            self._end_point(turn, event)

    def _end_point(self, turn: Turn, event: PointMeasured | PointFailed) -> None:
        turn.ended.add(event.index)
        self._emit(event)

    def _is_told(self, event: Event) -> bool:
        """Whether an event is passed on as it is: of what all equal devices say alike, what is told once."""
        if isinstance(event, CeilingsMeasured):
            told, self._ceilings = self._ceilings, True
            return not told
        return not isinstance(event, Readings)
