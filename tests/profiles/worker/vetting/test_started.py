"""Processes that a kernel has started are known, and stand still while it does."""

import ctypes
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from flashscope.profiles.worker.vetting.started import StartedProcesses

DOWNWARD, UPWARD = 0x400, 0x800  # FE_DOWNWARD and FE_UPWARD of <fenv.h> on x86
WAITS = "input()"
WORKS = "print(flush=True)\nwhile True: pass"


def start(code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.fixture
def earlier() -> Iterator[subprocess.Popen[bytes]]:
    with start(WAITS) as process:
        yield process
        process.kill()


@pytest.fixture
def started(earlier: subprocess.Popen[bytes]) -> StartedProcesses:
    return StartedProcesses()


def stands_still(process: subprocess.Popen[bytes]) -> bool:
    return psutil.Process(process.pid).status() == psutil.STATUS_STOPPED


def test_those_started_since_stand_still_until_they_are_let_go(
    started: StartedProcesses, earlier: subprocess.Popen[bytes]
) -> None:
    with start(WAITS) as since:
        started.hold()
        os.waitpid(since.pid, os.WUNTRACED)
        assert stands_still(since)
        assert not stands_still(earlier)
        started.let_go()
        os.waitpid(since.pid, os.WCONTINUED)
        assert not stands_still(since)
        since.kill()


def test_one_that_works_is_told_from_one_that_waits(started: StartedProcesses) -> None:
    assert not started.at_work()
    with start(WORKS) as since:
        assert since.stdout is not None
        since.stdout.readline()
        assert started.at_work()
        started.hold()
        os.waitpid(since.pid, os.WUNTRACED)
        assert not started.at_work()
        since.kill()


def test_one_that_has_ended_is_let_go_in_silence(
    started: StartedProcesses, capfd: pytest.CaptureFixture[str]
) -> None:
    with start(WAITS) as since:
        started.hold()
        since.kill()
    started.let_go()
    assert since.returncode == -signal.SIGKILL
    assert not started.at_work()
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="The modes have other numbers there.")
@pytest.mark.parametrize("rounding", [DOWNWARD, UPWARD])
def test_those_left_end_though_numbers_are_rounded_in_another_way(
    started: StartedProcesses, rounding: int
) -> None:
    """By one of them this process began at another time, and psutil took it for another process."""
    maths = ctypes.CDLL(None)
    before = maths.fegetround()
    with start(WAITS) as since:
        maths.fesetround(rounding)
        try:
            started.end()
        finally:
            maths.fesetround(before)
        assert since.wait(timeout=10) == -signal.SIGKILL
