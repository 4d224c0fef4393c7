"""What a host says before it joins another."""

import socket

import pytest
from msgspec.structs import replace

from flashscope.profiles.cluster.calls import Describe, Described, HostAnswer, Refused
from flashscope.profiles.cluster.connection import ConnectError, Connection
from flashscope.profiles.cluster.settings import CPU, HostSettings, Served
from flashscope.profiles.cluster.versions import versions_here

pytestmark = pytest.mark.cluster

ADDRESS = "tls://lab:8786"
FIRST = (
    Served(name="GPU 0, NVIDIA H100", gpu="GPU-a"),
    Served(name="GPU 0 on lab2, NVIDIA H100", gpu="GPU-b"),
)


def obstacle(*devices: Served) -> str:
    from flashscope.profiles.cluster.host.joining import obstacle_to_joining  # noqa: PLC0415 - imports Dask

    return obstacle_to_joining(devices, FIRST, ADDRESS)


def test_a_joined_device_is_called_by_its_host_and_listed_after_those_of_the_first() -> None:
    device = Served(name="GPU 10, NVIDIA H100", gpu="GPU-c")
    joined = device.on("lab2")
    assert joined.name == "GPU 10 on lab2, NVIDIA H100"
    assert joined.joined == "lab2"
    assert device.joined == ""
    assert Served(name=CPU).on("lab2").name == "the CPU on lab2"
    assert [word for word in ("10 on lab2", "GPU 10 on LAB2", "GPU 10", "10") if joined.is_called(word)] == [
        "10 on lab2",
        "GPU 10 on LAB2",
    ]
    second = Served(name="GPU 2", gpu="GPU-d")
    assert sorted((joined, device, second), key=lambda one: one.order) == [second, device, joined]


def test_a_device_is_lent_once() -> None:
    assert obstacle(Served(name="GPU 1 on lab2, NVIDIA H100", gpu="GPU-c")) == ""
    twice = obstacle(Served(name="GPU 0 on lab2, NVIDIA H100", gpu="GPU-c"))
    assert twice.startswith(f"GPU 0 on lab2, NVIDIA H100 is lent at {ADDRESS} already; end the serve")
    assert "--name" in twice
    assert "already, as GPU 0, NVIDIA H100; end" in obstacle(Served(name="GPU 0 on lab3", gpu="GPU-a"))


def test_a_host_is_reached_by_the_address_that_leads_to_the_scheduler_or_by_the_one_that_is_named() -> None:
    from flashscope.profiles.cluster.host.joining import address_towards  # noqa: PLC0415 - imports Dask

    assert address_towards("tls://127.0.0.1:8786") == "127.0.0.1"
    assert address_towards("tls://127.0.0.1:8786", "127.0.0.2") == "127.0.0.2"
    with pytest.raises(ConnectError, match=r"^192[.]0[.]2[.]9 cannot be reached .* this machine with --host"):
        address_towards("tls://127.0.0.1:8786", "192.0.2.9")


def test_a_port_that_is_taken_or_none_is_told_before_anything_is_started() -> None:
    from flashscope.profiles.cluster.host.joining import check_port  # noqa: PLC0415 - imports Dask

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        check_port("127.0.0.1", 0)
        with pytest.raises(
            ConnectError, match=rf"^Port {port} of 127[.]0[.]0[.]1 .*in use.*another with --port"
        ):
            check_port("127.0.0.1", port)
    with pytest.raises(ConnectError, match=r"Port 65536 .*must be 0-65535"):
        check_port("127.0.0.1", 65536)


class FakeLink:
    """What a scheduler would tell."""

    workers_there: dict[str, str]
    answer: HostAnswer

    def __init__(self, connection: Connection) -> None:
        self.address = connection.address

    async def served(self) -> dict[str, Served]:
        return {worker: Served(name=name) for worker, name in self.workers_there.items()}

    async def workers(self) -> dict[str, str]:
        return self.workers_there

    async def call(self, worker: str, call: Describe) -> HostAnswer:
        assert worker in self.workers_there
        assert call == Describe()
        return self.answer

    async def close(self) -> None:
        """There is nothing to close."""


@pytest.mark.parametrize(
    ("workers", "changed", "told"),
    [
        ({"w": CPU}, {"distributed": "2024.1.0"}, "distributed is .* here and 2024.1.0 there; pip install"),
        ({"w": CPU}, {"messages": "other"}, "are of different builds .* use the same commit on both sides"),
        ({"w": CPU}, None, "the CPU at tls://lab:8786 does not tell about itself"),
        ({}, {}, "serves no device yet; try again"),
        ({"w": "the CPU on lab2"}, {}, "the CPU on lab2 is lent at tls://lab:8786 already"),
    ],
)
def test_what_keeps_a_host_from_joining_is_told_before_anything_is_started(
    workers: dict[str, str], changed: dict[str, str] | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flashscope.profiles.cluster.host import joining  # noqa: PLC0415 - imports Dask

    monkeypatch.setattr(joining, "SchedulerLink", FakeLink)
    monkeypatch.setattr(FakeLink, "workers_there", workers, raising=False)
    versions = replace(versions_here(), **(changed or {}))
    described = Described(host="lab", backend="cpu", memory_bytes=1, versions=versions)
    monkeypatch.setattr(
        FakeLink, "answer", described if changed is not None else Refused(reason=""), raising=False
    )
    connection, settings = Connection(address=ADDRESS), HostSettings(folder="")
    host = joining.Joining(settings, [Served(name=CPU).on("lab2")], connection, lambda: None, lambda _: None)
    ours, _theirs = socket.socketpair()
    with ours, _theirs, pytest.raises(ConnectError, match=told):
        host.run(ours)  # type: ignore[arg-type] # nothing waits for it
