"""Cancelling, closing, and what is left behind: nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from kernels.problem import Problem
from kernels.trace import TraceRequest
from profiles.child import BLAS_VARIABLES
from profiles.engine import EngineBusyError
from profiles.events import (
    LogLine,
    MachineFound,
    PlanFinished,
    PlanStarted,
    PointFailed,
    PointProgress,
    PointStarted,
    Readings,
    RequestFailed,
    TraceReady,
)
from profiles.plan import Protocol
from tests.faults import SLOW_S
from tests.profiles.heard import Heard, quick_plan, running_children

LONG = Protocol(warmup=0, repeats=100_000, time_cap_s=600.0, deadline_s=600.0)


def begin(heard: Heard, kernel: str) -> None:
    """A sweep whose first point never ends by itself."""
    heard.engine.run(quick_plan(kernel, "flash2", seqlens=(64, 128), protocol=LONG))
    if kernel == "slow":
        heard.until(PointProgress, lambda e: e.phase == "measure")
    else:
        heard.until(PointStarted)


def test_cancelling_acts_within_one_repeat_and_is_acknowledged_at_once(heard: Heard) -> None:
    begin(heard, "slow")
    asked = time.monotonic()
    heard.engine.cancel()
    heard.until(LogLine, lambda e: e.source == "engine")
    assert time.monotonic() - asked < 0.1
    failed = heard.until(PointFailed)
    assert failed.status == "cancelled"
    assert time.monotonic() - asked < 10 * SLOW_S  # one repeat, on a machine that others use
    assert heard.until(PlanFinished).outcome == "cancelled"
    assert [e.index for e in heard.all(PointStarted)] == [0, 1]  # those of the other problem stay pending
    assert [(e.index, e.status) for e in heard.all(PointFailed)] == [(0, "cancelled"), (1, "cancelled")]


def test_the_worker_survives_a_cancel_and_serves_the_next_sweep(heard: Heard) -> None:
    begin(heard, "slow")
    before = running_children()
    heard.engine.cancel()
    heard.until(PlanFinished)
    heard.sweep(quick_plan("flash2"))
    assert running_children() == before
    assert heard.all(PlanFinished)[-1].outcome == "finished"


@pytest.mark.parametrize(("kernel", "within_s"), [("hang", 3.0), ("hang-deaf", 5.5)])
def test_a_kernel_that_hangs_when_cancelled_is_ended_by_force(
    heard: Heard, kernel: str, within_s: float
) -> None:
    begin(heard, kernel)
    asked = time.monotonic()
    heard.engine.cancel()
    failed = heard.until(PointFailed)
    assert failed.status == "cancelled"
    assert time.monotonic() - asked < within_s
    assert heard.until(PlanFinished).outcome == "cancelled"


def test_cancelling_before_the_first_point_still_opens_and_closes_the_session(heard: Heard) -> None:
    heard.engine.run(quick_plan("flash2"))
    heard.engine.cancel()
    assert heard.until(PlanStarted).predicted_bytes
    assert heard.until(PlanFinished).outcome == "cancelled"
    assert heard.all(PointStarted) == []


def test_cancelling_nothing_does_nothing(heard: Heard) -> None:
    heard.engine.cancel()
    heard.engine.probe()
    assert isinstance(heard.next(), MachineFound)


def test_a_second_sweep_or_trace_is_refused_while_one_runs(heard: Heard) -> None:
    begin(heard, "slow")
    with pytest.raises(EngineBusyError, match="already running"):
        heard.engine.run(quick_plan("flash2"))
    with pytest.raises(EngineBusyError):
        heard.engine.trace(TraceRequest(problem=Problem(seqlen_q=4, seqlen_k=4)))


def test_a_plan_with_an_unknown_kernel_is_refused_and_leaves_the_engine_free(heard: Heard) -> None:
    with pytest.raises(KeyError, match="flash9"):
        heard.engine.run(quick_plan("flash9"))
    heard.sweep(quick_plan("flash2"))


def test_closing_during_a_sweep_closes_its_session_and_leaves_no_child(heard: Heard) -> None:
    heard.engine.watch("cpu")
    begin(heard, "slow")
    heard.until(Readings)
    assert len(running_children()) == 2
    heard.engine.close()
    assert running_children() == []
    heard.drain()
    assert heard.all(PointFailed)[0].status == "cancelled"
    assert heard.all(PlanFinished)[0].outcome == "cancelled"


def test_closing_while_a_kernel_ignores_everything_takes_the_whole_ladder_and_no_more(heard: Heard) -> None:
    begin(heard, "hang-deaf")
    asked = time.monotonic()
    heard.engine.close()
    assert time.monotonic() - asked < 6.0
    assert running_children() == []


def test_closing_twice_and_asking_afterwards_does_nothing(heard: Heard) -> None:
    heard.engine.close()
    heard.engine.close()
    heard.engine.probe()
    heard.drain()
    assert heard.events == []


def test_a_sink_that_raises_leaves_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    caught: list[object] = []
    monkeypatch.setattr("threading.excepthook", caught.append)

    def sink(event: object) -> None:
        if isinstance(event, PointStarted):
            raise OSError("the sink is full")

    from profiles.local_engine import LocalEngine  # noqa: PLC0415 - after the hook is in place

    engine = LocalEngine(sink, "tests.faults:KERNELS")
    engine.run(quick_plan("slow", protocol=LONG))
    engine._thread.join(timeout=30)
    assert len(caught) == 1
    assert running_children() == []
    engine.close()


PARENT = """
import sys
from profiles.events import PointStarted, Readings
from profiles.local_engine import LocalEngine
from tests.profiles.engine.test_control import LONG
from tests.profiles.heard import quick_plan

