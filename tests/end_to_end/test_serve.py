"""A host that lends its CPU, and sweeps that are measured there; all of it in processes of their own."""

import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from socket import gethostname

import psutil
import pytest
from msgspec.structs import replace

from flashscope.app.control.bundled import bundled_sessions
from flashscope.profiles.cluster.connection import ConnectError, Connection, write_connection
from flashscope.profiles.cluster.versions import versions_here
from flashscope.profiles.store import copy_session, load
from flashscope.profiles.store.sidecars import leftovers
from tests.end_to_end import program
from tests.end_to_end.hosts import (
    DEVICE,
    PATIENCE_S,
    SCHEDULER,
    Relay,
    RunningHost,
    assert_gone,
    measuring,
    running_host,
)
from tests.end_to_end.kills import TOLD, time_of

pytestmark = pytest.mark.cluster

SMALL = (
    *("sweep", "--backend", "cpu", "--kernels", "standard,flash2", "--heads", "1", "--head-dim", "16"),
    *("--seqlen", "64:256:64", "--repeats", "5", "--no-drift-check"),
)
SLOW = (*SMALL, "--seqlen", "64,128,192,1536,1792,2048,2304,2560")  # seconds after the fifth point


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with running_host(tmp_path_factory.mktemp("host")) as running:
        yield running


