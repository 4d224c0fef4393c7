"""The processes of a host end, whatever they do."""

import signal
import time
from collections.abc import Callable
from multiprocessing import Pipe
from pathlib import Path

import pytest

from flashscope.profiles.cluster.host import members as watched
from flashscope.profiles.cluster.host.members import Members
from flashscope.profiles.cluster.host.run_folder import HostError
from flashscope.profiles.cluster.settings import CPU, HostSettings, Served
from flashscope.profiles.engine import children

pytestmark = pytest.mark.matrix  # they start real processes


def ignore_everything(_link: object, _argument: str) -> None:
    """Do not begin to serve, and do not go when asked or terminated."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


@pytest.fixture
def members(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Members]:
    def make(serve: str) -> Members:
        monkeypatch.setattr(watched, "DEVICE", f"{__name__}:{serve}")
        made = Members(lambda _line: None)
        made.start_device(Served(name=CPU), HostSettings(folder=str(tmp_path)))
        return made

    return make


def test_a_process_that_is_not_ready_in_time_and_ignores_its_end_is_killed(
    monkeypatch: pytest.MonkeyPatch, members: Callable[[str], Members]
) -> None:
    monkeypatch.setattr(watched, "START_S", 1.0)
    monkeypatch.setattr(children, "RUNG_S", 0.3)
    _ours, stop = Pipe()
    with pytest.raises(HostError, match="the CPU was killed by SIGKILL"):
        members("ignore_everything").follow(lambda: False, stop)
