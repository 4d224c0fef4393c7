"""Which devices of hosts a user means: all, so many, or those of these names."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from flashscope.profiles.cluster.connection import ConnectError, Connection
from flashscope.profiles.cluster.device_words import ALL, DeviceWords
from flashscope.profiles.cluster.link import LinkError, SchedulerLink
from flashscope.profiles.cluster.remote import RemoteEngine
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

    def engine(self) -> tuple[str, EngineFactory]:
        """Its name, and what makes the engine that measures on it."""
        return self.name, partial(RemoteEngine, connection=self.connection, device=self.served.name)


def chosen_devices(connections: Sequence[Connection], words: DeviceWords) -> list[LentDevice]:
    """The devices of these hosts that are meant, those of one host after those of another.

    Raises:
        ConnectError: A host cannot be reached, or does not lend what is meant.
    """
    lent = [_lent(place, connection) for place, connection in enumerate(connections)]
    if isinstance(words, int):
        for one in lent:
            if len(one) < words:
                told = _told(one)
                raise ConnectError(f"{words} devices are wanted of each host, and one lends {told}.")
        return [device for one in lent for device in one[:words]]
    everything = [device for one in lent for device in one]
    if words == ALL:
        return everything
    found: list[LentDevice] = []
    for word in words:
        meant = [device for device in everything if device.served.is_called(word)]
        if not meant:
            raise ConnectError(f"No device is called {word!r}; lent are {_told(everything)}.")
        found += [device for device in meant if device not in found]
    return found


def _lent(place: int, connection: Connection) -> list[LentDevice]:
    async def ask() -> tuple[Served, ...]:
        link = SchedulerLink(connection)
        try:
            return await link.lent()
        finally:
            await link.close()

    try:
        served = asyncio.run(ask())
    except LinkError as error:
        raise ConnectError(f"There is no connection: {error}. Look whether serve runs there.") from error
    if not served:
        raise ConnectError(f"{connection.address} serves no device yet; try again in a moment.")
    return [LentDevice(place, connection, one) for one in served]


def _told(devices: Sequence[LentDevice]) -> str:
    return "; ".join(f"{one.name} ({one.served.gpu})" if one.served.gpu else one.name for one in devices)
