"""Which devices of hosts are meant."""

import pytest

from flashscope.profiles.cluster.client.device_words import read_devices
from flashscope.profiles.cluster.connection import ConnectError, Connection
from flashscope.profiles.cluster.settings import Served

pytestmark = pytest.mark.cluster

LENT = {
    "tls://a:1": (
        Served(name="GPU 0, NVIDIA H200", gpu="GPU-aaaa-1"),
        Served(name="GPU 1, NVIDIA H200", gpu="GPU-bbbb-2"),
    ),
    "tls://b:1": (Served(name="GPU 0, NVIDIA H100", gpu="GPU-cccc-3"),),
    "tls://c:1": (
        Served(name="GPU 0, NVIDIA H100", gpu="GPU-dddd-4"),
        Served(name="GPU 0 on lab, NVIDIA H100", gpu="GPU-eeee-5"),
    ),
}


class FakeLink:
    """What a host would tell of its devices."""

    def __init__(self, connection: Connection) -> None:
        self._address = connection.address

    async def served(self) -> dict[str, Served]:
        return {f"tls://worker:{number}": one for number, one in enumerate(LENT[self._address])}

    async def close(self) -> None:
        """There is nothing to close."""


@pytest.fixture(autouse=True)
def links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flashscope.profiles.cluster.client.choosing.SchedulerLink", FakeLink)


def chosen(words: str) -> list[str]:
    from flashscope.profiles.cluster.client.choosing import chosen_devices  # noqa: PLC0415 - imports Dask

    connections = [Connection(address=f"tls://{host}:1") for host in "ab"]
    return [one.served.word for one in chosen_devices(connections, read_devices(words))]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("all", ["GPU-aaaa-1", "GPU-bbbb-2", "GPU-cccc-3"]),
        ("1", ["GPU-aaaa-1", "GPU-cccc-3"]),
        ("GPU-bb", ["GPU-bbbb-2"]),
        ("gpu 1,GPU-cccc-3", ["GPU-bbbb-2", "GPU-cccc-3"]),
        ("GPU 0", ["GPU-aaaa-1", "GPU-cccc-3"]),
        ("GPU 0,GPU-aaaa-1", ["GPU-aaaa-1", "GPU-cccc-3"]),
    ],
)
def test_devices_are_meant_by_all_number_name_or_uuid_and_each_once(words: str, found: list[str]) -> None:
    assert chosen(words) == found


def test_devices_that_have_joined_a_host_are_left_out_of_what_is_computed_together() -> None:
    from flashscope.profiles.cluster.client.choosing import chosen_devices  # noqa: PLC0415 - imports Dask

    found = chosen_devices([Connection(address="tls://c:1")], "all", together=True)
    assert [one.gpu for one in found] == ["GPU-dddd-4"]


def test_what_is_not_lent_is_told_with_what_is() -> None:
    with pytest.raises(ConnectError, match=r"called 'GPU 7'; there are GPU 0, NVIDIA H200 at tls://a:1 \("):
        chosen("GPU 7")
    with pytest.raises(
        ConnectError, match="2 devices are wanted, and there are 1: GPU 0, NVIDIA H100 at tls://b"
    ):
        chosen("2")


@pytest.mark.parametrize("words", ["", "0", "65", "GPU 0,,GPU 1", "99999"])
def test_words_that_mean_no_device_are_refused(words: str) -> None:
    with pytest.raises(ValueError, match=r"is no number of devices|is neither all"):
        read_devices(words)
