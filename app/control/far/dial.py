"""An attempt to take a device of another machine, on a thread of its own: ssh alone may need many seconds."""

from contextlib import ExitStack
from functools import partial
from subprocess import Popen
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.far.gate import EventGate
from flashscope.app.control.guard import guarded
from flashscope.profiles.cluster.connection import ConnectError
from flashscope.profiles.cluster.reaching import reached, remote_engine

if TYPE_CHECKING:  # they import Dask
    from flashscope.profiles.cluster.devices import FarDevice
    from flashscope.profiles.cluster.remote import RemoteEngine

NOTHING_FREE = "No device of {} can be taken: {}"


class Wanted(NamedTuple):
    """What is to be taken.

    Attributes:
        named: The connection file or address, as the user names it.
        device: What the host calls the device; empty: the first that can be taken.
        replaces: The token by which the device was held before the connection was lost; empty: it was not.
    """

    named: str
    device: str = ""
    replaces: str = ""


class FarPlace:
    """A device of another machine that is held for this window.

    Attributes:
        wanted: What was asked for.
        devices: All devices of its host, as they were when this one was taken.
        engine: What measures there.
    """

    def __init__(
        self, wanted: Wanted, devices: "tuple[FarDevice, ...]", engine: "RemoteEngine", ends: ExitStack
    ) -> None:
        self.wanted, self.devices, self.engine, self._ends = wanted, devices, engine, ends

    @property
    def host(self) -> str:
        """The name of the machine."""
        return self.engine.place.host

    @property
    def device(self) -> str:
        """What the host calls the device."""
        return self.engine.place.device

    def close(self) -> None:
        """Give the device back, and end what led to it; this takes some seconds."""
        self.engine.close()
        self._ends.close()


class Dial(QObject):
    """One attempt, which begins at once.

    Args:
        wanted: What is to be taken.
        gate: Takes what the engine says.
        parent: Its owner.

    Signals:
        told: What is being done (str).
        taken: The device is held (FarPlace).
        failed: It cannot be, for this reason, a sentence with the remedy (str).
        lost: A device that was taken is lost, for this reason (str).
    """

    told = Signal(str)
    taken = Signal(object)
    failed = Signal(str)
    lost = Signal(str)

    def __init__(self, wanted: Wanted, gate: EventGate, parent: QObject) -> None:
        super().__init__(parent)
        self.wanted, self.gate = wanted, gate
        self._cancelled = Flag()
        self._ssh: Popen[str] | None = None
        self._place: FarPlace | None = None
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
                devices, engine = self._take(ends)
            except ConnectError as error:
                if not self._cancelled.is_set():
                    self.failed.emit(str(error))
                return
            place = FarPlace(self.wanted, devices, engine, ends.pop_all())
        if self._cancelled.is_set():
            place.close()
        else:
            self._place = place
            self.taken.emit(place)

    def _take(self, ends: ExitStack) -> "tuple[tuple[FarDevice, ...], RemoteEngine]":
        """Connect, look at what there is, and take what is wanted.

        Raises:
            ConnectError: It cannot be done, or is no longer wanted.
        """
        wanted, make_engine = self.wanted, remote_engine()
        from flashscope.profiles.cluster.devices import list_devices  # noqa: PLC0415 - imports Dask

        self._tell(f"Reaching {wanted.named} …")
        connection = ends.enter_context(reached(wanted.named, self._started))
        self._tell(f"Asking {wanted.named} for its devices …")
        devices = list_devices(connection)
        if not wanted.replaces and (why := _why_none(wanted, devices)):
            raise ConnectError(why)
        self._tell(f"Taking {wanted.device or 'a device'} …")
        make = partial(make_engine, self.gate, connection, lost=self.lost.emit)
        return devices, make(device=wanted.device, replaces=wanted.replaces)

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


def _why_none(wanted: Wanted, devices: "tuple[FarDevice, ...]") -> str:
    """Why nothing that is wanted can be taken, each device with its reason; empty: something can."""
    reasons = [one.why_not for one in devices if wanted.device in {"", one.name}]
    return "" if not all(reasons) or not reasons else NOTHING_FREE.format(wanted.named, " ".join(reasons))
