"""Where it is measured: on this machine, or on devices of hosts that are connected to."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import NamedTuple

from flashscope.profiles.cluster.connection import Connection
from flashscope.profiles.cluster.device_words import ALL, DeviceWords
from flashscope.profiles.cluster.reaching import reached, remote_engine
from flashscope.profiles.engine.contract import EngineFactory
from flashscope.profiles.engine.local import LocalEngine


class Hosts(NamedTuple):
    """Hosts that measure.

    Attributes:
        addresses: Their connection files or addresses; none: this machine measures.
        devices: Which of their devices; None: of one host the first that is free, of several all.
        written: The devices as they were given; empty: they were not.
    """

    addresses: tuple[str, ...] = ()
    devices: DeviceWords | None = None
    written: str = ""

    @classmethod
    def one(cls, address: str | None) -> "Hosts":
        """One host, or this machine."""
        return cls((address,) if address else ())

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
    """
    if not hosts.addresses:
        yield LocalEngine
        return
    engine = remote_engine()  # first: it says what is not installed
    from flashscope.profiles.cluster.choosing import chosen_devices  # noqa: PLC0415 - imports Dask
    from flashscope.profiles.cluster.several import SeveralEngine  # noqa: PLC0415 - for these alone

    with connected(hosts.addresses) as connections:
        if hosts.devices is None and len(connections) == 1:
            yield partial(engine, connection=connections[0])
            return
        devices = chosen_devices(connections, hosts.devices or ALL)
        yield partial(SeveralEngine, makers=[device.engine() for device in devices])


@contextmanager
def connected(addresses: tuple[str, ...]) -> Iterator[list[Connection]]:
    """The connections to these hosts, those by ssh for as long as this lasts."""
    with ExitStack() as stack:
        yield [stack.enter_context(reached(one)) for one in addresses]
