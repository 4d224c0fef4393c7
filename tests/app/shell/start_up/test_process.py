"""The window as a process of its own: what it has done before it is up, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.end_to_end import program
from tests.matrix import chosen

OPEN = """
import sys
from PySide6.QtGui import QShowEvent
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.start_up.run import run_window

def shown(window: MainWindow, event: QShowEvent) -> None:
    kept(window, event)
    print(*sys.modules, flush=True)

if __name__ == "__main__":
    kept = MainWindow.showEvent
    MainWindow.showEvent = shown
    raise SystemExit(run_window(None))
"""
GONE_S = 120
LOOK_S = 0.1
NOT_BEFORE_IT_IS_SHOWN = {"cupy", "torch", "pynvml", "scipy", "pandas", "matplotlib"}
MOST_MODULES = 1_160


@pytest.fixture
def process(home: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    script = tmp_path / "open.py"
    script.write_text(OPEN)
    started = subprocess.Popen(
        [sys.executable, str(script)],
        cwd=program.ROOT,
        env={**os.environ, "PYTHONPATH": program.PYTHONPATH, "FLASHSCOPE_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
    )
    yield started
    if started.poll() is None:
        started.kill()
    started.communicate()


def test_a_window_that_is_shown_has_loaded_no_more_than_it_needs(process: subprocess.Popen[str]) -> None:
    """What makes it late is what it imports; tests/benchmarks print how late."""
    assert process.stdout is not None
    loaded = process.stdout.readline().split()
    assert not NOT_BEFORE_IT_IS_SHOWN & set(loaded)
    assert 0 < len(loaded) <= MOST_MODULES


@pytest.mark.matrix  # it takes a second
@chosen("number", [signal.SIGINT, signal.SIGTERM], {signal.SIGTERM})
def test_a_signal_ends_the_window_with_0_and_no_orphan(
    process: subprocess.Popen[str], number: signal.Signals
) -> None:
    assert process.stdout is not None
    assert process.stdout.readline()  # it is shown
    window = psutil.Process(process.pid)
    deadline = time.monotonic() + GONE_S
    while not (children := window.children(recursive=True)) and time.monotonic() < deadline:
        with suppress(subprocess.TimeoutExpired):
            pytest.fail(f"it ended by itself with {process.wait(LOOK_S)}")
    assert children, "the engine started no child"
    process.send_signal(number)
    assert process.wait(GONE_S) == 0
    _gone, alive = psutil.wait_procs(children, timeout=GONE_S)
    assert alive == []
