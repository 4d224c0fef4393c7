"""A real window on a virtual X display, opened and closed as a user would."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from profiles.store import Recorder
from tests.end_to_end import program
from tests.profiles.store import builders

pytestmark = pytest.mark.xvfb
PATIENCE_S = 60
POLL_S = 0.1


@pytest.fixture
def display() -> Iterator[str]:
    """The name of a virtual display that nothing else uses."""
    read_end, write_end = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1600x1000x24", "-noreset"],  # noqa: S607 - wherever it is installed
        pass_fds=[write_end],
        stderr=subprocess.DEVNULL,
    )
    os.close(write_end)
    with os.fdopen(read_end) as number:
        name = f":{number.readline().strip()}"
    yield name
    server.terminate()
    server.wait()


def titles(display: str) -> str:
    """The windows of a display with their titles; less than all when one is closed while this looks."""
    tree = ["xwininfo", "-root", "-tree", "-display", display]
    return subprocess.run(tree, check=False, capture_output=True, text=True, timeout=PATIENCE_S).stdout


def wait_for_title(process: subprocess.Popen[str], display: str, title: str) -> None:
    """Return once a window with this title is there; fail when the program ends before that."""
    end = time.monotonic() + PATIENCE_S
    while f'"{title}"' not in titles(display):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end, titles(display)
        time.sleep(POLL_S)  # another program's window sends no signal


def test_the_window_opens_on_a_display_and_closes_without_an_orphan(display: str, tmp_path: Path) -> None:
    with program.started(home=tmp_path, DISPLAY=display) as process:
        wait_for_title(process, display, "Flashscope")
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said
    assert "Traceback" not in said
    assert psutil.wait_procs(children, timeout=10)[1] == []


def test_a_session_named_on_the_command_line_is_shown_in_the_window(display: str, tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "seen.flashscope")
    for event in builders.whole_sweep():
        recorder.record(event)
    recorder.close()
    with program.started(str(recorder.path), home=tmp_path, DISPLAY=display) as process:
        wait_for_title(process, display, "seen – Flashscope")
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said
