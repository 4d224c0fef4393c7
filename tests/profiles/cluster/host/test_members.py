"""The processes of a host end, whatever they do."""

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path

import pytest

from flashscope.profiles.cluster.host import members as watched
from flashscope.profiles.cluster.host.members import Members
from flashscope.profiles.cluster.host.run_folder import HostError
from flashscope.profiles.cluster.settings import CPU, HostSettings, Served
from flashscope.profiles.engine import children
from flashscope.profiles.wire.messages import Ready
from flashscope.profiles.worker.child import Link, StopRequestedError

pytestmark = pytest.mark.matrix  # they start real processes


DEAF = "deaf from here on"


def ignore_everything(_link: object, _argument: str) -> None:
    """Do not begin to serve, and do not go when asked or terminated."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(DEAF, flush=True)  # noqa: T201 - the host's log has it
    while True:
        time.sleep(60)


def take_its_time(link: Link, _argument: str) -> None:
    """Serve, and need longer to end than a process without children of its own."""
    link.send(Ready())
    with suppress(StopRequestedError):
        link.receive()
    time.sleep(2.5)
    print("through", flush=True)  # noqa: T201 - the host's log has it


@pytest.fixture
def said() -> list[str]:
    """The host's log."""
    return []


@pytest.fixture
def members(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: list[str]) -> Callable[[str], Members]:
    def make(serve: str) -> Members:
        monkeypatch.setattr(watched, "DEVICE", f"{__name__}:{serve}")
        made = Members(said.append)
        made.start_device(Served(name=CPU), HostSettings(folder=str(tmp_path)))
        return made

    return make


def test_a_process_that_is_not_ready_in_time_and_ignores_its_end_is_killed(
    monkeypatch: pytest.MonkeyPatch, members: Callable[[str], Members], said: list[str]
) -> None:
    monkeypatch.setattr(children, "RUNG_S", 0.3)
    _ours, stop = Pipe()
    made = members("ignore_everything")

    def its_time_is_over_once_it_is_deaf() -> bool:
        if any(DEAF in line for line in said):
            said.clear()
            for one in made:
                one._given_up = time.monotonic()
        return False

    with pytest.raises(HostError, match="the CPU was killed by SIGKILL"):
        made.follow(its_time_is_over_once_it_is_deaf, stop)


def test_a_device_has_the_time_to_end_its_own_children(
    members: Callable[[str], Members], said: list[str]
) -> None:
    _ours, stop = Pipe()
    made = members("take_its_time")
    assert made.follow(lambda: all(one.ready for one in made), stop)
    made.end()
    assert said[-1] == "the CPU: through"
