"""The devices that hosts lend, and which of them a user means."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from flashscope.profiles.cluster.client.device_words import DeviceWords, UnknownDeviceError, meant_devices
from flashscope.profiles.cluster.client.link import LinkError, SchedulerLink
from flashscope.profiles.cluster.client.remote import RemoteEngine
from flashscope.profiles.cluster.connection import ConnectError, Connection
from flashscope.profiles.cluster.settings import Served
from flashscope.profiles.engine.contract import EngineFactory


class LentDevice(NamedTuple):
    """A device of a host.

    Attributes:
        place: The number of its host among those that were named.
        connection: Where that is.
        served: What the host calls it, and its UUID.
    """

    place: int
    connection: Connection
    served: Served

    @property
    def name(self) -> str:
        """What it is called among those of several hosts."""
        return f"{self.served.name} at {self.connection.address}"

    @property
    def gpu(self) -> str:
        """See `Served`."""
        return self.served.gpu

    def is_called(self, word: str) -> bool:
        """See `Served`."""
        return self.served.is_called(word)

    def engine(self, lost: Callable[[str], None] = lambda _reason: None) -> tuple[str, EngineFactory]:
        """Its name, and what makes the engine that measures on it; see `RemoteEngine`."""
        make = partial(RemoteEngine, connection=self.connection, device=self.served.name, lost=lost)
        return self.name, make


def chosen_devices(
    connections: Sequence[Connection], words: DeviceWords, *, together: bool = False
) -> list[LentDevice]:
    """The devices of these hosts that are meant; see `meant_devices`.

    Args:
        connections: Where the hosts are.
        words: Which devices.
        together: Whether they compute one thing together: those that have joined a host are not meant.

    Raises:
        ConnectError: A host cannot be reached, or does not lend what is meant.
    """
    lent = [_lent(place, connection) for place, connection in enumerate(connections)]
    if together:
        lent = [[one for one in each if not one.served.joined] for each in lent]
    try:
        return meant_devices(lent, words)
    except UnknownDeviceError as error:
        raise ConnectError(str(error)) from error


def _lent(place: int, connection: Connection) -> list[LentDevice]:
    async def ask() -> dict[str, Served]:
        link = SchedulerLink(connection)
        try:
            return await link.served()
        finally:
            await link.close()

    try:
        served = asyncio.run(ask())
    except LinkError as error:
        raise ConnectError(f"There is no connection: {error}. Look whether serve runs there.") from error
    if not served:
        raise ConnectError(f"{connection.address} serves no device yet; try again in a moment.")
    return [LentDevice(place, connection, one) for one in served.values()]
