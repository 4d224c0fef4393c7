"""The engine that measures on another machine, with a stub in the link's place."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from queue import Queue
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.cluster.calls import Ask, EngineRequest, HostCall, PassedOn, Pull, Refused, RunPlan
from flashscope.profiles.cluster.connection import Connection
from flashscope.profiles.wire.events import Event, PlanFinished, RequestFailed
from tests.profiles.heard import quick_plan

if TYPE_CHECKING:  # it imports Dask
    from flashscope.profiles.cluster.client.remote import RemoteEngine

pytestmark = [pytest.mark.cluster, pytest.mark.matrix]  # it takes a second or more

PATIENCE_S = 60
MakeEngine = Callable[..., tuple["RemoteEngine", "Link"]]


class Link:
    """Passes on what it is asked for, and says that the device is gone, once it is.

    Attributes:
        gone: Whether it is.
        refused: What it refuses.
    """

    address = "tcp://127.0.0.1:1"

    def __init__(self, refused: tuple[type[EngineRequest], ...]) -> None:
        self.gone, self.refused = asyncio.Event(), refused

    async def call(self, _worker: str, call: HostCall) -> PassedOn | Refused:
        """Answer."""
        if isinstance(call, Pull):
            await self.gone.wait()
            return Refused(reason="the device is gone", kind="gone")
        refuses = isinstance(call, Ask) and isinstance(call.asked, self.refused)
        return Refused(reason="no") if refuses else PassedOn()

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def make_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeEngine]:
    """Makes an engine whose host refuses some requests, and its link; it is closed at the end."""
    from flashscope.profiles.cluster.client import remote  # noqa: PLC0415 - imports Dask
    from flashscope.profiles.cluster.client.taking import HeldDevice  # noqa: PLC0415 - imports Dask

    place = HeldDevice("worker", "CPU 0", "token", "lab", (), trusts_code=False)

    async def taken(_link: Link, _wanted: str, _replaces: str) -> HeldDevice:
        await asyncio.sleep(0)
        return place

    monkeypatch.setattr(remote, "taken", taken)
    made: list[RemoteEngine] = []

    def make(
        sink: Callable[[Event], None], lost: Callable[[str], None], *refused: type[EngineRequest]
    ) -> tuple["RemoteEngine", Link]:
        links: list[Link] = []

        def link(_connection: Connection) -> Link:
            links.append(Link(refused))
            return links[0]

        monkeypatch.setattr(remote, "SchedulerLink", link)
        made.append(remote.RemoteEngine(sink, Connection(address=Link.address), lost=lost))
        return made[-1], links[0]

    yield make
    for engine in made:
        engine.close()


def test_an_engine_that_is_closed_in_the_moment_that_its_device_is_lost_is_closed(
    make_engine: MakeEngine,
) -> None:
    lost = Mock()
    engine, link = make_engine(Mock(), lost)

    def lose_and_close() -> None:
        link.gone.set()
        engine._inbox.put_nowait(None)

    engine._loop.call_soon_threadsafe(partial(engine._loop.call_later, 0.1, lose_and_close))
    engine._thread.join(PATIENCE_S)
    assert not engine._thread.is_alive()
    lost.assert_called_once()


def test_a_refusal_answers_what_it_refuses_alone(make_engine: MakeEngine) -> None:
    told: Queue[Event] = Queue()
    lost = Mock()
    engine, link = make_engine(told.put, lost, RunPlan)
    for _ in range(3):
        engine.watch("cpu")
    engine.trace(TraceRequest(problem=Problem(seqlen_q=4, seqlen_k=4, head_dim=16), backend="cpu"))
    engine.run(quick_plan("flash2"))
    end = told.get(timeout=PATIENCE_S)
    assert isinstance(end, PlanFinished)
    assert (end.outcome, end.reason) == ("failed", "no")
    engine.run(quick_plan("flash2"))  # which may be asked for again
    assert isinstance(told.get(timeout=PATIENCE_S), PlanFinished)
    engine._loop.call_soon_threadsafe(link.gone.set)
    requests = [told.get(timeout=PATIENCE_S) for _ in range(2)]
    engine.close()
    assert told.empty()
    reason = lost.call_args.args[0]
    assert requests == [RequestFailed(request=one, reason=reason) for one in ("watch", "trace")]
