"""The engine that measures on another machine, with a stub in the link's place."""

import asyncio
from functools import partial
from unittest.mock import Mock

import pytest

from flashscope.profiles.cluster.calls import HostCall, PassedOn, Pull, Refused
from flashscope.profiles.cluster.connection import Connection

pytestmark = [pytest.mark.cluster, pytest.mark.matrix]  # it takes a second or more

PATIENCE_S = 60


class Link:
    """Says that the device is gone, once it is.

    Attributes:
        gone: Whether it is.
    """

    address = "tcp://127.0.0.1:1"

    def __init__(self, _connection: Connection) -> None:
        self.gone = asyncio.Event()

    async def call(self, _worker: str, call: HostCall) -> PassedOn | Refused:
        """Answer."""
        if not isinstance(call, Pull):
            return PassedOn()
        await self.gone.wait()
        return Refused(reason="the device is gone", kind="gone")

    async def close(self) -> None:
        """Nothing is open."""


def test_an_engine_that_is_closed_in_the_moment_that_its_device_is_lost_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from flashscope.profiles.cluster.client import remote  # noqa: PLC0415 - imports Dask
    from flashscope.profiles.cluster.client.taking import HeldDevice  # noqa: PLC0415 - imports Dask

    links: list[Link] = []
    place = HeldDevice("worker", "CPU 0", "token", "lab", (), trusts_code=False)

    async def taken(link: Link, _wanted: str, _replaces: str) -> HeldDevice:
        links.append(link)
        await asyncio.sleep(0)
        return place

    monkeypatch.setattr(remote, "SchedulerLink", Link)
    monkeypatch.setattr(remote, "taken", taken)
    lost = Mock()
    engine = remote.RemoteEngine(Mock(), Connection(address=Link.address), lost=lost)

    def lose_and_close() -> None:
        links[0].gone.set()
        engine._inbox.put_nowait(None)

    engine._loop.call_soon_threadsafe(partial(engine._loop.call_later, 0.1, lose_and_close))
    engine._thread.join(PATIENCE_S)
    assert not engine._thread.is_alive()
    lost.assert_called_once()