class FarSweep:
    """A sweep on a host that something happens to.

    Attributes:
        path: Its file.
        told: The time that was told of a point, by its index.
        code: Its exit code, once it has ended.
        errors: What it said beside that.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.told: dict[int, str] = {}
        self.errors: list[str] = []
        self.code: int | None = None

    def until(self, process: subprocess.Popen[str], points: int) -> None:
        """Read on until so many points were told."""
        assert process.stderr is not None
        while len(self.told) < points and (line := process.stderr.readline()):
            self._read(line)

    def end(self, process: subprocess.Popen[str]) -> None:
        """Read to the end, line by line: `communicate` would not have what was read ahead of it."""
        assert process.stderr is not None
        for line in process.stderr:
            self._read(line)
        self.code = process.wait(program.TIMEOUT_S)

    def assert_kept(self) -> None:
        """What was told is in the file, which is whole."""
        assert self.told
        points = load(self.path).points
        assert {index: time_of(points[index]) for index in self.told} == self.told
        assert not leftovers(self.path)

    def _read(self, line: str) -> None:
        found = TOLD.match(line.rstrip("\n"))
        if found and found[2].endswith("s"):
            self.told[int(found[1]) - 1] = found[2]
        elif not found:
            self.errors.append(line)


def reasons(path: Path) -> set[str]:
    return {one.reason for one in load(path).points if one.status == "failed"}


def why_lost(sweep: FarSweep) -> str:
    """What the user was told; the point that was measured at that moment, if one was, failed for the same."""
    told = "".join(sweep.errors)
    assert all(reason in told for reason in reasons(sweep.path))
    return told


def test_a_sweep_there_is_a_session_here_and_the_device_is_given_back(
    host: RunningHost, tmp_path: Path
) -> None:
    path = tmp_path / "a.flashscope"
    done = program.run(*SMALL, "--connect", str(host.file), "--out", str(path))
    assert done.returncode == 0, done.stderr
    session = load(path)
    assert session.outcome == "finished"
    assert {one.status for one in session.points} == {"done"}
    assert session.readings
    host.wait_for("gives back the CPU")
    (device,) = host.members(DEVICE)
    assert measuring(device) == []


@pytest.mark.matrix
@pytest.mark.parametrize("command", ["timeline", "gradients"])
def test_what_is_recorded_there_is_told_here(command: str, host: RunningHost) -> None:
    words = ("flash2", "--backend", "cpu", "--heads", "1", "--seqlen", "64", "--head-dim", "16", "--json")
    done = program.run(command, *words, "--connect", str(host.file))
    assert done.returncode == 0, done.stderr
    assert program.document(done)


@pytest.mark.matrix
def test_a_self_check_measures_on_the_host_and_says_what_cannot_be_tested_there(
    host: RunningHost, tmp_path: Path
) -> None:
    path = tmp_path / "a.flashscope"
    words = ("--seqlen", "64", "--out", str(path), "--json", "--connect", str(host.file))
    done = program.run("selfcheck", *words)
    assert done.returncode == 0, done.stderr
    checks = program.document(done)["checks"]
    assert ("footprint", "agrees") in {(one["what"], one["verdict"]) for one in checks}
    assert {one["missing"] for one in checks if one["verdict"] == "not tested"} >= {"there is no GPU"}
    assert {state.status for state in load(path).cells} == {"done"}
    host.wait_for("gives back the CPU")


@pytest.mark.matrix
def test_stalls_are_asked_of_the_host_and_why_it_cannot_sample_them_is_told_here(
    host: RunningHost, tmp_path: Path
) -> None:
    path = tmp_path / "a.flashscope"
    copy_session(bundled_sessions()[0], path)
    done = program.run("stalls", str(path), "--sample", "flash2", "--connect", str(host.file))
    assert done.returncode == 1
    assert "stalls: flash2: " in done.stderr
    assert "Traceback" not in done.stderr
    host.wait_for("gives back the CPU")


@pytest.mark.matrix
def test_ctrl_c_cancels_a_sweep_there_and_keeps_what_was_measured(host: RunningHost, tmp_path: Path) -> None:
    sweep = FarSweep(tmp_path / "a.flashscope")
    with program.started(*SLOW, "--connect", str(host.file), "--out", str(sweep.path)) as process:
        sweep.until(process, 3)
        process.send_signal(signal.SIGINT)
        sweep.end(process)
    assert sweep.code == 128 + signal.SIGINT
    assert load(sweep.path).outcome == "cancelled"
    sweep.assert_kept()


@pytest.mark.matrix
def test_a_second_client_is_told_who_has_the_device(host: RunningHost, tmp_path: Path) -> None:
    sweep = FarSweep(tmp_path / "a.flashscope")
    long = (*SLOW, "--repeats", "1000", "--time-cap", "3")
    with program.started(*long, "--connect", str(host.file), "--out", str(sweep.path)) as process:
        sweep.until(process, 1)
        done = program.run(*SMALL, "--connect", str(host.file), "--out", str(tmp_path / "b.flashscope"))
        assert process.poll() is None, "the first client was still there"
        process.send_signal(signal.SIGINT)
        sweep.end(process)
    assert done.returncode == 1
    assert re.search(r"No device of tls://127.0.0.1:\d+ is free: the CPU is held by .*@", done.stderr)
    assert not (tmp_path / "b.flashscope").exists()


@pytest.mark.matrix  # it takes a second
def test_a_stranger_is_refused_and_logged(host: RunningHost, tmp_path: Path) -> None:
    from flashscope.profiles.cluster.host.certificates import make_certificates  # noqa: PLC0415 - needs the extra

    false = make_certificates("lab")
    strange = replace(host.connection, certificate=false.client.certificate, key=false.client.key)
    write_connection(strange, tmp_path / "strange.connection")
    done = program.run(*SMALL, "--connect", str(tmp_path / "strange.connection"))
    assert done.returncode == 1
    assert "There is no connection: " in done.stderr
    assert "Traceback" not in done.stderr
    host.wait_for("TLS handshake failed")
    plain = host.connection.address.replace("tls://", "tcp://")
    assert program.run(*SMALL, "--connect", plain).returncode == 1
    host.wait_for("TLS handshake failed")


def test_another_version_is_refused_with_both_named(
    host: RunningHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flashscope.profiles.cluster.client.remote import RemoteEngine  # noqa: PLC0415 - imports Dask

    old = replace(versions_here(), distributed="2024.1.0")
    monkeypatch.setattr("flashscope.profiles.cluster.client.taking.versions_here", lambda: old)
    with pytest.raises(ConnectError, match=r"is 2024[.]1[.]0 here and"):
        RemoteEngine(lambda _: None, host.connection)
    assert "is refused: distributed is 2024.1.0" in host.wait_for("is refused")


@pytest.mark.matrix
def test_where_nobody_serves_a_client_says_so_in_a_line(tmp_path: Path) -> None:
    done = program.run(*SMALL, "--connect", "tcp://127.0.0.1:9")
    assert done.returncode == 1
    (told,) = done.stderr.splitlines()
    assert "nothing listens at tcp://127.0.0.1:9" in told


@pytest.mark.matrix  # it takes a second
def test_a_plain_host_elsewhere_is_refused() -> None:
    done = program.run("serve", "--backend", "cpu", "--plain", "--host", "0.0.0.0")  # noqa: S104 - it is refused
    assert done.returncode == 2
    assert "would let anybody who reaches 0.0.0.0 run programs as you" in done.stderr


@pytest.mark.matrix
def test_a_plain_host_on_the_loopback_needs_no_certificate(tmp_path: Path) -> None:
    with running_host(tmp_path, "--plain") as host:
        assert host.connection == Connection(address=host.connection.address)
        done = program.run(
            *SMALL, "--connect", host.connection.address, "--out", str(tmp_path / "a.flashscope")
        )
    assert done.returncode == 0, done.stderr


@pytest.mark.matrix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_host_ends_with_all_of_its_processes_and_takes_its_file_back(
    number: signal.Signals, tmp_path: Path
) -> None:
    with running_host(tmp_path) as host:
        assert host.file.stat().st_mode & 0o777 == 0o600
        everything = host.everything()
        assert len(everything) == 3
        host.process.send_signal(number)
        assert host.process.wait(PATIENCE_S) == 128 + number
        assert_gone(everything)
        assert not host.file.exists()
        said = " ".join(host.said)
        assert "can run any program on this machine with your rights" in said + (
            host.process.stdout.read() if host.process.stdout else ""
        )


@pytest.mark.matrix
def test_a_killed_worker_fails_the_points_in_flight_and_the_sweep_goes_on_in_a_fresh_one(
    tmp_path: Path,
) -> None:
    sweep = FarSweep(tmp_path / "a.flashscope")
    with running_host(tmp_path) as host:
        connect = ("--connect", str(host.file))
        with program.started(*SLOW, *connect, "--out", str(sweep.path)) as process:
            sweep.until(process, 5)
            (device,) = host.members(DEVICE)
            children = measuring(device)
            assert len(children) == 2
            device.kill()
            sweep.end(process)
        assert sweep.code == 1
        assert_gone(children)
        sweep.assert_kept()
        told = why_lost(sweep)
        assert f"the CPU on {gethostname()} at tls://127.0.0.1" in told
        assert "is lost: its process there has ended" in told
        host.wait_for("was killed by SIGKILL; a fresh one takes its place")
        host.wait_for("the CPU: ready")
        done = program.run("sweep", "--resume", str(sweep.path), *connect)
        assert done.returncode == 0, done.stderr
        sweep.assert_kept()
        assert {one.status for one in load(sweep.path).planned} == {"done"}


@pytest.mark.matrix
@pytest.mark.parametrize("whole", [False, True], ids=["scheduler", "host"])
def test_a_killed_scheduler_or_host_takes_everything_there_along_and_loses_no_point_told(
    whole: bool, tmp_path: Path
) -> None:
    sweep = FarSweep(tmp_path / "a.flashscope")
    with running_host(tmp_path) as host:
        with program.started(*SLOW, "--connect", str(host.file), "--out", str(sweep.path)) as process:
            sweep.until(process, 5)
            everything = host.everything()
            (psutil.Process(host.process.pid) if whole else host.members(SCHEDULER)[0]).kill()
            sweep.end(process)
        assert host.process.wait(PATIENCE_S) == (-signal.SIGKILL if whole else 1)
        assert_gone(everything)
    assert sweep.code == 1
    sweep.assert_kept()
    told = why_lost(sweep)
    assert "is lost: " in told
    assert whole or "nothing listens at tls://127.0.0.1" in told  # which is missed first is chance


@pytest.mark.matrix
def test_a_client_that_is_killed_loses_the_device_after_a_while(tmp_path: Path) -> None:
    sweep = FarSweep(tmp_path / "a.flashscope")
    with running_host(tmp_path, "--hold", "5") as host:
        connect = ("--connect", str(host.file))
        with program.started(*SLOW, *connect, "--out", str(sweep.path)) as process:
            sweep.until(process, 3)
            (device,) = host.members(DEVICE)
            children = measuring(device)
            process.kill()
        host.wait_for("has not been heard for 5 s and loses the CPU")
        assert_gone(children)
        done = program.run("sweep", "--resume", str(sweep.path), *connect)
    assert done.returncode == 0, done.stderr
    sweep.assert_kept()


@pytest.mark.matrix
def test_a_client_that_sleeps_while_its_connection_breaks_goes_on_when_it_wakes(
    host: RunningHost, tmp_path: Path
) -> None:
    sweep, relay = FarSweep(tmp_path / "a.flashscope"), Relay(host.connection)
    file = relay.connection(host.connection, tmp_path / "relay.connection")
    with program.started(*SLOW, "--connect", str(file), "--out", str(sweep.path)) as process:
        for points in (3, 6, 9):
            sweep.until(process, points)
            assert relay.called.wait(PATIENCE_S), "it has not connected anew"
            process.send_signal(signal.SIGSTOP)
            assert relay.cut() > 0
            process.send_signal(signal.SIGCONT)
        sweep.end(process)
    relay.close()
    assert sweep.code == 0, sweep.errors
    assert {one.status for one in load(sweep.path).points} == {"done"}
    assert len(sweep.told) == len(load(sweep.path).points)
    sweep.assert_kept()
