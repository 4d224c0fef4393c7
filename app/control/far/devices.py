"""Where everything of the window runs: on this machine, on several GPUs of it, or on devices of another."""

from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.bridge import Bridge
from flashscope.app.control.chores import Chores
from flashscope.app.control.far.dial import Dial, together
from flashscope.app.control.far.gate import EventGate
from flashscope.app.control.far.places import DeviceGroup, TakenDevices, Wanted, groups_here, groups_there
from flashscope.app.control.far.repeat_engine import RecordBeside
from flashscope.app.control.inside.live_launch import LiveLaunch
from flashscope.app.control.inside.one_by_one import OneByOne
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.engine.contract import Engine, EngineFactory
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.running.driver import Driver
from flashscope.profiles.wire.events import MachineFound

if TYPE_CHECKING:  # it imports Dask
    from flashscope.profiles.cluster.devices import FarDevice

SWEEPS = "A sweep is running; cancel it, or wait for its end, to use another device."
LATER = "A sweep is running; the device is taken again when it has ended."
RECORDS = "Something is being recorded in Inside; give it up, or wait for its end, to use another device."


class Devices(QObject):
    """Changes the engine that the window's driver uses; there is one at a time.

    Attributes:
        place: The devices of another machine, or several of this one, that are in use; None: what this
            machine has at hand.
        here: What was found on this machine; None: nobody has looked yet.
        groups: Which devices can measure together, of this machine and of those that have been connected to.
        seen: What each host lends that has been connected to, by what the user called it; of the host in use
            as it was when that was looked at last.
        lost: Why the device in use is lost, a sentence; empty: it is not.
        dialling: What is being connected to, as the user named it; empty: nothing is.
        beside: What is asked of the engine beside sweeps: the engine stays while something is.

    Signals:
        changed: Something of that is another.
        moved: Another engine is in use, of which nothing is known yet.
        told: What is being done to connect (str).
        failed: That came to nothing, for this reason, a sentence with the remedy (str).
        taken: A device is in use by now.
        went: The device in use is lost, for this reason (str).

    Args:
        driver: Has the engine in use.
        gate: Takes what that says.
        bridge: Where it goes from there.
        make_engine: Makes the engine of this machine.
        record: Makes what records the sessions of devices beside the first, where sweeps are repeated.
        parent: The controller.
    """

    changed = Signal()
    moved = Signal()
    told = Signal(str)
    failed = Signal(str)
    taken = Signal()
    went = Signal(str)

    def __init__(
        self,
        driver: Driver,
        gate: EventGate,
        bridge: Bridge,
        make_engine: EngineFactory,
        record: RecordBeside,
        *,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.place: TakenDevices | None = None
        self.here: Machine | None = None
        self.seen: dict[str, tuple[FarDevice, ...]] = {}
        self.lost = ""
        self._groups_here: list[DeviceGroup] = []
        self._gone = ""  # why a device was lost that is being taken anew
        self._driver, self._gate, self._bridge = driver, gate, bridge
        self._make_engine, self._record = make_engine, record
        self.beside: tuple[OneByOne[Any] | LiveLaunch, ...] = ()
        self._dial: Dial | None = None
        self._dials: list[Dial] = []
        self._ending: list[Thread] = []
        self._looks = Chores(self)
        self._again = False  # whether a lost device is to be taken again once no sweep runs

    @property
    def dialling(self) -> str:
        """What is being connected to."""
        return self._dial.wanted.named if self._dial is not None else ""

    @property
    def why_not(self) -> str:
        """Why the device cannot be changed now, in a sentence; empty: it can."""
        if self._driver.running:
            return SWEEPS
        return RECORDS if any(one.asked is not None for one in self.beside) else ""

    @property
    def groups(self) -> list[DeviceGroup]:
        """Devices that can measure together, those of this machine first."""
        there = (group for named, found in self.seen.items() for group in groups_there(named, found))
        return [*self._groups_here, *there]

    @property
    def count(self) -> int:
        """Over how many devices a sweep is split."""
        return len(self.place.names) if self.place is not None and not self.place.wanted.repeat else 1

    def why_not_on(self, backend: Backend, machine: Machine | None) -> str:
        """Why a sweep cannot be measured on a backend of several devices, in a sentence; empty: it can."""
        return "" if self.place is None else self.place.why_not_on(backend, machine)

    @property
    def why_not_again(self) -> str:
        """Why a sweep cannot be measured several times, in a sentence; empty: it can."""
        return "" if self.place is None else self.place.why_not_again

    def uses(self, group: DeviceGroup, *, repeat: bool = False) -> bool:
        """Whether these devices are in use, in that way."""
        return self._uses(Wanted(group.named, group.names, repeat=repeat))

    def use(self, group: DeviceGroup, *, repeat: bool = False) -> None:
        """Split sweeps over these devices, or repeat them on each; all else is asked of the first."""
        if self.uses(group, repeat=repeat):
            return
        wanted = Wanted(group.named, group.names, self._held_at(group.named), repeat)
        if group.named:
            self._begin(wanted)
        elif why := self.why_not:
            self.failed.emit(why)
        else:
            self.cancel()
            self._use_here(group, wanted)

    def connect_to(self, named: str, device: str = "") -> None:
        """Use a device of this connection file or address; empty: the first that can be taken."""
        wanted = Wanted(named, (device,) if device else (), self._held_at(named))
        if not self._uses(wanted):
            self._begin(wanted)

    def reconnect(self) -> None:
        """Use the devices again of which one is lost, once those that are left have ended their sweep."""
        if self.place is None or not self.lost:
            return
        self._again = self._driver.running
        if self._again:
            self.told.emit(LATER)
        else:
            self._begin(self.place.wanted._replace(devices=self.place.names, held=self.place.held))

    def sweeps_ended(self) -> None:
        """No sweep runs or waits any more."""
        if self._again:
            self.reconnect()

    def look_again(self) -> None:
        """Ask the host of the device in use who has its devices now, in the background."""
        if self.place is not None and not self.lost:
            self._looks.do_instead(self.place.look, partial(self._looked, self.place))

    def cancel(self) -> None:
        """Connect to nothing; what is in use stays."""
        self._again = False
        if self._dial is not None:
            self._dial.cancel()
            self._dial = None
            self.changed.emit()
            self._tell_gone()

    def come_back(self) -> None:
        """Use this machine again."""
        self.cancel()
        if self.place is None:
            return
        if why := self.why_not:
            self.failed.emit(why)
            return
        gate = EventGate(self._bridge.push)
        self._use(self._make_engine(gate), gate, None)

    def found(self, event: MachineFound) -> None:
        """The engine in use has looked at its machine."""
        if self.place is None:
            self.here, self._groups_here = event.machine, groups_here(event.gpus)
            self.changed.emit()

    def close(self) -> None:
        """Connect to nothing, and return when all is ended but the engine in use, which is the driver's."""
        self._dial = None
        self._looks.forget()
        for dial in self._dials:
            dial.end()
        for thread in self._ending:
            thread.join()
        self._looks.wait()

    def end_place(self) -> None:
        """End what leads to the device in use, after its engine."""
        if self.place is not None:
            self.place.close()

    def _begin(self, wanted: Wanted) -> None:
        if why := self.why_not:
            self.failed.emit(why)
            return
        self.cancel()
        dial = self._dial = Dial(wanted, EventGate(self._bridge.push), self._record, self)
        self._dials.append(dial)
        dial.told.connect(partial(self._tell, dial))
        dial.taken.connect(partial(self._take, dial))
        dial.failed.connect(partial(self._fail, dial))
        dial.lost.connect(partial(self._lose, dial))
        dial.begin()
        self.changed.emit()

    def _tell(self, dial: Dial, text: str) -> None:
        if dial is self._dial:
            self.told.emit(text)

    def _fail(self, dial: Dial, reason: str) -> None:
        self._dials.remove(dial)
        if dial is self._dial:
            self._dial = None
            self.changed.emit()
            self.failed.emit(reason)
            self._tell_gone()

    def _take(self, dial: Dial, place: TakenDevices) -> None:
        self._dials.remove(dial)
        why = self.why_not
        if dial is not self._dial or why:
            self._end(place.close)
            if dial is self._dial:
                self._fail_taken(why)
            return
        self._dial = None
        self.seen[place.wanted.named] = place.devices
        self._use(place.engine, dial.gate, place)
        self.taken.emit()

    def _fail_taken(self, why: str) -> None:
        """A device came too late: something else was begun meanwhile."""
        self._dial = None
        self.changed.emit()
        self.failed.emit(why)
        self._tell_gone()

    def _lose(self, dial: Dial, reason: str) -> None:
        if dial.gate is not self._gate or self.lost:
            return
        self._bridge.drain()  # what it said of points and requests comes first
        self._gone = reason
        if self._dial is None or not self._dial.wanted.taken_over:
            self._tell_gone()

    def _tell_gone(self) -> None:
        """Say that a device is lost, now that it does not come back by itself."""
        if self._gone:
            self.lost, self._gone = self._gone, ""
            self.changed.emit()
            self.went.emit(self.lost)

    def _uses(self, wanted: Wanted) -> bool:
        """Whether these devices are in use, in that way."""
        place = self.place
        if place is None or self.lost:
            return False
        in_use = place.wanted._replace(devices=place.names, held=())
        return in_use == wanted._replace(held=())

    def _held_at(self, named: str) -> tuple[tuple[str, str], ...]:
        """The devices of a host that are in use, with their tokens."""
        return self.place.held if self.place is not None and self.place.wanted.named == named else ()

    def _looked(self, place: TakenDevices, found: "tuple[FarDevice, ...]") -> None:
        if place is self.place and found:
            self.seen[place.wanted.named] = found
            self.changed.emit()

    def _use_here(self, group: DeviceGroup, wanted: Wanted) -> None:
        """Have an engine for each of these GPUs of this machine."""
        gate = EventGate(self._bridge.push)
        makers = [(one.name, partial(LocalEngine, gpu=one.gpu)) for one in group.devices]
        engine = together(wanted, gate, makers, self._record)
        self._use(engine, gate, TakenDevices(wanted, engine, group.names))
        self.taken.emit()

    def _use(self, engine: Engine, gate: EventGate, place: TakenDevices | None) -> None:
        """Have everything done by this engine; the one before is ended in the background."""
        self._gate.shut()
        self._bridge.drain()
        end = self._driver.engine.close if self.place is None else self.place.close
        self._driver.engine, self._gate, self.place, self.lost = engine, gate, place, ""
        self._gone, self._again = "", False
        self._end(end)
        self.moved.emit()
        self.changed.emit()

    def _end(self, end: Callable[[], None]) -> None:
        self._ending = [one for one in self._ending if one.is_alive()]
        self._ending.append(Thread(target=end, name="ending an engine"))
        self._ending[-1].start()
