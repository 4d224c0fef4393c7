"""What a host lends, told without taking any of it."""

import asyncio
from typing import NamedTuple

from flashscope.profiles.cluster.calls import Describe, Described, Refused
from flashscope.profiles.cluster.client.link import LinkError, SchedulerLink
from flashscope.profiles.cluster.connection import ConnectError, Connection
from flashscope.profiles.cluster.versions import obstacle_between, versions_here

OTHER_BUILD = (
    "{} at {} does not tell about itself: Flashscope there is of another build; use the same commit on both "
    "sides."
)


class FarDevice(NamedTuple):
    """A device of a host.

    Attributes:
        name: What the host calls it.
        told: What the host says of it.
        obstacle: Why it cannot be used from here, in a sentence; empty: it can, once it is free.
        gpu: A GPU's UUID; empty: it is none, or is not known.
    """

    name: str
    told: Described
    obstacle: str
    gpu: str = ""

    @property
    def why_not(self) -> str:
        """Why it cannot be taken now, in a sentence; empty: it can."""
        told = self.told
        if self.obstacle or not told.holder:
            return self.obstacle
        return f"{self.name} is held by {told.holder}, last heard {told.silent_s:.0f} s ago."


def list_devices(connection: Connection) -> tuple[FarDevice, ...]:
    """All devices of a host, those that have joined it last.

    Raises:
        ConnectError: The host does not answer, or does not tell.
    """
    return asyncio.run(_listed(connection))


async def _listed(connection: Connection) -> tuple[FarDevice, ...]:
    link, here = SchedulerLink(connection), versions_here()
    try:
        found = []
        for worker, one in (await link.served()).items():
            answer = await link.call(worker, Describe())
            if isinstance(answer, Refused):
                raise ConnectError(OTHER_BUILD.format(one.name, link.address))
            if isinstance(answer, Described):
                obstacle = obstacle_between(here, answer.versions)
                found.append(FarDevice(one.name, answer, obstacle, one.gpu))
    except LinkError as error:
        raise error.refusal from error
    finally:
        await link.close()
    return tuple(found)
