"""Sweeps on a host that ssh starts, through a real sshd on the loopback."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from flashscope.profiles.store import load
from tests.end_to_end import program
from tests.end_to_end.hosts import assert_gone
from tests.end_to_end.sshd import WITHOUT, Lab, lab
from tests.end_to_end.test_serve import SLOW, SMALL, FarSweep

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.matrix,
    pytest.mark.skipif(WITHOUT is not None, reason=str(WITHOUT)),
]


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


def processes_of(far: Lab) -> list[psutil.Process]:
    """What runs there for who has logged in."""
    return psutil.Process(far.server.pid).children(recursive=True)


def ssh_of(client: int) -> list[psutil.Process]:
    """The ssh that a client has started."""
    return [one for one in psutil.Process(client).children() if one.name() == "ssh"]


def test_a_sweep_by_ssh_leaves_nothing_there(far: Lab, tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    done = program.run(*SMALL, "--connect", f"ssh://lab/{far.checkout}", "--out", str(path), PATH=far.path)
    assert done.returncode == 0, done.stderr
    assert {one.status for one in load(path).points} == {"done"}
    assert_gone(processes_of(far))


def test_ctrl_c_ends_a_sweep_by_ssh_as_any_other(far: Lab, tmp_path: Path) -> None:
    sweep = FarSweep(tmp_path / "a.flashscope")
    words = (*SLOW, "--connect", f"ssh://lab/{far.checkout}", "--out", str(sweep.path))
    with program.started(*words, PATH=far.path) as process:
        sweep.until(process, 3)
        assert os.getpgid(process.pid) not in {os.getpgid(one.pid) for one in ssh_of(process.pid)}
        process.send_signal(signal.SIGINT)
        sweep.end(process)
    assert sweep.code == 128 + signal.SIGINT
    sweep.assert_kept()
    assert load(sweep.path).outcome == "cancelled"
    assert_gone(processes_of(far))


@pytest.mark.parametrize("killed", ["ssh", "client"])
def test_where_ssh_or_its_client_is_killed_nothing_is_left_there_and_nothing_told_is_lost(
    killed: str, far: Lab, tmp_path: Path
) -> None:
    sweep = FarSweep(tmp_path / "a.flashscope")
    words = (*SLOW, "--connect", f"ssh://lab/{far.checkout}", "--out", str(sweep.path))
    with program.started(*words, PATH=far.path) as process:
        sweep.until(process, 3)
        there, client = processes_of(far), psutil.Process(process.pid)
        assert len(there) > 5
        victims = (
            [client] if killed == "client" else [one for one in client.children() if one.name() == "ssh"]
        )
        assert victims
        for one in victims:
            one.kill()
        sweep.end(process)
    assert sweep.code == (-signal.SIGKILL if killed == "client" else 1)
    assert_gone(there)
    if killed == "ssh":
        sweep.assert_kept()


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("ssh://lab", "flashscope"),
        ("ssh://lab/no such folder", "no such folder"),
        ("ssh://nobody.invalid/x", "Could not resolve hostname"),
    ],
)
def test_what_is_missing_there_is_told_in_one_line(far: Lab, address: str, told: str) -> None:
    done = program.run(*SMALL, "--connect", address, PATH=far.path)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "No host begins at" in line
    assert told in line
