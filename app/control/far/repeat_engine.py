"""The engine of several devices that may differ: each measures all of a sweep, to be compared."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from flashscope.app.words.devices.far_devices import short_name
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.cluster.several.first_of_several import FirstOfSeveral
from flashscope.profiles.engine.contract import Engine, EngineFactory, Sink
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.running.driver import Driver, OpenRecording
from flashscope.profiles.wire.events import Event, LogLine, PlanFinished

RecordBeside = Callable[[Backend, str], OpenRecording]
"""Makes what records the session of a device, in whose file's name these words stand."""


class RepeatEngine(FirstOfSeveral):
    """Has each device measure each sweep; implements profiles.engine.contract.Engine.

    What it says is what the first device says. Beside that the others have a session and a file each: what
    becomes of one device is no matter of another's. A sweep has ended once it has on all of them. What is
    left of one is the first device's alone, as each file is resumed by itself.

    Args:
        sink: See `FirstOfSeveral`.
        makers: See there, too.
        record: Makes what records the sessions of all devices but the first.
    """

    def __init__(self, sink: Sink, makers: Sequence[tuple[str, EngineFactory]], record: RecordBeside) -> None:
        self._record = record
        self._drivers: dict[int, Driver] = {}  # of the other devices
        self._busy: set[int] = set()
        self._measured: tuple[Driver, ...] = ()  # those of them that have measured the last sweep
        self._last: PlanFinished | None = None  # what the first said at its end
        super().__init__(sink, makers)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the last sweep, but the first device's, as far as they are made."""
        recordings = [driver.recording for driver in self._measured]
        return tuple(one.path for one in recordings if one is not None and one.path is not None)

    def probe(self) -> None:
        """Look at the first device; answers with MachineFound."""
        self._first.probe()

    def close(self) -> None:
        """Give every device back, and wait for that and for the files; twice does nothing."""
        super().close()
        for driver in self._drivers.values():
            driver.wait()

    # Everything below runs on this engine's thread.

    def _begin(self, plan: Plan, remaining: Remaining | None) -> None:
        self._busy, self._last, self._measured = {0}, None, ()
        self._first.run(plan, remaining)
        if remaining is not None:
            return
        for device, member in enumerate(self._members[1:], 1):
            driver = self._drivers.setdefault(device, Driver(_known(member.engine), self._sink))
            driver.run(plan, self._record(plan.backend, short_name(member.name).replace(" ", "-")))
            self._busy.add(device)
            self._measured += (driver,)

    def _cancel(self) -> None:
        for device in self._busy or {0}:
            self._members[device].engine.cancel()

    def _take(self, device: int, event: Event) -> None:
        name = self._members[device].name
        if isinstance(event, LogLine):
            event = replace(event, source=f"{name}, {event.source}")
        if device == 0 and not isinstance(event, PlanFinished):
            self._emit(event)
        elif device > 0:
            self._take_beside(device, event)
        if isinstance(event, PlanFinished):
            self._last = event if device == 0 else self._last
            self._ended(device)

    def _take_beside(self, device: int, event: Event) -> None:
        if isinstance(event, LogLine):
            self._emit(event)
        if device in self._drivers:
            self._drivers[device].take(event)
        if isinstance(event, PlanFinished) and event.outcome == "failed":
            text = f"{self._members[device].name} has not measured all of it: {event.reason}"
            self._emit(LogLine(source="engine", text=text, level="warning"))

    def _ended(self, device: int) -> None:
        self._busy.discard(device)
        if not self._busy and self._last is not None:
            self._emit(self._last)


def _known(engine: Engine) -> EngineFactory:
    """Makes no engine, as there is one, whose events come by another way."""
    return lambda _sink: engine
