"""A host whose devices join the scheduler of another: clients of that one see them beside its own."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection as Pipe

from msgspec.structs import replace

from flashscope.profiles.cluster.calls import Describe, Described, Versions
from flashscope.profiles.cluster.client.devices import OTHER_BUILD
from flashscope.profiles.cluster.client.link import LinkError, SchedulerLink
from flashscope.profiles.cluster.connection import Address, ConnectError, Connection
from flashscope.profiles.cluster.host.members import Members
from flashscope.profiles.cluster.host.run_folder import HostError, keep_proofs, run_folder
from flashscope.profiles.cluster.settings import HostSettings, Served
from flashscope.profiles.cluster.versions import obstacle_of_builds, versions_here

LOST = (
    "The scheduler at {} has ended, or cannot be reached any more; start serve there, and join it anew with "
    "the file of that run."
)
REMEDY = (
    "name with --host an address of this machine that leads here from there, and have its firewall take "
    "connections, of --port alone where that is given"
)


class Joining:
    """Devices that are lent by another host's scheduler, from their begin to its end; used on one thread.

    Args:
        settings: How long a device is held, by which name and port this machine is reached if they were
            named, and whether it trusts code.
        devices: What is lent, by names that tell the host.
        connection: Leads to the scheduler.
        joined: Called once all devices can be reached.
        say: Takes the lines of the log.
    """

    def __init__(
        self,
        settings: HostSettings,
        devices: Sequence[Served],
        connection: Connection,
        joined: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        self._settings, self._devices, self._connection = settings, devices, connection
        self._joined, self._members = joined, Members(say)

    def run(self, stop: Pipe) -> None:
        """Lend until something can be read from `stop`.

        Raises:
            ConnectError: The scheduler cannot be reached, or refuses.
            HostError: It has ended, a process does not start, or the disk takes no files.
        """
        connection = self._connection
        lent, versions = asyncio.run(_looked(connection))
        if obstacle := obstacle_of_builds(versions_here(), versions):
            raise ConnectError(obstacle)
        if obstacle := obstacle_to_joining(self._devices, lent, connection.address):
            raise ConnectError(obstacle)
        host = address_towards(connection.address, self._settings.host)
        for port in self._ports:
            check_port(host, port)
        with run_folder() as folder:
            plain = not connection.ca
            settings = replace(
                self._settings, folder=str(folder), host=host, scheduler=connection.address, plain=plain
            )
            if not plain:
                keep_proofs(connection.ca, connection.certificate, connection.key, folder)
            try:
                self._lend(settings, stop)
            finally:
                self._members.end()

    def _lend(self, settings: HostSettings, stop: Pipe) -> None:
        for device, port in zip(self._devices, self._ports, strict=True):
            self._members.start_device(device, replace(settings, port=port))
        if not self._follow(lambda: all(one.ready for one in self._members), stop):
            return
        asyncio.run(_check_reached(self._connection, self._devices, settings.host))
        self._joined()
        self._follow(lambda: False, stop)

    def _follow(self, reached: Callable[[], bool], stop: Pipe) -> bool:
        """Lend until something is reached; False where it is to stop before.

        Raises:
            HostError: The scheduler has ended.
        """
        going_on = self._members.follow(lambda: reached() or self._cut_off, stop)
        if going_on and self._cut_off:
            raise HostError(LOST.format(self._connection.address))
        return going_on

    @property
    def _ports(self) -> list[int]:
        """The port of each device, 0: any."""
        first = self._settings.port
        return [first + place if first else 0 for place in range(len(self._devices))]

    @property
    def _cut_off(self) -> bool:
        return any(one.cut_off for one in self._members)


def obstacle_to_joining(devices: Sequence[Served], lent: Sequence[Served], address: str) -> str:
    """Why these devices cannot be lent beside others, in a sentence with the remedy; empty: they can."""
    for device in devices:
        for other in lent:
            if device.gpu and device.gpu == other.gpu:
                told = f"{device.name} is lent at {address} already, as {other.name}"
                return f"{told}; end the serve that lends it."
            if device.name == other.name:
                told = f"{device.name} is lent at {address} already"
                return f"{told}; end the serve that lends it, or call this host otherwise with --name."
    return ""


def address_towards(scheduler: str, named: str = "") -> str:
    """The address of this machine by which a scheduler reaches it; `named` is what the user calls it.

    Raises:
        ConnectError: This machine has no such address.
    """
    there = Address.parse(scheduler)
    if there is None:
        raise ConnectError(f"{scheduler[:60]!r} is no address.")
    try:
        if named:
            return _bindable(named)
        family, kind, _, _, place = socket.getaddrinfo(there.host, there.port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(place)  # sends nothing
            return str(probe.getsockname()[0])
    except OSError as error:
        told = f"{named or 'This machine'} cannot be reached from {scheduler} ({error.strerror or error})"
        raise ConnectError(f"{told}; name an address of this machine with --host.") from error


def check_port(host: str, port: int) -> None:
    """See that a device can be reached there.

    Raises:
        ConnectError: The port is taken, or is none.
    """
    try:
        with socket.socket(_family(host)) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        told = f"Port {port} of {host} is not to be had ({why}); choose another with --port."
        raise ConnectError(told) from error


def _bindable(named: str) -> str:
    """The address of a name, if it is one of this machine's.

    Raises:
        OSError: It is none.
    """
    family, _, _, _, place = socket.getaddrinfo(named, 0, type=socket.SOCK_STREAM)[0]
    with socket.create_server((place[0], 0), family=family):
        return str(place[0])


def _family(host: str) -> int:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


async def _looked(connection: Connection) -> tuple[tuple[Served, ...], Versions]:
    """What is lent there by now, and of what that host is made.

    Raises:
        ConnectError: It does not answer, or does not tell.
    """
    link = SchedulerLink(connection)
    try:
        served = await link.served()
        if not served:
            raise ConnectError(f"{link.address} serves no device yet; try again in a moment.")
        worker, first = next(iter(served.items()))
        answer = await link.call(worker, Describe())
    except LinkError as error:
        raise error.refusal from error
    finally:
        await link.close()
    if not isinstance(answer, Described):
        raise ConnectError(OTHER_BUILD.format(first.name, connection.address))
    return tuple(served.values()), answer.versions


async def _check_reached(connection: Connection, devices: Sequence[Served], host: str) -> None:
    """Have the scheduler call every device.

    Raises:
        HostError: It does not reach one, or cannot be reached itself any more.
    """
    link = SchedulerLink(connection)
    try:
        workers = {name: worker for worker, name in (await link.workers()).items()}
        for device in devices:
            if unreached := await _unreached(link, workers.get(device.name, "")):
                told = f"{link.address} does not reach {device.name} at {host} ({unreached})"
                raise HostError(f"{told}; {REMEDY}.")
    except LinkError as error:
        raise HostError(LOST.format(link.address)) from error
    finally:
        await link.close()


async def _unreached(link: SchedulerLink, worker: str) -> str:
    """Why the scheduler does not reach a worker, as a clause; empty: it does."""
    try:
        await link.call(worker, Describe())
    except LinkError as error:
        return str(error)
    return ""
