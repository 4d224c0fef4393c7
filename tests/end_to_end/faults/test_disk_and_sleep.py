"""Sweeps on a host whose disk is full, or its client's, or whose client sleeps; in processes of their own."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from flashscope.profiles.store import load
from tests.end_to_end import program
from tests.end_to_end.hosts import DEVICE, PATIENCE_S, RunningHost, assert_gone, measuring, running_host
from tests.end_to_end.test_serve import SLOW, SMALL, FarSweep, why_lost
from tests.matrix import chosen

pytestmark = pytest.mark.cluster

SLOWER = (*SLOW, "--repeats", "100")  # not over while its client sleeps, on a fast machine neither
SERVE = ("serve", "--backend", "cpu", "--host", "127.0.0.1", "--port", "0")
MOUNT, UNMOUNT = (shutil.which(name) or "" for name in ("mount", "umount"))
needs_root = pytest.mark.skipif(os.geteuid() != 0 or not MOUNT, reason="root is needed for a file system")


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system with room for a few small sessions."""
    folder.mkdir()
    subprocess.run([MOUNT, "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run([UNMOUNT, "-l", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Leave no room there."""
    with (folder / "rest").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"0" * 4096)


@chosen(
    "most,told",
    [(300, "takes no files (File too large)"), (700, "cannot be written (File too large)")],
    {(300, "takes no files (File too large)")},
)
def test_a_host_without_room_for_its_files_says_so_in_a_line(most: int, told: str, tmp_path: Path) -> None:
    file = tmp_path / "host.connection"
    done = subprocess.run(
        [sys.executable, str(program.ROOT / "main.py"), *SERVE, "--file", str(file)],
        check=False,
        capture_output=True,
        text=True,
        timeout=program.TIMEOUT_S,
        env=program.environment(tmp_path / "home", TMPDIR=str(tmp_path), PYTHONDONTWRITEBYTECODE="1"),
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most)),
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert told in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.matrix
@needs_root
def test_a_host_whose_disk_gets_full_measures_on_and_a_log_that_is_full_ends_nothing(tmp_path: Path) -> None:
    file, sweep = tmp_path / "host.connection", FarSweep(tmp_path / "a.flashscope")
    with small_disk(tmp_path / "disk") as disk, (disk / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, str(program.ROOT / "main.py"), *SERVE, "--file", str(file)],
            stdout=log,
            env=program.environment(tmp_path / "home", TMPDIR=str(disk)),
        )
        host = psutil.Process(process.pid)
        while not file.exists():
            with pytest.raises(psutil.TimeoutExpired):
                host.wait(0.1)
        everything = [host, *host.children(recursive=True)]
        fill(disk)
        for _ in range(2):
            done = program.run(*SMALL, "--connect", str(file), "--out", str(sweep.path))
            assert done.returncode == 0, done.stderr
            sweep.path.unlink()
        process.terminate()
        process.wait(PATIENCE_S)
        assert_gone(everything)
    assert not file.exists()


@pytest.mark.matrix
@needs_root
def test_a_client_whose_disk_is_full_says_so_keeps_what_it_told_and_gives_the_device_back(
    tmp_path: Path,
) -> None:
    with running_host(tmp_path) as host, small_disk(tmp_path / "disk") as disk:
        sweep = FarSweep(disk / "a.flashscope")
        with program.started(*SLOW, "--connect", str(host.file), "--out", str(sweep.path)) as process:
            sweep.until(process, 2)
            (device,) = host.members(DEVICE)
            children = measuring(device)
            fill(disk)
            sweep.end(process)
        assert sweep.code == 1
        assert any("disk is full" in line for line in sweep.errors), sweep.errors
        assert "Traceback" not in "".join(sweep.errors)
        host.wait_for("gives back the CPU")
        assert_gone(children)
        (disk / "rest").unlink()
        assert sum(state.status == "done" for state in load(sweep.path).points) >= 2
        done = program.run("sweep", "--resume", str(sweep.path), "--connect", str(host.file))
        assert done.returncode == 0, done.stderr
        assert {one.status for one in load(sweep.path).planned} == {"done"}


def asleep_until_measured(host: RunningHost, client: subprocess.Popen[str]) -> None:
    """Stop a client until its device has worked for a while on its own."""
    client.send_signal(signal.SIGSTOP)
    (device,) = host.members(DEVICE)
    worker = max(measuring(device), key=lambda one: sum(one.cpu_times()[:2]))
    until = sum(worker.cpu_times()[:2]) + 0.3
    while sum(worker.cpu_times()[:2]) < until:
        with pytest.raises(psutil.TimeoutExpired):
            worker.wait(0.1)
    client.send_signal(signal.SIGCONT)


@pytest.mark.matrix
def test_a_client_that_sleeps_for_less_than_its_hold_hears_everything_when_it_wakes(tmp_path: Path) -> None:
    sweep = FarSweep(tmp_path / "a.flashscope")
    with (
        running_host(tmp_path) as host,
        program.started(*SLOWER, "--connect", str(host.file), "--out", str(sweep.path)) as process,
    ):
        sweep.until(process, 4)
        asleep_until_measured(host, process)
        sweep.end(process)
    assert sweep.code == 0, sweep.errors
    assert len(sweep.told) == len(load(sweep.path).points)
    sweep.assert_kept()


@pytest.mark.matrix
def test_a_client_that_sleeps_for_longer_than_its_hold_is_told_and_goes_on_with_resume(
    tmp_path: Path,
) -> None:
    sweep = FarSweep(tmp_path / "a.flashscope")
    with running_host(tmp_path, "--hold", "5") as host:
        connect = ("--connect", str(host.file))
        with program.started(*SLOWER, *connect, "--out", str(sweep.path)) as process:
            sweep.until(process, 4)
            process.send_signal(signal.SIGSTOP)
            (device,) = host.members(DEVICE)
            children = measuring(device)
            host.wait_for("has not been heard for 5 s and loses the CPU")
            assert_gone(children)
            process.send_signal(signal.SIGCONT)
            sweep.end(process)
        assert sweep.code == 1
        assert "is lost: the host no longer holds the device for this client" in why_lost(sweep)
        sweep.assert_kept()
        done = program.run("sweep", "--resume", str(sweep.path), *connect)
    assert done.returncode == 0, done.stderr
    sweep.assert_kept()
    assert {one.status for one in load(sweep.path).planned} == {"done"}
