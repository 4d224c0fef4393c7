"""What a client in this process hears while the network to a host fails, or the host refuses it."""

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from queue import SimpleQueue
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.cluster.connection import ConnectError, Connection
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.wire.events import (
    Event,
    MachineFound,
    PlanFinished,
    PointMeasured,
    RequestFailed,
)
from tests.end_to_end.faults import networks
from tests.end_to_end.hosts import (
    DEVICE,
    PATIENCE_S,
    Relay,
    RunningHost,
    assert_gone,
    measuring,
    running_host,
)

pytestmark = [pytest.mark.cluster, pytest.mark.matrix]

LINK, REMOTE = "flashscope.profiles.cluster.client.link", "flashscope.profiles.cluster.client.remote"
QUICK = Protocol(repeats=5, drift_check=False)
GARBAGE = (b"GET / HTTP/1.1\r\n\r\n", bytes(range(256)) * 40, b"\x16\x03\x01\x02\x00\x01")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with running_host(tmp_path_factory.mktemp("host"), "--hold", "20") as running:
        yield running


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that gives up a call after moments."""
    monkeypatch.setattr(f"{LINK}.CALL_S", 3.0)
    monkeypatch.setattr(f"{LINK}.CONNECT_S", 0.5)


class Client:
    """An engine on a host, by a relay or directly.

    Attributes:
        events: What it says.
    """

    def __init__(self, host: Connection, relay: Relay | None = None) -> None:
        from flashscope.profiles.cluster.client.remote import RemoteEngine  # noqa: PLC0415 - imports Dask

        self.events: SimpleQueue[Event] = SimpleQueue()
        self.engine = RemoteEngine(self.events.put, relay.through(host) if relay else host)

    def until(self, kind: type[Event]) -> list[Event]:
        """What is heard, up to the first of this kind."""
        heard: list[Event] = []
        while not heard or not isinstance(heard[-1], kind):
            heard.append(self.events.get(timeout=PATIENCE_S))
        return heard


@pytest.fixture
def relay(host: RunningHost) -> Iterator[Relay]:
    made = Relay(host.connection)
    yield made
    made.close()


@pytest.fixture
def client(hasty: None, host: RunningHost, relay: Relay) -> Iterator[Client]:
    made = Client(host.connection, relay)
    yield made
    made.engine.close()
    host.wait_for("gives back the CPU")


def small_plan(points: int) -> Plan:
    problems = tuple(Problem(seqlen_q=64 + n, seqlen_k=64 + n, head_dim=16) for n in range(points))
    return Plan(backend="cpu", kernels=("flash2",), problems=problems, protocol=QUICK)


def how_ended(events: list[Event]) -> PlanFinished:
    (ended,) = (one for one in events if isinstance(one, PlanFinished))
    return ended


def indices(events: list[Event]) -> list[int]:
    return [one.index for one in events if isinstance(one, PointMeasured)]


def test_strangers_who_say_anything_are_hung_up_on_and_logged_and_the_host_serves_on(
    host: RunningHost, client: Client
) -> None:
    place = urlsplit(host.connection.address)
    for said in GARBAGE:
        where = (place.hostname or "", place.port or 0)
        with (
            socket.create_connection(where, PATIENCE_S) as stranger,
            suppress(OSError),
        ):  # hung up at any byte
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
            while stranger.recv(1 << 16):
                pass
        assert "127.0.0.1" in host.wait_for("TLS handshake failed")
    client.engine.probe()
    client.until(MachineFound)


def test_a_file_of_another_run_is_refused_in_words(host: RunningHost) -> None:
    from flashscope.profiles.cluster.client.remote import RemoteEngine  # noqa: PLC0415 - imports Dask
    from flashscope.profiles.cluster.host.certificates import make_certificates  # noqa: PLC0415 - needs the extra

    other = make_certificates("lab")
    false = replace(host.connection, certificate=other.client.certificate, key=other.client.key)
    with pytest.raises(ConnectError, match="takes the files of its own run alone"):
        RemoteEngine(lambda _: None, false)
    with pytest.raises(ConnectError, match="has another certificate than the file says"):
        RemoteEngine(lambda _: None, replace(false, ca=other.ca))


@pytest.mark.parametrize("part", ["ca", "certificate", "key"])
def test_certificates_that_are_none_are_refused_before_anything_is_sent(part: str, host: RunningHost) -> None:
    from flashscope.profiles.cluster.client.remote import RemoteEngine  # noqa: PLC0415 - imports Dask

    with pytest.raises(ConnectError, match="cannot be read; copy the file anew from the host"):
        RemoteEngine(lambda _: None, replace(host.connection, **{part: "broken"}))


def test_a_pause_of_the_network_costs_no_event_and_tells_none_twice(client: Client, relay: Relay) -> None:
    client.engine.run(small_plan(8))
    heard = client.until(PointMeasured)
    relay.pause()
    assert relay.called.wait(PATIENCE_S), "the client gave up a call and tried again"
    relay.go_on()
    heard += client.until(PlanFinished)
    assert sorted(indices(heard)) == list(range(8))
    assert how_ended(heard).outcome == "finished"


def test_a_network_that_never_comes_back_is_told_in_words_here_and_leaves_nothing_there(
    hasty: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(f"{REMOTE}.PATIENCE_S", 4.0)
    with running_host(tmp_path, "--hold", "5") as host:
        relay = Relay(host.connection)
        _lose(Client(host.connection, relay), relay.pause, host)
        relay.close()


@pytest.mark.skipif(bool(networks.WITHOUT), reason=networks.WITHOUT)
def test_a_cable_that_is_pulled_for_a_while_costs_no_event(
    hasty: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from flashscope.profiles.cluster.client.link import SchedulerLink  # noqa: PLC0415 - imports Dask

    failed, explained = threading.Event(), SchedulerLink._explained

    def noted(link: SchedulerLink, error: BaseException) -> Exception:
        failed.set()
        return explained(link, error)

    monkeypatch.setattr(SchedulerLink, "_explained", noted)
    with networks.cable() as cable, _far_host(tmp_path, cable) as host:
        client = Client(host.connection)
        client.engine.run(small_plan(8))
        heard = client.until(PointMeasured)
        cable.pull()
        assert failed.wait(PATIENCE_S)
        cable.plug()
        heard += client.until(PlanFinished)
        client.engine.close()
        host.wait_for("gives back the CPU")
    assert sorted(indices(heard)) == list(range(8))


@pytest.mark.skipif(bool(networks.WITHOUT), reason=networks.WITHOUT)
def test_a_cable_that_stays_pulled_is_told_in_words_here_and_leaves_nothing_there(
    hasty: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(f"{REMOTE}.PATIENCE_S", 4.0)
    with networks.cable() as cable, _far_host(tmp_path, cable) as host:
        _lose(Client(host.connection), cable.pull, host)


def _far_host(folder: Path, cable: networks.Cable) -> AbstractContextManager[RunningHost]:
    return running_host(folder, "--host", networks.THERE, "--hold", "8", inside=cable.inside)


def _lose(client: Client, cut: Callable[[], None], host: RunningHost) -> None:
    """Cut a client off in the midst of a sweep, for good."""
    (device,) = host.members(DEVICE)
    client.engine.run(small_plan(2000))
    told = client.until(PointMeasured)
    children = measuring(device)
    assert children
    cut()
    told += client.until(PlanFinished)
    ended = how_ended(told)
    assert ended.outcome == "failed"
    assert re.search(
        r"the CPU on \S+ at tls://\S+ is lost: .*(does not answer|cannot be reached)", ended.reason
    )
    assert len(indices(told)) == len(set(indices(told)))
    client.engine.probe()
    assert "is lost" in str(client.until(RequestFailed)[-1])
    client.engine.close()
    host.wait_for("loses the CPU")
    assert_gone(children)
