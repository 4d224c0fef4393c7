"""A kernel of the user's own that the window measures anew at each save of its file."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QObject, QTimer, Signal

from flashscope.app.control.chores import Chores
from flashscope.kernels.catalogue.registry import AUTO, KERNELS, choose, runnable
from flashscope.kernels.own.references import with_source
from flashscope.kernels.workload.errors import KernelError
from flashscope.profiles.engine.contract import EngineBusyError
from flashscope.profiles.watching.saves import Missing, Save, SaveWatch

if TYPE_CHECKING:
    from flashscope.app.control.controller import Controller
    from flashscope.kernels.catalogue.own_kernel import OwnKernel
    from flashscope.kernels.workload.device import Device
    from flashscope.profiles.plan.plan import Plan
    from flashscope.profiles.plan.request import Request
    from flashscope.profiles.running.driver import Driver, OpenRecording
    from flashscope.profiles.running.recording import FileNote, RunRecording
    from flashscope.profiles.watching.versions import Version
    from flashscope.profiles.watching.watching import InFlight, Timing, WatchedFile, Watching
    from flashscope.profiles.wire.events import Event

NO_DEVICE = "This machine is still being looked at; watch the kernel in a moment."
ELSEWHERE = "There is nothing to measure: {} runs on {} alone, and the form has {}."
OTHER_WATCHED = "{} is watched by now; clear its versions first."
PRESENTING = "something is presented"


class WatchAsked(NamedTuple):
    """What is to be watched.

    Attributes:
        own: The kernel, which may run.
        request: The problem and the protocol; its one kernel is the peer, or `auto`.
        others: Kernels of the user's own that may be the peer, by their names.
    """

    own: OwnKernel
    request: Request
    others: tuple[str, ...] = ()


class Prepared(NamedTuple):
    """That, read and planned.

    Attributes:
        asked: What was asked for.
        watched: The file.
        plan: What each version is measured by.
        peers: The kernels that may be the peer.
    """

    asked: WatchAsked
    watched: WatchedFile
    plan: Plan
    peers: tuple[str, ...]


class ToldVersion(NamedTuple):
    """A version that has ended, how long that took, and what records its session, None: nothing does."""

    version: Version
    timing: Timing
    recording: RunRecording | None


class Cleared(NamedTuple):
    """What was watched, and is no longer on show."""

    prepared: Prepared | None
    told: tuple[ToldVersion, ...]
    watching: Watching | None


class OwnWatch(QObject):
    """Watches one file at a time; its versions run between the sweeps of the controller.

    What it has told stays until it is cleared or another file is watched, also after it was stopped.

    Attributes:
        prepared: What is watched, or was last; None: nothing yet.
        active: Whether the file is looked at.
        told: The versions that have ended, in the order of their numbers.
        missing: Why the file cannot be read now; empty: it can.

    Signals:
        changed: Anything of that, or of what runs and waits.
        failed: Nothing can be watched: one sentence, and details (str, str).

    Args:
        controller: Has the sweeps.
        driver: What runs them.
    """

    changed = Signal()
    failed = Signal(str, str)
    _seen = Signal(object, object, object)

    def __init__(self, controller: Controller, driver: Driver) -> None:
        super().__init__(controller)
        self.prepared: Prepared | None = None
        self.active, self.missing = False, ""
        self.told: tuple[ToldVersion, ...] = ()
        self._controller, self._driver = controller, driver
        self._watching: Watching | None = None
        self._ending: Watching | None = None  # of a file that is watched no more, while a version ends
        self._saves: SaveWatch | None = None
        self._last: tuple[Save, OwnKernel | str] | None = None
        self._held = self._closed = False
        self._chores = Chores(self)
        self._seen.connect(self._take_seen)
        self._soon = QTimer(self, interval=0, singleShot=True)
        self._soon.timeout.connect(self._go_on)
        controller.running_changed.connect(lambda _running: self.follow())
        controller.occupied_changed.connect(lambda _reason: self.follow())
        controller.devices.moved.connect(self.follow)

    @property
    def in_flight(self) -> InFlight | None:
        """The version that is measured; None: none is."""
        return self._watching.in_flight if self._watching else None

    @property
    def waiting(self) -> InFlight | None:
        """The version that is next; None: none is."""
        return self._watching.waiting if self._watching else None

    @property
    def why_waits(self) -> str:
        """Why no version can be measured now; empty: one can."""
        return PRESENTING if self._held else self._controller.why_no_sweep or self._why_not_there

    @property
    def about_to_run(self) -> bool:
        """Whether a version begins as soon as nothing runs: it goes before sweeps that wait."""
        waits = self.waiting is not None and not self._held
        return waits and not self._controller.occupied and not self._why_not_there

    @property
    def _why_not_there(self) -> str:
        """Why the devices in use measure no version, in one sentence; empty: they do."""
        if self._watching is None:
            return ""
        controller = self._controller
        return controller.devices.why_no_version(self._watching.plan.backend, controller.machine)

    def start(self, asked: WatchAsked) -> None:
        """Watch a kernel's file; one that was watched before with its versions goes on with them."""
        machine = self._controller.machine
        device = machine.device(asked.request.backend) if machine else None
        if device is None:
            self.failed.emit(NO_DEVICE, "")
        else:
            self._chores.do(partial(_prepare, asked, device), self._begin)

    def measure_again(self) -> None:
        """Measure what the file held last once more, as a version of its own."""
        if self._watching is not None and self._last is not None and self.active:
            save, declared = self._last
            self._take_save(save._replace(seen_ns=time.monotonic_ns()), declared)

    def stop(self) -> None:
        """Look at the file no more; a version that is measured is given up."""
        if self.active and self._watching is not None:
            self.active, self.missing = False, ""
            self._let_go()
            self._watching.stop()
            self.changed.emit()

    def clear(self) -> Cleared:
        """Stop, and forget the versions; their sessions stay. Returns what `put_back` takes."""
        self.stop()
        cleared = Cleared(self.prepared, self.told, self._watching)
        self._leave()
        self.prepared, self.told = None, ()
        self.changed.emit()
        return cleared

    def put_back(self, cleared: Cleared) -> str:
        """Show versions again that were cleared; why that cannot be, or nothing."""
        if self.prepared is not None:
            return OTHER_WATCHED.format(self.prepared.watched.path.name)
        self.prepared, self.told, self._watching = cleared
        self.changed.emit()
        return ""

    def hold(self, held: bool) -> None:
        """Let nothing be measured, or let it again."""
        if held is not self._held:
            self._held = held
            self.follow()

    def take(self, told: Event | FileNote) -> None:
        """Carry to the driver what its engine or a recording said."""
        watching = self._ending or self._watching
        if watching is None:
            self._driver.take(told)
            return
        before = watching.in_flight is not None, watching.in_flight and watching.in_flight.checked
        watching.take(told)
        if self._ending is not None and self._ending.in_flight is None:
            self._ending = None
        if before != (watching.in_flight is not None, watching.in_flight and watching.in_flight.checked):
            self.changed.emit()

    def follow(self) -> None:
        """Measure what waits as soon as it can be, once all have heard what has just happened."""
        if self.waiting is not None:
            self._soon.start()
            self.changed.emit()

    def close(self) -> None:
        """Look at nothing more, and wait for it."""
        self._closed, self.active = True, False
        for watching in filter(None, (self._watching, self._ending)):
            watching.stop()
        self._soon.stop()
        self._let_go()
        self._chores.wait()

    def _begin(self, found: Prepared | str) -> None:
        if self._closed:
            return
        if isinstance(found, str):
            self.failed.emit(found, "")
            return
        before, again = self.prepared, self._watching is not None and self.active
        goes_on = before is not None and before.watched == found.watched and self._watching is not None
        self.prepared = found
        if goes_on and self._watching is not None:
            self._watching.plan = found.plan
            self._watching.resume()
        else:
            self._leave()
            self.told = ()
            self._watching = self._watch_anew(found)
        if goes_on and again:  # by another plan
            self.measure_again()
        else:
            self.active = True
            self._look(found.watched)
        self.changed.emit()

    def _watch_anew(self, found: Prepared) -> Watching:
        controller = self._controller

        def record(own: OwnKernel) -> OpenRecording:
            return controller.version_recording(made.plan.backend, own.name)

        def tell(version: Version, timing: Timing, recording: RunRecording | None) -> None:
            if self._watching is made:
                told = (*self.told, ToldVersion(version, timing, recording))
                self.told = tuple(sorted(told, key=lambda one: one.version.number))
                self.changed.emit()

        from flashscope.profiles.watching.watching import Watching  # noqa: PLC0415 - it needs NumPy

        made = Watching(self._driver, found.watched, found.plan, record, tell, run=controller.run_version)
        return made

    def _leave(self) -> None:
        """Have nothing to do with the file that was watched, but for a version that still has to end."""
        self._let_go()
        if self._watching is not None and self._watching.in_flight is not None:
            self._watching.stop()
            self._ending = self._watching
        self._watching, self._last = None, None

    def _look(self, watched: WatchedFile) -> None:
        self._let_go()
        token = object()  # of this look: what an earlier one finds late counts no more

        def put(found: Save | Missing) -> None:
            self._seen.emit(token, found, watched.read(found) if isinstance(found, Save) else None)

        self._token = token
        self._saves = SaveWatch(watched.path, put)

    def _let_go(self) -> None:
        if self._saves is not None:
            self._chores.do(self._saves.stop)  # it may wait for a slow disk
            self._saves, self._token = None, object()

    def _take_seen(self, token: object, found: Save | Missing, declared: OwnKernel | str) -> None:
        if token is not self._token:
            return
        if isinstance(found, Missing):
            self.missing = found.text
            self.changed.emit()
        else:
            self.missing = ""
            self._last = found, declared
            self._take_save(found, declared)

    def _take_save(self, save: Save, declared: OwnKernel | str) -> None:
        if self._watching is not None:
            self._watching.take_save(save, declared)
            self.follow()
            self.changed.emit()

    def _go_on(self) -> None:
        if self._watching is None or self.waiting is None or self.why_waits:
            return
        try:
            self._watching.go_on()
        except EngineBusyError:
            return  # it goes on when that has ended
        self.changed.emit()


def _prepare(asked: WatchAsked, device: Device) -> Prepared | str:
    """Read the file and plan; why that cannot be, in a sentence."""
    from flashscope.profiles.watching.watching import WatchedFile  # noqa: PLC0415 - as above

    own, request = asked.own, asked.request
    if request.backend not in own.backends:
        return ELSEWHERE.format(own.name, " and ".join(own.backends), request.backend)
    try:
        watched, plan = WatchedFile.of(own), request.plan()
        if request.kernels == (AUTO,):
            fastest = dict.fromkeys(choose(problem, device).spec.name for problem in plan.problems)
            plan = replace(plan, kernels=tuple(fastest))
        plan = replace(plan, own=tuple(map(with_source, plan.own)))
    except (KernelError, ValueError) as error:
        return str(error)
    here = [spec.name for spec in KERNELS if spec.library_is_at(device)]
    peers = runnable((*here, *asked.others), plan.problems, device)
    return Prepared(asked, watched, plan, peers)
