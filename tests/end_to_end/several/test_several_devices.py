"""A sweep on several devices of real hosts, some of which end while it runs."""

import re
import signal
import subprocess
from pathlib import Path

import pytest

from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import load
from tests.end_to_end import program
from tests.end_to_end.hosts import DEVICE, assert_gone, host_of, measuring, running_host
from tests.end_to_end.kills import TOLD

pytestmark = pytest.mark.cluster

SMALL = (
    *("sweep", "--backend", "cpu", "--kernels", "standard,flash2", "--heads", "1", "--head-dim", "16"),
    *("--seqlen", "64:256:64", "--repeats", "5"),
)
GONE = re.compile("nothing listens at|its process there has ended|serve was ended there")
SLOW = (*SMALL, "--seqlen", "64,128,192,1536,1792,2048,2304,2560", "--no-drift-check")


def on_one_device(session: Session) -> bool:
    """Whether each problem's kernels were measured on one device."""
    groups = session.plan.groups()
    return all(len({session.points[one.index].device for one in group}) == 1 for group in groups)


@pytest.mark.matrix
def test_two_hosts_share_one_session_and_two_sessions_come_of_a_sweep_on_each(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with running_host(first) as one, running_host(second) as other:
        both = ("--connect", str(one.file), "--connect", str(other.file))
        done = program.run(*SMALL, *both, "--out", str(tmp_path / "a.flashscope"))
        assert done.returncode == 0, done.stderr
        each = program.run(
            *SMALL, *both, "--spread", "repeat", "--out", str(tmp_path / "b.flashscope"), "--json"
        )
        assert each.returncode == 0, each.stderr
        for host in (one, other):
            host.wait_for("gives back the CPU")
            assert measuring(host.members(DEVICE)[0]) == []
    session = load(tmp_path / "a.flashscope")
    assert session.outcome == "finished"
    assert {point.status for point in session.points} == {"done"}
    assert {point.device for point in session.points} == {0, 1}
    assert on_one_device(session)
    assert session.readings
    assert session.beside[1]
    assert [one["file"] for one in program.document(each)["devices"]] == [
        str(tmp_path / f"b-{number}.flashscope") for number in (1, 2)
    ]
    for number in (1, 2):
        alone = load(tmp_path / f"b-{number}.flashscope")
        assert {point.status for point in alone.points} == {"done"}
        assert not alone.others


def told_by(process: subprocess.Popen[str], points: int) -> int:
    """Read on until the ends of so many points were told."""
    ended = 0
    assert process.stderr is not None
    for line in process.stderr:
        found = TOLD.match(line.rstrip("\n"))
        ended += bool(found and found[2].endswith("s"))
        if ended == points:
            break
    return ended


@pytest.mark.matrix
def test_what_a_killed_device_had_not_ended_is_measured_by_the_other(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    with host_of(tmp_path, "CPU 0", "CPU 1") as host:
        words = (*SLOW, "--connect", str(host.file), "--devices", "all", "--out", str(path))
        with program.started(*words) as process:
            assert told_by(process, 6) == 6
            killed = host.members(DEVICE)[0]
            children = measuring(killed)
            killed.kill()
            _, errors = process.communicate(timeout=program.TIMEOUT_S)
        assert process.returncode == 0, errors
        assert (
            "is lost: its process there has ended. What it has not ended is measured by the 1 left" in errors
        )
        assert_gone(children)
    session = load(path)
    assert {point.status for point in session.points} == {"done"}
    assert session.outcome == "finished"


@pytest.mark.matrix
def test_a_sweep_that_lost_its_only_host_goes_on_with_several_devices(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with host_of(first, "CPU 0", "CPU 1") as host:
        with program.started(
            *SLOW, "--connect", str(host.file), "--devices", "2", "--out", str(path)
        ) as process:
            assert told_by(process, 6) == 6
            host.process.kill()
            _, errors = process.communicate(timeout=program.TIMEOUT_S)
        assert process.returncode == 1, errors
    before = load(path)
    kept = {one.point.index for one in before.points if one.status == "done"}
    assert len(kept) >= 6
    reasons = [one.reason for one in before.points if one.status == "failed"]
    assert reasons
    assert all(GONE.search(why) for why in reasons), reasons
    with host_of(second, "CPU 0", "CPU 1", "CPU 2") as host:
        which = ("--connect", str(host.file), "--devices", "CPU 0,CPU 2")
        done = program.run("sweep", "--resume", str(path), *which)
    assert done.returncode == 0, done.stderr
    session = load(path)
    assert {one.status for one in session.planned} == {"done"}
    assert {one.point.index for one in session.planned if one.part == 1} == kept
    assert len(session.machines(2)) == 2


@pytest.mark.matrix
def test_ctrl_c_stops_every_device_and_keeps_what_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    with host_of(tmp_path, "CPU 0", "CPU 1") as host:
        words = (*SLOW, "--connect", str(host.file), "--devices", "all", "--out", str(path))
        with program.started(*words) as process:
            assert told_by(process, 3) == 3
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=program.TIMEOUT_S)
        assert process.returncode == 128 + signal.SIGINT
        assert [measuring(device) for device in host.members(DEVICE)] == [[], []]
    session = load(path)
    assert session.outcome == "cancelled"
    assert sum(one.status == "done" for one in session.points) >= 3


@pytest.mark.matrix
def test_what_is_not_lent_or_not_said_whole_is_told_in_a_line(tmp_path: Path) -> None:
    with host_of(tmp_path, "CPU 0", "CPU 1") as host:
        connect = ("--connect", str(host.file))
        absent = program.run(*SMALL, *connect, "--devices", "CPU 7")
        more = program.run(*SMALL, *connect, "--devices", "3")
    assert (absent.returncode, more.returncode) == (1, 1)
    assert "No device is called 'CPU 7'; there are CPU 0 at tls://127.0.0.1" in absent.stderr
    assert "3 devices are wanted, and there are 2: CPU 0 at" in more.stderr
    nowhere = program.run(*SMALL, "--devices", "all")
    unnamed = program.run(*SMALL, *connect, "--spread", "repeat")
    assert (nowhere.returncode, unnamed.returncode) == (2, 2)
    assert "--devices is about GPUs here; leave --backend cpu out" in nowhere.stderr
    assert "give --out, too" in unnamed.stderr
