"""An attempt to take devices of another machine, on a thread of its own: ssh alone may need many seconds."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from subprocess import Popen
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from flashscope.app.control.far.gate import EventGate
from flashscope.app.control.far.places import TakenDevices, Wanted
from flashscope.app.control.far.repeat_engine import RecordBeside, RepeatEngine
from flashscope.app.control.guard import guarded
from flashscope.profiles.cluster.connection import ConnectError, Connection
from flashscope.profiles.cluster.reaching import reached, remote_engine
from flashscope.profiles.cluster.several import SeveralEngine
from flashscope.profiles.engine.contract import Engine, EngineFactory, Sink

if TYPE_CHECKING:  # they import Dask
    from flashscope.profiles.cluster.devices import FarDevice
    from flashscope.profiles.cluster.remote import RemoteEngine

NOT_TAKEN = "The devices of {} cannot be taken: {}"
NOT_SERVED = "{} is not lent there."


class Dial(QObject):
    """One attempt, which begins at once.

    Args:
        wanted: What is to be taken.
        gate: Takes what the engine says.
        record: See `together`.
        parent: Its owner.

    Signals:
        told: What is being done (str).
        taken: The devices are held (TakenDevices).
        failed: They cannot be, for this reason, a sentence with the remedy (str).
        lost: A device that was taken is lost, for this reason (str).
    """

    told = Signal(str)
    taken = Signal(object)
    failed = Signal(str)
    lost = Signal(str)

    def __init__(self, wanted: Wanted, gate: EventGate, record: RecordBeside, parent: QObject) -> None:
        super().__init__(parent)
        self.wanted, self.gate, self._record = wanted, gate, record
        self._cancelled = Flag()
        self._ssh: Popen[str] | None = None
        self._place: TakenDevices | None = None
        self._thread = Thread(target=self._run, name="connecting")

    def begin(self) -> None:
        """Begin; called once those who want to know are connected."""
        self._thread.start()

    def cancel(self) -> None:
        """Let it come to nothing: nothing is told from now on, and what it has begun is ended."""
        self._cancelled.set()
        if self._ssh is not None:
            self._ssh.terminate()

    def end(self) -> None:
        """Cancel it and return when nothing of it is left."""
        self.cancel()
        self._thread.join()
        if self._place is not None:
            self._place.close()

    @guarded()
    def _run(self) -> None:
        """On the thread."""
        with ExitStack() as ends:
            try:
                place = self._take(ends)
            except ConnectError as error:
                if not self._cancelled.is_set():
                    self.failed.emit(str(error))
                return
        if self._cancelled.is_set():
            place.close()
        else:
            self._place = place
            self.taken.emit(place)

    def _take(self, ends: ExitStack) -> TakenDevices:
        """Connect, look at what there is, and take what is wanted.

        Raises:
            ConnectError: It cannot be done, or is no longer wanted.
        """
        wanted, make_engine = self.wanted, remote_engine()
        self._tell(f"Reaching {wanted.named} …")
        connection = ends.enter_context(reached(wanted.named, self._started))
        self._tell(f"Asking {wanted.named} for its devices …")
        devices = _listed(wanted, connection)
        if why := _why_not(wanted, devices):
            raise ConnectError(why)
        tokens, engines = dict(wanted.held), list["RemoteEngine"]()

        def make(sink: Sink, device: str) -> "RemoteEngine":
            self._tell(f"Taking {device or 'a device'} …")
            replaces = tokens.get(device, "")
            engines.append(
                make_engine(sink, connection, device=device, replaces=replaces, lost=self.lost.emit)
            )
            return engines[-1]

        engine: Engine
        if len(wanted.devices) > 1:
            makers = [(name, partial(make, device=name)) for name in wanted.devices]
            engine = together(wanted, self.gate, makers, self._record)
        else:
            engine = make(self.gate, *(wanted.devices or [""]))
        held = tuple((one.place.device, one.place.token) for one in engines)
        return TakenDevices(
            wanted,
            engine,
            tuple(name for name, _ in held),
            host=engines[0].place.host,
            held=held,
            devices=devices,
            look=partial(_as_they_are, wanted._replace(held=held), connection),
            ends=ends.pop_all(),
        )

    def _tell(self, text: str) -> None:
        """Say what is being done.

        Raises:
            ConnectError: It is no longer wanted.
        """
        if self._cancelled.is_set():
            raise ConnectError("It was cancelled.")
        self.told.emit(text)

    def _started(self, ssh: "Popen[str]") -> None:
        self._ssh = ssh
        if self._cancelled.is_set():
            ssh.terminate()


def together(
    wanted: Wanted, sink: Sink, makers: Sequence[tuple[str, EngineFactory]], record: RecordBeside
) -> Engine:
    """The engine of several devices.

    Args:
        wanted: Whether each measures all of a sweep.
        sink: Takes what it says.
        makers: What makes the engine of each device, by what the device is called.
        record: Makes what records the sessions of devices beside the first, where sweeps are repeated.
    """
    if wanted.repeat:
        return RepeatEngine(sink, makers, record)
    return SeveralEngine(sink, makers)


def _listed(wanted: Wanted, connection: Connection) -> "tuple[FarDevice, ...]":
    """The devices of a host; those that this window holds are held by nobody else.

    Raises:
        ConnectError: The host does not answer, or does not tell.
    """
    from flashscope.profiles.cluster.devices import list_devices  # noqa: PLC0415 - imports Dask

    ours = dict(wanted.held)
    return tuple(
        one._replace(told=replace(one.told, holder="")) if one.name in ours else one
        for one in list_devices(connection)
    )


def _as_they_are(wanted: Wanted, connection: Connection) -> "tuple[FarDevice, ...]":
    """The same; none where the host does not tell: that it is lost, its engine says."""
    try:
        return _listed(wanted, connection)
    except ConnectError:
        return ()


def _why_not(wanted: Wanted, devices: "tuple[FarDevice, ...]") -> str:
    """Why what is wanted cannot be taken, each device with its reason; empty: it can."""
    there = {one.name for one in devices}
    reasons = [NOT_SERVED.format(name) for name in wanted.devices if name not in there]
    reasons += [one.why_not for one in devices if one.name in (wanted.devices or there)]
    missed = any(reasons) if wanted.devices else all(reasons) and reasons
    return NOT_TAKEN.format(wanted.named, " ".join(filter(None, reasons))) if missed else ""
