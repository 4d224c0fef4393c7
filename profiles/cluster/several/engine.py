"""The engine of several devices: a plan is shared among them, and they speak with one voice."""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from flashscope.profiles.cluster.own_code import untrusted
from flashscope.profiles.cluster.several.equal import obstacle_to_sharing
from flashscope.profiles.cluster.several.first_of_several import FirstOfSeveral
from flashscope.profiles.cluster.several.shared_run import SharedRun, telemetry_of
from flashscope.profiles.engine.contract import EngineFactory, Sink
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.events import (
    Event,
    LogLine,
    MachineFound,
    PlanFinished,
    Readings,
    RequestFailed,
    TelemetryStarted,
)


class SeveralEngine(FirstOfSeveral):
    """Shares plans among devices, each with an engine; implements profiles.engine.contract.Engine.

    The points of a problem are measured on one device, and the next problem by the device that is free;
    devices that were not looked at are probed first. Those that are not equal are refused, and those that
    trust no code where the plan has some: the sweep ends as failed, before it begins.

    Args:
        sink: See `FirstOfSeveral`.
        makers: See there, too.
    """

    def __init__(self, sink: Sink, makers: Sequence[tuple[str, EngineFactory]]) -> None:
        self._run: SharedRun | None = None
        self._probing: set[int] = set()
        self._then: Callable[[], None] | None = None  # waits for the machines to be known
        super().__init__(sink, makers)

    def probe(self) -> None:
        """Look at every device; answers with MachineFound, of the first, once all have answered."""
        self._inbox.put(self._probe)

    # Everything below runs on this engine's thread.

    def _probe(self) -> None:
        self._probing = set(range(len(self._members)))
        for member in self._members:
            member.engine.probe()

    def _begin(self, plan: Plan, remaining: Remaining | None) -> None:
        machines = [member.machine for member in self._members]
        if None in machines:
            self._then = partial(self._begin, plan, remaining)
            self._probe()
            return
        known = [(one.name, one.machine) for one in self._members if one.machine is not None]
        if refused := obstacle_to_sharing(known, plan.backend):
            self._refuse(refused)
            return
        if plan.own and (wary := [one.name for one in self._members if not one.trusts_code]):
            self._refuse(untrusted(" and ".join(wary), plan.own))
            return
        self._run = SharedRun(plan, remaining, self._members, self._emit)
        self._run.begin()

    def _refuse(self, reason: str) -> None:
        """A sweep that does not begin."""
        self._emit(PlanFinished(t_ns=0, outcome="failed", reason=reason))

    def _cancel(self) -> None:
        if self._then is not None:  # the devices are still looked at
            self._then = None
            self._emit(PlanFinished(t_ns=0, outcome="cancelled"))
        elif self._run is not None and not self._run.ended:
            self._run.cancel()
        else:
            self._first.cancel()

    def _take(self, device: int, event: Event) -> None:
        member = self._members[device]
        if isinstance(event, LogLine):
            event = replace(event, source=f"{member.name}, {event.source}")
        if isinstance(event, TelemetryStarted):
            member.telemetry = event
            if (telemetry := telemetry_of(self._members)) is not None:
                self._emit(telemetry)
        elif isinstance(event, MachineFound):
            member.machine, member.trusts_code = event.machine, event.trusts_code
            self._probed(device)
        elif isinstance(event, RequestFailed) and event.request == "probe":
            self._not_probed(event)
        elif self._run is not None and not self._run.ended:
            self._run.heard(device, event)
        elif device == 0 or not isinstance(event, Readings | PlanFinished):
            self._emit(event)

    def _probed(self, device: int) -> None:
        if device not in self._probing:
            return
        self._probing.discard(device)
        first = self._members[0].machine
        if not self._probing and first is not None:
            trusts_code = all(member.trusts_code for member in self._members)
            self._emit(MachineFound(machine=first, trusts_code=trusts_code))
            self._go_on()

    def _not_probed(self, event: RequestFailed) -> None:
        """One of the devices was lost before it was looked at: nothing is measured without it."""
        if not self._probing:
            return
        self._probing.clear()
        self._emit(event)
        if self._then is not None:
            self._then = None
            self._refuse(event.reason)

    def _go_on(self) -> None:
        then, self._then = self._then, None
        if then is not None:
            then()
