"""An attempt to take devices of another machine, on a thread of its own: ssh alone may need many seconds."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from subprocess import Popen
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from flashscope.app.control.far.gate import EventGate
from flashscope.app.control.far.places import HostDevices, HostTie, TakenDevices, Wanted, labels_of
from flashscope.app.control.far.repeat_engine import RecordBeside, RepeatEngine
from flashscope.app.control.guard import guarded
from flashscope.profiles.cluster.client.reaching import reached, remote_engine
from flashscope.profiles.cluster.client.ssh import SshAddress
from flashscope.profiles.cluster.connection import ConnectError, Connection
from flashscope.profiles.cluster.several.engine import SeveralEngine
from flashscope.profiles.engine.contract import Engine, EngineFactory, Sink

if TYPE_CHECKING:  # they import Dask
    from flashscope.profiles.cluster.client.devices import FarDevice
    from flashscope.profiles.cluster.client.remote import RemoteEngine

NOT_TAKEN = "The devices of {} cannot be taken: {}"
NOT_SERVED = "{} is not lent there."


class ReachedHost(NamedTuple):
    """A host that is reached.

    Attributes:
        asked: What is wanted of it.
        tie: What leads there.
        found: All devices that it lends.
    """

    asked: HostDevices
    tie: HostTie
    found: "tuple[FarDevice, ...]"


class Dial(QObject):
    """One attempt, which begins at once.

    Args:
        wanted: What is to be taken.
        ties: The ways to hosts that are reached already, by what the user calls those.
        gate: Takes what the engine says.
        record: See `together`.
        ending: What ends engines that were in use before, whose devices this window holds until then.
        parent: Its owner.

    Signals:
        told: What is being done (str).
        taken: The devices are held (TakenDevices).
        failed: They cannot be, for this reason, a sentence with the remedy (str).
        lost: A device that was taken of a host is lost, for this reason (str, str).
    """

    told = Signal(str)
    taken = Signal(object)
    failed = Signal(str)
    lost = Signal(str, str)

    def __init__(
        self,
        wanted: Wanted,
        ties: Mapping[str, HostTie],
        gate: EventGate,
        record: RecordBeside,
        *,
        ending: Sequence[Thread],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.wanted, self.gate = wanted, gate
        self._ties, self._record, self._ending = ties, record, ending
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
            self.give_up(self._place)

    def give_up(self, place: TakenDevices) -> None:
        """Give back what it has taken; ways that others had before stay."""
        place.close(self._ties.values())

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
            self.give_up(place)
        else:
            self._place = place
            self.taken.emit(place)

    def _take(self, ends: ExitStack) -> TakenDevices:
        """Connect, look at what there is, and take what is wanted.

        Raises:
            ConnectError: It cannot be done, or is no longer wanted.
        """
        make_engine = remote_engine()
        hosts = [self._reach(one, ends) for one in self.wanted.hosts]
        if self._ending and _why_none(hosts):
            self._tell("Giving back what was in use before …")
            for thread in self._ending:
                thread.join()
            hosts = [one._replace(found=_listed(one.asked, one.tie.connection)) for one in hosts]
        if why := _why_none(hosts):
            raise ConnectError(why)
        taken = list[tuple[ReachedHost, "RemoteEngine"]]()

        def make(sink: Sink, host: ReachedHost, device: str) -> "RemoteEngine":
            self._tell(f"Taking {device or 'a device'} of {host.asked.named} …")
            replaces, lost = dict(host.asked.held).get(device, ""), partial(self.lost.emit, host.asked.named)
            connection = host.tie.connection
            engine = make_engine(sink, connection, device=device, replaces=replaces, lost=lost)
            taken.append((host, engine))
            return engine

        engine: Engine
        devices = [(host, name) for host in hosts for name in host.asked.devices]
        if len(devices) > 1:
            makers = [partial(make, host=host, device=name) for host, name in devices]
            names = self.wanted._replace(hosts=_called(hosts)).names
            engine = together(self.wanted, self.gate, list(zip(names, makers, strict=True)), self._record)
        else:
            engine = make(self.gate, *(devices or [(hosts[0], "")])[0])
        ends.pop_all()
        return TakenDevices(
            self.wanted._replace(hosts=_held(hosts, taken)),
            engine,
            {one.asked.named: one.tie for one in hosts},
            {one.asked.named: one.found for one in hosts},
        )

    def _reach(self, asked: HostDevices, ends: ExitStack) -> ReachedHost:
        """The way to a host, which is ended with those, and what it lends.

        Raises:
            ConnectError: There is none, or it does not tell.
        """
        named = asked.named
        if (tie := self._ties.get(named)) is None:
            self._tell(f"Reaching {named} …")
            way = ends.enter_context(ExitStack())
            tie = HostTie(way.enter_context(reached(named, self._started)), way)
        self._tell(f"Asking {named} for its devices …")
        return ReachedHost(asked, tie, _listed(asked, tie.connection))

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


def _listed(asked: HostDevices, connection: Connection) -> "tuple[FarDevice, ...]":
    """The devices of a host; those that this window holds are held by nobody else.

    Raises:
        ConnectError: The host does not answer, or does not tell.
    """
    from flashscope.profiles.cluster.client.devices import list_devices  # noqa: PLC0415 - imports Dask

    ours = dict(asked.held)
    return tuple(
        one._replace(told=replace(one.told, holder="")) if one.name in ours else one
        for one in list_devices(connection)
    )


def devices_now(asked: HostDevices, tie: HostTie | None) -> "tuple[FarDevice, ...]":
    """The same; none where the host does not tell, or only ssh would lead there: nobody else can be there."""
    if tie is None and SshAddress.parse(asked.named) is not None:
        return ()
    try:
        with nullcontext(tie.connection) if tie else reached(asked.named) as connection:
            return _listed(asked, connection)
    except ConnectError:
        return ()


def _why_none(hosts: Sequence[ReachedHost]) -> str:
    """Why what is wanted of hosts cannot be taken; empty: it can."""
    return " ".join(filter(None, map(_why_not, hosts)))


def _why_not(host: ReachedHost) -> str:
    """Why what is wanted cannot be taken, each device with its reason; empty: it can."""
    wanted, there = host.asked.devices, {one.name for one in host.found}
    reasons = [NOT_SERVED.format(name) for name in wanted if name not in there]
    reasons += [one.why_not for one in host.found if one.name in (wanted or there)]
    missed = any(reasons) if wanted else all(reasons) and reasons
    return NOT_TAKEN.format(host.asked.named, " ".join(filter(None, reasons))) if missed else ""


def _called(hosts: Sequence[ReachedHost]) -> tuple[HostDevices, ...]:
    """What is wanted of hosts, with what these are called."""
    labels = labels_of({one.asked.named: one.found for one in hosts})
    return tuple(one.asked._replace(host=labels[one.asked.named]) for one in hosts)


def _held(
    hosts: Sequence[ReachedHost], taken: "Sequence[tuple[ReachedHost, RemoteEngine]]"
) -> tuple[HostDevices, ...]:
    """What is held of hosts; one alone is called as the machine of its first device."""
    found = []
    for host, called in zip(hosts, _called(hosts), strict=True):
        there = [engine.place for of, engine in taken if of is host]
        held = tuple((one.device, one.token) for one in there)
        label = called.host if len(hosts) > 1 else there[0].host
        found.append(HostDevices(called.named, tuple(name for name, _ in held), label, held))
    return tuple(found)
