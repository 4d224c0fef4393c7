"""Where it is measured: on this machine, on several GPUs of it, or on devices of hosts."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import NamedTuple

from flashscope.kernels.workload.errors import DeviceUnavailableError
from flashscope.profiles.cluster.client.device_words import (
    ALL,
    DeviceWords,
    UnknownDeviceError,
    meant_devices,
)
from flashscope.profiles.cluster.client.reaching import reached, remote_engine
from flashscope.profiles.cluster.connection import Connection
from flashscope.profiles.cluster.settings import Served
from flashscope.profiles.engine.contract import EngineFactory, Sink
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.worker.nvml import NvmlError, listed_gpus


class Hosts(NamedTuple):
    """Hosts that measure.

    Attributes:
        addresses: Their connection files or addresses; none: this machine measures.
        devices: Which of their devices, or of the GPUs of this machine; None: of one host the first that is
            free, of several all, and here what there is.
        written: The devices as they were given; empty: they were not.
        together: Whether the devices compute one thing together, so that those of other hosts are left out.
    """

    addresses: tuple[str, ...] = ()
    devices: DeviceWords | None = None
    written: str = ""
    together: bool = False

    @classmethod
    def one(cls, address: str | None) -> "Hosts":
        """One host, or this machine."""
        return cls((address,) if address else ())

    @property
    def are_gpus_here(self) -> bool:
        """Whether they are GPUs of this machine that were chosen: its CPU does not stand in for them."""
        return not self.addresses and self.devices is not None

    @property
    def words(self) -> list[str]:
        """The words of a command line that say this again."""
        connects = [word for address in self.addresses for word in ("--connect", address)]
        return [*connects, *(["--devices", self.written] if self.written else [])]


HERE = Hosts()


@contextmanager
def engine_of(hosts: Hosts) -> Iterator[EngineFactory]:
    """What makes the engine that measures here, or on hosts, which ssh may have to start.

    Raises:
        ConnectError: Dask is not installed, there is no such connection, or no such device.
        DeviceUnavailableError: There is no such GPU here.
    """
    if not hosts.addresses:
        yield LocalEngine if hosts.devices is None else _engine_of_gpus(local_gpus(hosts.devices))
        return
    engine = remote_engine()  # first: it says what is not installed
    from flashscope.profiles.cluster.client.choosing import chosen_devices  # noqa: PLC0415 - imports Dask
    from flashscope.profiles.cluster.several.engine import SeveralEngine  # noqa: PLC0415 - for these alone

    with connected(hosts.addresses) as connections:
        if hosts.devices is None and len(connections) == 1:
            yield partial(engine, connection=connections[0])
            return
        devices = chosen_devices(connections, hosts.devices or ALL, together=hosts.together)
        engines: list[SeveralEngine] = []

        def lost(reason: str) -> None:
            for one in engines:
                one.lose(reason)

        def make(sink: Sink) -> SeveralEngine:
            engines.append(SeveralEngine(sink, [device.engine(lost) for device in devices]))
            return engines[-1]

        yield make


@contextmanager
def connected(addresses: tuple[str, ...]) -> Iterator[list[Connection]]:
    """The connections to these hosts, those by ssh for as long as this lasts."""
    with ExitStack() as stack:
        yield [stack.enter_context(reached(one)) for one in addresses]


def local_gpus(words: DeviceWords) -> list[Served]:
    """The GPUs of this machine that are meant.

    Raises:
        DeviceUnavailableError: There is none, or not what is meant.
    """
    try:
        listed = [Served(name=f"GPU {one.number}, {one.name}", gpu=one.uuid) for one in listed_gpus()]
    except NvmlError as error:
        raise DeviceUnavailableError(
            f"No GPU here to choose from: {error} Leave --devices and --spread out, or give --connect, too."
        ) from error
    try:
        return meant_devices([listed], words)
    except UnknownDeviceError as error:
        raise DeviceUnavailableError(str(error)) from error


def _engine_of_gpus(gpus: list[Served]) -> EngineFactory:
    """What makes the engine of these GPUs of this machine; nothing of Dask is imported."""
    if len(gpus) == 1:
        return partial(LocalEngine, gpu=gpus[0].gpu)
    from flashscope.profiles.cluster.several.engine import SeveralEngine  # noqa: PLC0415 - for these alone

    return partial(SeveralEngine, makers=[(one.name, partial(LocalEngine, gpu=one.gpu)) for one in gpus])
