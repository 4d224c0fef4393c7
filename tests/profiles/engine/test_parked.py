"""One worker for each folder of libraries is kept for a sweep; one measures, the others are parked."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import psutil
import pytest

from flashscope.profiles.engine import supervisor
from flashscope.profiles.engine.child import Child, Log
from flashscope.profiles.engine.jobs import SweepJob
from flashscope.profiles.engine.supervisor import Supervisor
from flashscope.profiles.plan.plan import Plan, Point, Protocol
from flashscope.profiles.wire.events import LogLine, PlanFinished, PointFailed, PointMeasured, PointStarted
from flashscope.profiles.wire.messages import Beside, Command, Park, Parked, Ready, Retiring, TryPoint
from flashscope.profiles.worker.failures import Refusal
from flashscope.profiles.worker.probing.host import probe_host
from tests import apart
from tests.end_to_end import program
from tests.faults import HANGS
from tests.matrix import chosen
from tests.profiles.engine.conftest import Ladder
from tests.profiles.heard import QUICK, Heard, done, quick_plan, running_children

KERNELS = "tests.apart:WITH_FAULTS"
SHORT = Protocol(warmup=0, repeats=3, deadline_s=3.0, drift_check=False)
IN_A_FOLDER = ("", apart.PACKAGE)


class Starts:
    """Which workers an engine started: the name of each one's folder, empty for the usual one."""

    def __init__(self, heard: Heard) -> None:
        self.folders: list[str] = []
        self._make = heard.engine._supervisor._make_child
        heard.engine._supervisor._make_child = self

    def __call__(self, log: Log, ahead: str) -> Child:
        self.folders.append(Path(ahead).name)
        return self._make(log, ahead)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library lies in a folder of its own here."""
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path))
    apart.install(tmp_path, "there")
    return tmp_path


@pytest.fixture
def heard(home: Path) -> Iterator[Heard]:
    heard = Heard(KERNELS)
    yield heard
    heard.engine.close()
    assert running_children() == []


@pytest.fixture
def starts(heard: Heard) -> Starts:
    return Starts(heard)


def plan(*kernels: str, seqlens: tuple[int, ...] = (32, 48), protocol: Protocol = QUICK) -> Plan:
    return quick_plan(*kernels, seqlens=seqlens, protocol=protocol)


def until_parked_beside(heard: Heard, index: int) -> psutil.Process:
    """The usual worker, which is parked once a plan has come to this point in the library's."""
    (usual,) = running_children()
    heard.until(PointStarted, lambda event: event.index == index)
    assert len(running_children()) == 2
    return usual


@pytest.mark.matrix  # it takes a second
def test_a_sweep_of_three_problems_in_two_environments_starts_two_workers(
    heard: Heard, starts: Starts
) -> None:
    heard.sweep(plan("standard", "apart", "flash2", seqlens=(32, 48, 64)))
    order = [event.index for event in heard.all(PointStarted)]
    assert order == [0, 2, 1, 4, 3, 5, 6, 8, 7]
    assert starts.folders == [*IN_A_FOLDER]


@pytest.mark.matrix  # it takes seconds
def test_after_a_sweep_the_usual_worker_alone_is_kept(heard: Heard, starts: Starts) -> None:
    heard.engine.run(plan("flash2", "apart", seqlens=(32,)))
    heard.until(PointStarted)
    usual = until_parked_beside(heard, 1)
    heard.until(PlanFinished)
    heard.sweep(plan("flash2"))
    assert running_children() == [usual]
    heard.sweep(plan("apart"))
    assert starts.folders == [*IN_A_FOLDER, apart.PACKAGE]


@pytest.mark.matrix  # it takes a second
def test_a_crash_replaces_its_worker_once_and_leaves_the_parked_one(heard: Heard, starts: Starts) -> None:
    first, crashed, own, *others = heard.sweep(plan("flash2", "abort", "apart"))
    assert crashed.status == "failed"
    assert "SIGABRT" in crashed.reason
    assert done(own).note.startswith("there")
    assert [point.status for point in (first, *others)] == ["done", "done", "failed", "done"]
    assert starts.folders == ["", *[apart.PACKAGE] * 3]


