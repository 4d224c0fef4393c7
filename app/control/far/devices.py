"""Where everything of the window runs: on this machine, or on a device of another."""

from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.bridge import Bridge
from flashscope.app.control.far.dial import Dial, FarPlace, Wanted
from flashscope.app.control.far.gate import EventGate
from flashscope.app.control.inside.live_launch import LiveLaunch
from flashscope.app.control.inside.one_by_one import OneByOne
from flashscope.profiles.engine.contract import Engine, EngineFactory
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.running.driver import Driver

if TYPE_CHECKING:  # it imports Dask
    from flashscope.profiles.cluster.devices import FarDevice

SWEEPS = "A sweep is running; cancel it, or wait for its end, to use another device."
RECORDS = "Something is being recorded in Inside; give it up, or wait for its end, to use another device."


class Devices(QObject):
    """Changes the engine that the window's driver uses; there is one at a time.

    Attributes:
        place: The device of another machine that is in use, None: this machine's are.
        here: What was found on this machine; None: nobody has looked yet.
        seen: What each host lends that has been connected to, by what the user called it.
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
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.place: FarPlace | None = None
        self.here: Machine | None = None
        self.seen: dict[str, tuple[FarDevice, ...]] = {}
        self.lost = ""
        self._driver, self._gate, self._bridge = driver, gate, bridge
        self._make_engine = make_engine
        self.beside: tuple[OneByOne[Any] | LiveLaunch, ...] = ()
        self._dial: Dial | None = None
        self._dials: list[Dial] = []
        self._ending: list[Thread] = []

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

    def connect_to(self, named: str, device: str = "") -> None:
        """Use a device of this connection file or address; empty: the first that can be taken."""
        place = self.place
        if place is None or self.lost or (named, device) != (place.wanted.named, place.device):
            self._begin(Wanted(named, device))

    def reconnect(self) -> None:
        """Use the device again that is lost."""
        if self.place is not None and self.lost:
            held = self.place.engine.place
            self._begin(Wanted(self.place.wanted.named, held.device, held.token))

    def cancel(self) -> None:
        """Connect to nothing; what is in use stays."""
        if self._dial is not None:
            self._dial.cancel()
            self._dial = None
            self.changed.emit()

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

    def found(self, machine: Machine) -> None:
        """The engine in use has looked at its machine."""
        if self.place is None:
            self.here = machine

    def close(self) -> None:
        """Connect to nothing, and return when all is ended but the engine in use, which is the driver's."""
        self._dial = None
        for dial in self._dials:
            dial.end()
        for thread in self._ending:
            thread.join()

    def end_place(self) -> None:
        """End what leads to the device in use, after its engine."""
        if self.place is not None:
            self.place.close()

    def _begin(self, wanted: Wanted) -> None:
        if why := self.why_not:
            self.failed.emit(why)
            return
        self.cancel()
        dial = self._dial = Dial(wanted, EventGate(self._bridge.push), self)
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

    def _take(self, dial: Dial, place: FarPlace) -> None:
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

    def _lose(self, dial: Dial, reason: str) -> None:
        if dial.gate is self._gate:
            self._bridge.drain()  # what it said of points and requests comes first
            self.lost = reason
            self.changed.emit()
            self.went.emit(reason)

    def _use(self, engine: Engine, gate: EventGate, place: FarPlace | None) -> None:
        """Have everything done by this engine; the one before is ended in the background."""
        self._gate.shut()
        self._bridge.drain()
        end = self._driver.engine.close if self.place is None else self.place.close
        self._driver.engine, self._gate, self.place, self.lost = engine, gate, place, ""
        self._end(end)
        self.moved.emit()
        self.changed.emit()

    def _end(self, end: Callable[[], None]) -> None:
        self._ending = [one for one in self._ending if one.is_alive()]
        self._ending.append(Thread(target=end, name="ending an engine"))
        self._ending[-1].start()
