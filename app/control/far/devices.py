"""Where everything of the window runs: on this machine, on several GPUs of it, or on devices of another."""

from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.bridge import Bridge
from flashscope.app.control.chores import Chores
from flashscope.app.control.far.dial import Dial, devices_now, together
from flashscope.app.control.far.gate import EventGate
from flashscope.app.control.far.places import (
    DeviceGroup,
    HostDevices,
    HostTie,
    TakenDevices,
    Wanted,
    groups_here,
    groups_there,
    labels_of,
)
from flashscope.app.control.far.repeat_engine import RecordBeside
from flashscope.app.control.inside.live_launch import LiveLaunch
from flashscope.app.control.inside.one_by_one import OneByOne
from flashscope.app.words.devices.far_devices import place_text
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.engine.contract import Engine, EngineFactory
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.running.driver import Driver
from flashscope.profiles.wire.events import MachineFound

if TYPE_CHECKING:  # it imports Dask
    from flashscope.profiles.cluster.client.devices import FarDevice

SWEEPS = "A sweep is running; cancel it, or wait for its end, to use another device."
LATER = "A sweep is running; the device is taken again when it has ended."
RECORDS = "Something is being recorded in Inside; give it up, or wait for its end, to use another device."


class Devices(QObject):
    """Changes the engine that the window's driver uses; there is one at a time.

    Attributes:
        place: The devices of other machines, or several of this one, that are in use; None: what this
            machine has at hand.
        here: What was found on this machine; None: nobody has looked yet.
        groups: Which devices can measure together, of this machine and of those that have been connected to.
        seen: What each host lends that has been connected to, by what the user called it, as it was when
            that was looked at last.
        lost: Why devices in use are lost, a sentence for each host; empty: none is.
        dialling: What is being connected to, as the user named it; empty: nothing is.
        beside: What is asked of the engine beside sweeps: the engine stays while something is.

    Signals:
        changed: Something of that is another.
        moved: Another engine is in use, of which nothing is known yet.
        told: What is being done to connect (str).
        failed: That came to nothing, for this reason, a sentence with the remedy (str).
        taken: A device is in use by now.
        went: A device in use is lost, for this reason (str).
        ended: What was in use before is ended: nothing of it holds a device any more.

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
    ended = Signal()

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
        self._addresses: dict[str, str] = {}  # of those hosts
        self._groups_here: list[DeviceGroup] = []
        self._lost: dict[str, str] = {}  # why, by what leads to the host
        self._gone: dict[str, str] = {}  # the same of devices that are being taken anew
        self._driver, self._gate, self._bridge = driver, gate, bridge
        self._make_engine, self._record = make_engine, record
        self.beside: tuple[OneByOne[Any] | LiveLaunch, ...] = ()
        self._dial: Dial | None = None
        self._dials: list[Dial] = []
        self._ending: list[Thread] = []
        self._looks = Chores(self)
        self._again = False  # whether a lost device is to be taken again once no sweep runs
        self.ended.connect(self.look_again)

    @property
    def lost(self) -> str:
        """Why devices in use are lost."""
        return " ".join(self._lost.values())

    @property
    def lost_words(self) -> str:
        """The devices in use of the hosts that are lost, with these; empty: none is."""
        if self.place is None or not self._lost:
            return ""
        lost = self.place.wanted.of(self._lost)
        return place_text(lost.names, lost.host)

    @property
    def hosts(self) -> dict[str, str]:
        """What the hosts are called that have been connected to, by what the user called them."""
        return labels_of(self.seen)

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
        return [*self._groups_here, *groups_there(self.seen)]

    @property
    def count(self) -> int:
        """Over how many devices a sweep is split."""
        return len(self.place.names) if self.place is not None and not self.place.wanted.repeat else 1

    @property
    def sharing(self) -> str:
        """The machines over which a sweep is split; empty: it is one."""
        return self.place.host if self.place is not None and self.count > 1 else ""

    def why_not_on(self, backend: Backend, machine: Machine | None) -> str:
        """Why a sweep cannot be measured on a backend of several devices, in a sentence; empty: it can."""
        return "" if self.place is None else self.place.why_not_on(backend, machine)

    @property
    def why_not_again(self) -> str:
        """Why a sweep cannot be measured several times, in a sentence; empty: it can."""
        return "" if self.place is None else self.place.why_not_again

    def why_no_version(self, backend: Backend, machine: Machine | None) -> str:
        """Why no version of a watched kernel can be measured, in a sentence; empty: one can."""
        return self.why_not_again or self.why_not_on(backend, machine)

    def uses(self, group: DeviceGroup, *, repeat: bool = False) -> bool:
        """Whether these devices are in use, in that way."""
        return self._uses(group.wanted(repeat=repeat))

    def use(self, group: DeviceGroup, *, repeat: bool = False) -> None:
        """Split sweeps over these devices, or repeat them on each; all else is asked of the first."""
        if self.uses(group, repeat=repeat):
            return
        wanted = group.wanted(repeat=repeat)
        if wanted.named:
            self._begin(wanted)
        elif why := self.why_not:
            self.failed.emit(why)
        else:
            self.cancel()
            self._use_here(group, wanted)

    def connect_to(self, named: str, device: str = "") -> None:
        """Use a device of this connection file or address; empty: the first that can be taken."""
        wanted = Wanted((HostDevices(named, (device,) if device else ()),))
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
            self._begin(self.place.wanted)

    def leave(self, named: str) -> None:
        """Have nothing to do with a host any more; devices of others that are in use stay so."""
        if self._dial is not None and self._dial.wanted.at(named):
            self.cancel()
        if self.place is not None and self.place.wanted.at(named):
            if why := self.why_not:
                self.failed.emit(why)
                return
            others = [one.named for one in self.place.wanted.hosts if one.named != named]
            if others:
                self._begin(self.place.wanted.of(others))
            else:
                self.come_back()
        self.seen.pop(named, None)
        self.changed.emit()

    def sweeps_ended(self) -> None:
        """No sweep runs or waits any more."""
        if self._again:
            self.reconnect()

    def look_again(self) -> None:
        """Ask every host who has its devices now, in the background, those in use first."""
        self._looks.forget()
        wanted = self.place.wanted if self.place is not None else Wanted(())
        for named in sorted(self.seen.keys() - self._lost.keys(), key=lambda one: wanted.at(one) is None):
            asked = wanted.at(named) or HostDevices(named)
            look = partial(devices_now, asked, self._ties.get(named))
            self._looks.do(look, partial(self._looked, self.place, named))

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
        self._dial, self._again = None, False
        self.seen = {}  # nobody is asked any more
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
        hosts = tuple(one._replace(held=self._held_at(one.named)) for one in wanted.hosts)
        ties = {one.named: self._ties[one.named] for one in hosts if one.stays and one.named in self._ties}
        gate = EventGate(self._bridge.push)
        wanted, ending = wanted._replace(hosts=hosts), tuple(self._ending)
        dial = self._dial = Dial(wanted, ties, gate, self._record, ending=ending, parent=self)
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
            self._end(partial(dial.give_up, place))
            if dial is self._dial:
                self._fail_taken(why)
            return
        self._dial = None
        self._list(place)
        self._use(place.engine, dial.gate, place)
        self.taken.emit()

    def _list(self, place: TakenDevices) -> None:
        """List what the hosts lend; one that was called otherwise before is listed once."""
        self._addresses |= {named: tie.connection.address for named, tie in place.ties.items()}
        here = {self._addresses[named] for named in place.ties}
        stays = [one for one in self.seen if one in place.found or self._addresses[one] not in here]
        self.seen = {named: self.seen[named] for named in stays} | place.found

    def _fail_taken(self, why: str) -> None:
        """A device came too late: something else was begun meanwhile."""
        self._dial = None
        self.changed.emit()
        self.failed.emit(why)
        self._tell_gone()

    def _lose(self, dial: Dial, named: str, reason: str) -> None:
        if dial.gate is not self._gate or named in self._lost | self._gone:
            return
        self._bridge.drain()  # what it said of points and requests comes first
        self._gone[named] = reason
        again = self._dial.wanted.at(named) if self._dial is not None else None
        if again is None or not again.taken_over:
            self._tell_gone()

    def _tell_gone(self) -> None:
        """Say that devices are lost, now that they do not come back by themselves."""
        gone, self._gone = self._gone, {}
        self._lost |= gone
        if gone:
            self.changed.emit()
        for reason in gone.values():
            self.went.emit(reason)

    def _uses(self, wanted: Wanted) -> bool:
        """Whether these devices are in use, in that way."""
        return self.place is not None and not self._lost and self.place.wanted.bare == wanted.bare

    def _held_at(self, named: str) -> tuple[tuple[str, str], ...]:
        """The devices of a host that are in use, with their tokens."""
        there = self.place.wanted.at(named) if self.place is not None else None
        return there.held if there is not None else ()

    @property
    def _ties(self) -> dict[str, HostTie]:
        """The ways to the hosts in use that are not lost."""
        ties = self.place.ties if self.place is not None else {}
        return {named: tie for named, tie in ties.items() if named not in self._lost}

    def _looked(self, place: TakenDevices | None, named: str, found: "tuple[FarDevice, ...]") -> None:
        if place is self.place and found and named in self.seen:
            self.seen[named] = found
            self.changed.emit()

    def _use_here(self, group: DeviceGroup, wanted: Wanted) -> None:
        """Have an engine for each of these GPUs of this machine."""
        gate = EventGate(self._bridge.push)
        makers = [(one.name, partial(LocalEngine, gpu=one.gpu)) for one in group.devices]
        engine = together(wanted, gate, makers, self._record)
        self._use(engine, gate, TakenDevices(wanted, engine))
        self.taken.emit()

    def _use(self, engine: Engine, gate: EventGate, place: TakenDevices | None) -> None:
        """Have everything done by this engine; the one before is ended in the background."""
        self._gate.shut()
        self._bridge.drain()
        kept = place.ties.values() if place is not None else ()
        end = self._driver.engine.close if self.place is None else partial(self.place.close, kept)
        self._driver.engine, self._gate, self.place = engine, gate, place
        self._lost, self._gone, self._again = {}, {}, False
        self._end(end)
        self.moved.emit()
        self.changed.emit()

    def _end(self, end: Callable[[], None]) -> None:
        self._ending = [one for one in self._ending if one.is_alive()]
        self._ending.append(Thread(target=partial(self._end_now, end), name="ending an engine"))
        self._ending[-1].start()

    def _end_now(self, end: Callable[[], None]) -> None:
        """On a thread of its own."""
        end()
        self.ended.emit()