def sink(event):
    print(type(event).__name__, flush=True)

if __name__ == "__main__":
    engine = LocalEngine(sink, "tests.faults:KERNELS")
    engine.watch("cpu")
    engine.run(quick_plan(sys.argv[1], protocol=LONG))
"""


@pytest.mark.parametrize("kernel", ["slow", "hang"])
def test_when_the_window_is_killed_its_children_end_by_themselves(tmp_path: Path, kernel: str) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    root = Path(__file__).parents[3]
    command = [sys.executable, str(script), kernel]
    env = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=root) as parent:
        assert parent.stdout is not None
        wanted = {"PointStarted", "Readings"}
        for line in parent.stdout:
            wanted.discard(line.strip())
            if not wanted:
                break
        children = psutil.Process(parent.pid).children(recursive=True)
        assert len(children) >= 2
        parent.kill()
    _, alive = psutil.wait_procs(children, timeout=10)
    assert alive == []


def test_ctrl_c_in_the_terminal_does_not_reach_the_children(heard: Heard) -> None:
    begin(heard, "slow")
    (worker,) = running_children()
    os.kill(worker.pid, signal.SIGINT)
    heard.engine.cancel()
    assert heard.until(PointFailed).status == "cancelled"
    assert running_children() == [worker]


def test_a_trace_is_answered_with_what_was_asked(heard: Heard) -> None:
    request = TraceRequest(problem=Problem(seqlen_q=8, seqlen_k=8, head_dim=16), block_q=4, block_k=4)
    heard.engine.trace(request)
    ready = heard.until(TraceReady)
    assert ready.trace.request == request
    assert ready.trace.tile.shape == (4, 2)


def test_a_trace_that_cannot_be_recorded_says_why(heard: Heard) -> None:
    problem = Problem(seqlen_q=8, seqlen_k=8, head_dim=16, batch=2)
    heard.engine.trace(TraceRequest(problem=problem))
    failed = heard.until(RequestFailed)
    assert failed.request == "trace"
    assert failed.reason
    heard.sweep(quick_plan("flash2"))


@pytest.mark.parametrize(("chosen", "threads"), [({}, 1), ({"OMP_NUM_THREADS": "3"}, 3)])
def test_matrix_products_run_on_one_thread_unless_the_user_has_chosen(
    monkeypatch: pytest.MonkeyPatch, chosen: dict[str, str], threads: int
) -> None:
    for name in BLAS_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    heard = Heard("kernels.registry:KERNELS")
    try:
        heard.engine.probe()
        assert heard.until(MachineFound).machine.blas_threads == threads
    finally:
        heard.engine.close()
