"""The window as a process of its own: how fast it is up, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[3]
OPEN = """
import time
from PySide6.QtGui import QShowEvent
from app.main_window import MainWindow, run_window

def shown(window: MainWindow, event: QShowEvent) -> None:
    kept(window, event)
    print("shown after", time.process_time(), flush=True)

if __name__ == "__main__":
    kept = MainWindow.showEvent
    MainWindow.showEvent = shown
    raise SystemExit(run_window(None))
"""
GONE_S = 20


@pytest.fixture
def process(home: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    script = tmp_path / "open.py"
    script.write_text(OPEN)
    started = subprocess.Popen(
        [sys.executable, str(script)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "FLASHSCOPE_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
    )
    yield started
    if started.poll() is None:
        started.kill()
    started.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_window_with_0_and_no_orphan(
    process: subprocess.Popen[str], number: signal.Signals
) -> None:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert float(line.rpartition(" ")[2]) < 2.0
    window = psutil.Process(process.pid)
    deadline = time.monotonic() + GONE_S
    while not (children := window.children(recursive=True)) and time.monotonic() < deadline:
        assert process.poll() is None
    assert children, "the engine started no child"
    process.send_signal(number)
    assert process.wait(GONE_S) == 0
    _gone, alive = psutil.wait_procs(children, timeout=GONE_S)
    assert alive == []