@pytest.mark.matrix  # it takes seconds
def test_a_worker_that_nothing_needs_any_more_is_not_replaced(heard: Heard, starts: Starts) -> None:
    heard.sweep(plan("flash2", "abort", seqlens=(32,)))
    assert starts.folders == [*IN_A_FOLDER]


@pytest.mark.matrix  # it takes seconds
def test_a_hang_ends_its_own_worker_alone(heard: Heard, starts: Starts, ladder: Ladder) -> None:
    points = heard.sweep(plan("flash2", "hang", protocol=SHORT))
    assert [point.status for point in points] == ["done", "timeout", "done", "timeout"]
    assert ladder.climbed == ["terminated"] * 2
    assert starts.folders == ["", *[apart.PACKAGE] * 2]


@pytest.mark.matrix  # it takes a second
@chosen("kernel", ["hang", "hang-deaf"], {"hang"})
def test_a_cancel_ends_what_hangs_by_force_and_keeps_the_usual_worker(heard: Heard, kernel: str) -> None:
    heard.engine.run(plan("flash2", kernel))
    heard.until(PointStarted)
    usual = until_parked_beside(heard, 1)
    heard.until(LogLine, lambda line: line.text == HANGS)
    heard.engine.cancel()
    assert heard.until(PointFailed).status == "cancelled"
    assert heard.until(PlanFinished).outcome == "cancelled"
    heard.sweep(plan("flash2"))
    assert running_children() == [usual]


@chosen("kernel", ["hang", "hang-deaf"], {"hang"})
def test_closing_ends_every_worker(heard: Heard, kernel: str) -> None:
    heard.engine.run(plan("flash2", kernel))
    heard.until(PointStarted)
    until_parked_beside(heard, 1)
    heard.until(LogLine, lambda line: line.text == HANGS)
    heard.engine.close()
    assert running_children() == []
    heard.drain()
    assert heard.all(PlanFinished)[0].outcome == "cancelled"


