"""A real window on a virtual X display, opened and closed as a user would."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from flashscope.profiles.store import load
from tests.end_to_end import program
from tests.profiles.store import builders
from tests.virtual_display import Display, virtual_display, windows_of

pytestmark = pytest.mark.xvfb
PATIENCE_S = 240
POLL_S = 0.1
FRAMES, COUNT = Path(__file__).with_name("frames.py"), 200
SWEEPING = """
from flashscope.app.shell.start_up import run
from flashscope.app.control.controller import Controller
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.events import PointMeasured
from flashscope.profiles.plan.plan import Plan, Protocol

class Sweeping(Controller):
    def start(self):
        super().start()
        quick, long = (Problem(seqlen_q=n, seqlen_k=n, head_dim=32, dtype="float32") for n in (64, 4096))
        protocol = Protocol(repeats=50, time_cap_s=600, drift_check=False)
        self.events_arrived.connect(self.tell)
        self.run(Plan(backend="cpu", kernels=("standard",), problems=(quick, long), protocol=protocol))

    def tell(self, events):
        if any(isinstance(event, PointMeasured) for event in events):
            print(self.path, flush=True)

run.Controller = Sweeping
if __name__ == "__main__":
    raise SystemExit(run.run_window(None))
"""

LOSING = """
import os, signal, psutil
from PySide6.QtCore import QAbstractNativeEventFilter
from PySide6.QtWidgets import QApplication
from flashscope.app.shell.start_up import run
from flashscope.app.control.controller import Controller

class Losing(QAbstractNativeEventFilter):
    def nativeEventFilter(self, kind, message):
        QApplication.instance().removeNativeEventFilter(self)
        server = int(os.environ["SERVER"])
        os.kill(server, signal.SIGKILL)
        while psutil.Process(server).status() != psutil.STATUS_ZOMBIE:
            pass
        for window in QApplication.topLevelWidgets():
            window.setWindowTitle("asked of a display that is gone")
        return False, 0

class Started(Controller):
    def start(self):
        super().start()
        self.losing = Losing()
        QApplication.instance().installNativeEventFilter(self.losing)
        QApplication.topLevelWidgets()[0].setWindowTitle("to be told so by the display")

run.Controller = Started
if __name__ == "__main__":
    raise SystemExit(run.run_window(None))
"""


@pytest.fixture
def display() -> Iterator[Display]:
    with virtual_display() as made:
        yield made


def wait_for_title(process: subprocess.Popen[str], display: Display, title: str) -> None:
    """Return once a window with this title is there; fail when the program ends before that."""
    end = time.monotonic() + PATIENCE_S
    # A class, which stands in brackets, is no title; Qt's own pixel and, at first, the splash have the same.
    shown = re.compile(rf' "{re.escape(title)}": .* \d{{4}}x\d{{3,}}')
    while not shown.search(windows_of(display)):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end, windows_of(display)
        time.sleep(POLL_S)  # another program's window sends no signal


def test_the_window_opens_on_a_display_and_closes_without_an_orphan(display: Display, tmp_path: Path) -> None:
    with program.started(home=tmp_path, DISPLAY=display.name) as process:
        wait_for_title(process, display, "Flashscope")
        while not (children := psutil.Process(process.pid).children(recursive=True)):
            time.sleep(POLL_S)  # the window is there when its engine has a child, and no sooner
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said
    assert "Traceback" not in said
    assert psutil.wait_procs(children, timeout=60)[1] == []


def test_a_session_named_on_the_command_line_is_shown_in_the_window(display: Display, tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "seen.flashscope")
    with program.started(str(path), home=tmp_path, DISPLAY=display.name) as process:
        wait_for_title(process, display, "seen – Flashscope")
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said


@pytest.mark.matrix  # and in the step of its own that opens a real window
def test_no_card_is_missing_in_any_frame_while_a_sweep_runs(display: Display, tmp_path: Path) -> None:
    options = {"DISPLAY": display.name, "PYTHONPATH": program.PYTHONPATH}
    with (
        program.started("sweep", home=tmp_path, script=FRAMES, **options) as process,
        program.started(
            "look", read_line(process), str(COUNT), home=tmp_path, script=FRAMES, **options
        ) as looker,
    ):
        said, _ = looker.communicate(timeout=PATIENCE_S)
        assert process.poll() is None, process.communicate()[1]
    frames = [json.loads(line) for line in said.splitlines()]
    assert len(frames) == COUNT
    assert {place: missing for place, missing in enumerate(frames) if missing} == {}


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def take_away(display: Display, process: subprocess.Popen[str]) -> str:
    """Kill the display server under the program, which must end by itself with its children; what it said."""
    children = psutil.Process(process.pid).children(recursive=True)
    assert children, "the engine started no child"
    display.server.kill()
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, said
    assert "Traceback" not in said
    assert psutil.wait_procs(children, timeout=60)[1] == []
    return said


@pytest.mark.matrix  # and in the step of its own that opens a real window
def test_an_idle_window_ends_when_its_display_goes_away(display: Display, tmp_path: Path) -> None:
    with program.started(home=tmp_path, DISPLAY=display.name) as process:
        wait_for_title(process, display, "Flashscope")
        while len(psutil.Process(process.pid).children()) < 2:  # the engine's and its resource tracker
            assert process.poll() is None
            time.sleep(POLL_S)
        said = take_away(display, process)
    assert said.endswith("python main.py: the display went away.\n")


@pytest.mark.matrix  # and in the step of its own that opens a real window
def test_a_window_that_asks_a_lost_display_for_something_still_ends_by_itself(
    display: Display, tmp_path: Path
) -> None:
    script = tmp_path / "losing.py"
    script.write_text(LOSING)
    options = {"DISPLAY": display.name, "PYTHONPATH": program.PYTHONPATH, "SERVER": str(display.server.pid)}
    with program.started(home=tmp_path, script=script, **options) as process:
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, said
    assert said.endswith("flashscope: the display went away.\n")


def test_a_sweep_ends_when_its_display_goes_away_and_keeps_what_was_measured(
    display: Display, tmp_path: Path
) -> None:
    script = tmp_path / "sweeping.py"
    script.write_text(SWEEPING)
    options = {"DISPLAY": display.name, "PYTHONPATH": program.PYTHONPATH}
    with program.started(home=tmp_path, script=script, **options) as process:
        path = read_line(process).rstrip()
        said = take_away(display, process)
    assert said.endswith(f"flashscope: the display went away; what was measured is in {path}.\n")
    quick, long, *_ = load(Path(path)).points
    assert quick.status == "done"
    assert long.status != "done"