@pytest.mark.matrix  # it takes seconds
def test_a_parked_worker_that_takes_no_command_is_ended_by_force(
    heard: Heard, ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flashscope.profiles.engine.children.RUNG_S", 0.2)
    heard.engine.run(plan("flash2", "hang"))
    heard.until(PointStarted)
    until_parked_beside(heard, 1).suspend()
    heard.until(LogLine, lambda line: line.text == HANGS)
    heard.engine.close()
    assert running_children() == []
    assert "killed" in ladder.climbed


@pytest.mark.matrix  # it takes seconds
def test_a_parked_worker_killed_from_outside_is_replaced_once_it_is_needed(
    heard: Heard, starts: Starts
) -> None:
    heard.engine.run(plan("flash2", "apart"))
    heard.until(PointStarted)
    os.kill(until_parked_beside(heard, 1).pid, signal.SIGKILL)
    heard.until(LogLine, lambda line: line.text.startswith("A parked worker was killed by SIGKILL"))
    assert heard.until(PlanFinished).outcome == "finished"
    assert len(heard.all(PointMeasured)) == 4
    assert starts.folders == [*IN_A_FOLDER, ""]


@pytest.mark.matrix  # it takes seconds
@pytest.mark.parametrize(
    ("fault", "told"), [("hang-when-parked", "gave back nothing"), ("abort-when-parked", "SIGABRT")]
)
def test_a_worker_that_cannot_be_parked_is_replaced(
    heard: Heard, starts: Starts, monkeypatch: pytest.MonkeyPatch, fault: str, told: str
) -> None:
    monkeypatch.setattr(supervisor, "PARK_S", 1.0)
    heard.engine.run(plan(fault, "apart", seqlens=(32,)))
    assert heard.until(LogLine, lambda line: told in line.text).level == "warning"
    assert heard.until(PlanFinished).outcome == "finished"
    assert [event.index for event in heard.all(PointMeasured)] == [0, 1]
    assert starts.folders == [*IN_A_FOLDER]


@pytest.mark.matrix  # it takes seconds
def test_a_library_worker_that_cannot_start_ends_the_sweep_with_the_reason(
    heard: Heard, starts: Starts
) -> None:
    started = starts._make

    def none_left(log: Log, ahead: str) -> Child:
        if ahead:
            raise OSError(24, "Too many open files")
        return started(log, ahead)

    starts._make = none_left
    heard.engine.run(plan("flash2", "apart"))
    finished = heard.until(PlanFinished)
    assert (finished.outcome, "Too many open files" in finished.reason) == ("failed", True)
    heard.barrier()
    assert running_children() == []
    starts._make = started
    assert done(heard.sweep(plan("apart"))[0]).note.startswith("there")


class Told:
    """A worker that only keeps what it is told."""

    def __init__(self, ahead: str) -> None:
        self.ahead = ahead
        self.commands: list[Command] = []
        self.ended = False

    def send(self, command: Command) -> None:
        self.commands.append(command)

    def end(self, *, ask: bool) -> None:
        self.ended = ask


@pytest.fixture
def made() -> list[Told]:
    """The workers that `parking` made."""
    return []


@pytest.fixture
def parking(home: Path, made: list[Told]) -> Supervisor:
    """What has just asked the usual worker to let that of the library measure."""

    def make(_log: Log, ahead: str) -> Child:
        made.append(Told(ahead))
        return cast(Child, made[-1])

    one = Supervisor(lambda _event: None, make, lambda _job: None, lambda: None)
    one.machine = probe_host()
    one.submit(SweepJob(plan("flash2", "apart", seqlens=(32,)), apart.WITH_FAULTS))
    one.receive(Ready())
    point = Point(index=0, kernel="flash2", problem=plan("flash2").problems[0])
    one.receive(Refusal("failed", "It broke.").failed(point))
    assert isinstance(made[0].commands[-1], Park)
    return one


def test_a_worker_is_told_which_processes_on_the_gpu_are_parked(
    parking: Supervisor, made: list[Told]
) -> None:
    parking.receive(Parked(pid=77))
    parking.receive(Ready())
    usual, own = made
    assert (usual.ahead, Path(own.ahead).name) == IN_A_FOLDER
    assert [type(command) for command in usual.commands] == [Beside, TryPoint, Park]
    assert own.commands[0] == Beside(pids=(77,))
    assert [cast(Told, child) for child in parking.children] == [own, usual]


def test_a_worker_that_keeps_others_off_the_gpu_ends_before_the_next_one_starts(
    parking: Supervisor, made: list[Told]
) -> None:
    parking.receive(Retiring())
    parking.receive(Parked(pid=77))
    (usual,) = made
    assert usual.ended
    parking.exited(cast(Child, usual))
    parking.receive(Ready())
    assert made[1].commands[0] == Beside(pids=())
    assert [cast(Told, child) for child in parking.children] == [made[1]]


PARENT = """
import sys
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.wire.events import LogLine
from tests.profiles.engine.test_parked import KERNELS, plan

if __name__ == "__main__":
    told = lambda event: isinstance(event, LogLine) and print(event.text, flush=True)
    LocalEngine(told, KERNELS).run(plan("flash2", "hang"))
"""


@pytest.mark.matrix  # it takes seconds
def test_when_the_window_is_killed_the_parked_worker_ends_by_itself(tmp_path: Path) -> None:
    apart.install(tmp_path, "there")
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": program.PYTHONPATH, "FLASHSCOPE_HOME": str(tmp_path)}
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=program.ROOT) as parent:
        assert parent.stdout is not None
        assert any(line.strip() == HANGS for line in parent.stdout)
        children = psutil.Process(parent.pid).children(recursive=True)
        assert len(children) == 2
        parent.kill()
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []
