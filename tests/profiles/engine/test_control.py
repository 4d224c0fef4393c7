"""Cancelling, closing, and what is left behind: nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.engine.contract import EngineBusyError
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.wire.events import (
    BackwardTraceReady,
    Event,
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
from flashscope.profiles.worker.child import BLAS_VARIABLES
from tests.end_to_end import program
from tests.faults import HANGS
from tests.matrix import chosen
from tests.profiles.engine.conftest import Gate, Ladder
from tests.profiles.heard import QUICK, Heard, quick_plan, running_children

LONG = Protocol(warmup=0, repeats=100_000, time_cap_s=600.0, deadline_s=600.0, drift_check=False)


def begin(heard: Heard, kernel: str) -> None:
    """A sweep whose first point never ends by itself."""
    heard.engine.run(quick_plan(kernel, "flash2", seqlens=(64, 128), protocol=LONG))
    if kernel == "slow":
        heard.until(PointProgress, lambda e: e.phase == "measure")
    else:
        heard.until(LogLine, lambda e: e.text == HANGS)


def test_cancelling_is_acknowledged_at_once_and_acts_after_the_repeat_in_flight(
    heard: Heard, gate: Gate
) -> None:
    heard.engine.run(quick_plan("gated", "flash2", seqlens=(64, 128), protocol=LONG))
    gate.let(2)
    gate.await_run(heard, 3)
    heard.engine.cancel()
    heard.until(LogLine, lambda e: e.source == "engine")  # while the kernel still runs
    heard.barrier()
    assert heard.all(PointFailed) == []
    gate.let(100)
    assert heard.until(PlanFinished).outcome == "cancelled"
    assert gate.left() == 99
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


@chosen("kernel,rungs", [("hang", 1), ("hang-deaf", 2)], ())
def test_a_kernel_that_hangs_when_cancelled_is_ended_by_force(
    heard: Heard, ladder: Ladder, kernel: str, rungs: int
) -> None:
    begin(heard, kernel)
    asked = time.monotonic()
    heard.engine.cancel()
    heard.barrier()
    due, acted = heard.engine._supervisor._patience, time.monotonic()
    assert (
        due is None or asked + 2.0 <= due <= acted + 2.0
    )  # None: so slow was this thread that it has passed
    failed = heard.until(PointFailed)
    assert failed.status == "cancelled"
    assert heard.until(PlanFinished).outcome == "cancelled"
    assert ladder.climbed == ["terminated", "killed"][:rungs]
    ladder.assert_each_rung_is_given(2.0)


def test_cancelling_before_the_first_point_still_opens_and_closes_the_session(fresh: Heard) -> None:
    fresh.engine.run(quick_plan("flash2"))
    fresh.engine.cancel()  # while its worker starts; one that waits would have begun at once
    assert fresh.until(PlanStarted).predicted_bytes
    assert fresh.until(PlanFinished).outcome == "cancelled"
    assert fresh.all(PointStarted) == []


def test_cancelling_nothing_does_nothing(heard: Heard) -> None:
    heard.engine.cancel()
    heard.engine.probe()
    assert isinstance(heard.next(), MachineFound)


def test_a_second_sweep_is_refused_while_one_runs(heard: Heard) -> None:
    begin(heard, "slow")
    with pytest.raises(EngineBusyError, match="already running"):
        heard.engine.run(quick_plan("flash2"))


def trace_request(backend: Backend) -> TraceRequest:
    return TraceRequest(problem=Problem(seqlen_q=4, seqlen_k=4, head_dim=16), backend=backend)


@pytest.mark.matrix  # it takes a second
def test_a_trace_on_the_cpu_is_recorded_beside_a_sweep(heard: Heard) -> None:
    begin(heard, "slow")
    heard.engine.trace(trace_request("cpu"))
    assert heard.until(TraceReady).trace.request == trace_request("cpu")
    assert heard.all(PlanFinished) == []


@pytest.mark.matrix  # it takes a second or more
def test_the_trace_of_a_backward_pass_on_the_cpu_is_recorded_beside_a_sweep(heard: Heard) -> None:
    begin(heard, "hang")
    asked = BackwardTraceRequest(problem=Problem(seqlen_q=4, seqlen_k=4, head_dim=16), block_q=2)
    heard.engine.backward_trace(asked)
    assert heard.until(BackwardTraceReady).trace.request == asked
    assert heard.all(PlanFinished) == []


def test_a_backward_pass_that_has_no_trace_is_answered_with_the_reason(heard: Heard) -> None:
    problem = Problem(seqlen_q=4, seqlen_k=4, head_dim=16)
    heard.engine.backward_trace(BackwardTraceRequest(problem=problem, kernel="flash3"))
    answer = heard.until(RequestFailed)
    assert answer.request == "backward-trace"
    assert answer.reason == "flash3's backward pass is not implemented on the cpu backend."


def test_a_trace_on_the_gpu_waits_for_the_end_of_the_sweep(heard: Heard, gate: Gate) -> None:
    heard.engine.run(quick_plan("gated", protocol=QUICK))
    gate.await_run(heard, 1)
    heard.engine.trace(trace_request("cuda"))
    heard.barrier()
    gate.let(100)
    ends = (PlanFinished, TraceReady, RequestFailed)  # without a GPU it fails, when its turn has come
    heard.until(PlanFinished)
    answer = next(event for event in iter(heard.next, None) if isinstance(event, ends))
    assert isinstance(answer, TraceReady | RequestFailed)
    said = [type(event) for event in heard.events if isinstance(event, ends)]
    assert said == [PlanFinished, type(answer)]


@pytest.mark.matrix
def test_a_sweep_follows_a_trace_that_is_being_recorded(heard: Heard) -> None:
    heard.engine.trace(trace_request("cuda"))
    heard.sweep(quick_plan("flash2"))
    assert heard.all(PlanFinished)[-1].outcome == "finished"


def test_a_plan_with_an_unknown_kernel_is_refused_and_leaves_the_engine_free(heard: Heard) -> None:
    with pytest.raises(KeyError, match="flash9"):
        heard.engine.run(quick_plan("flash9"))
    heard.sweep(quick_plan("flash2"))


@pytest.mark.matrix
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


def test_closing_while_a_kernel_ignores_everything_takes_the_whole_ladder_and_no_more(
    heard: Heard, ladder: Ladder
) -> None:
    begin(heard, "hang-deaf")
    heard.engine.close()
    assert ladder.climbed == ["terminated", "killed"]
    ladder.assert_each_rung_is_given(2.0)
    assert running_children() == []


def test_closing_twice_and_asking_afterwards_does_nothing(heard: Heard) -> None:
    heard.engine.close()
    heard.engine.close()
    heard.engine.probe()
    heard.drain()
    assert heard.events == []


def test_what_is_asked_while_it_closes_is_not_done_and_keeps_nobody_waiting(
    heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = heard.engine
    said = engine._sink

    def asked_once_more(event: Event) -> None:
        said(event)
        if isinstance(event, PlanFinished):  # said while it closes, as a far client may ask at that moment
            engine.watch("cpu")
            engine.probe()

    begin(heard, "slow")
    monkeypatch.setattr(engine, "_sink", asked_once_more)
    engine.close()
    assert running_children() == []


PARENT = """
import sys
from flashscope.profiles.wire.events import PointStarted, Readings
from flashscope.profiles.engine.local import LocalEngine
from tests.profiles.engine.test_control import LONG
from tests.profiles.heard import quick_plan

def sink(event):
    print(type(event).__name__, flush=True)

if __name__ == "__main__":
    engine = LocalEngine(sink, "tests.faults:KERNELS")
    engine.watch("cpu")
    engine.run(quick_plan(sys.argv[1], protocol=LONG))
"""


@chosen("kernel", ["slow", "hang"], {"hang"})
def test_when_the_window_is_killed_its_children_end_by_themselves(tmp_path: Path, kernel: str) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    command = [sys.executable, str(script), kernel]
    env = {**os.environ, "PYTHONPATH": program.PYTHONPATH}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=program.ROOT) as parent:
        assert parent.stdout is not None
        wanted = {"PointStarted", "Readings"}
        for line in parent.stdout:
            wanted.discard(line.strip())
            if not wanted:
                break
        children = psutil.Process(parent.pid).children(recursive=True)
        assert len(children) >= 2
        parent.kill()
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []


def test_ctrl_c_in_the_terminal_does_not_reach_the_children(heard: Heard) -> None:
    begin(heard, "slow")
    (worker,) = running_children()
    os.kill(worker.pid, signal.SIGINT)
    heard.engine.cancel()
    assert heard.until(PointFailed).status == "cancelled"
    assert running_children() == [worker]


@pytest.mark.matrix  # it takes a second
def test_a_trace_is_answered_with_what_was_asked(heard: Heard) -> None:
    request = TraceRequest(problem=Problem(seqlen_q=8, seqlen_k=8, head_dim=16), block_q=4, block_k=4)
    heard.engine.trace(request)
    ready = heard.until(TraceReady)
    assert ready.trace.request == request
    assert ready.trace.tile.shape == (4, 2)


@pytest.mark.matrix
def test_a_trace_that_cannot_be_recorded_says_why(heard: Heard) -> None:
    problem = Problem(seqlen_q=8, seqlen_k=8, head_dim=16, batch=2)
    heard.engine.trace(TraceRequest(problem=problem, head=2))
    failed = heard.until(RequestFailed)
    assert failed.request == "trace"
    assert failed.reason
    heard.sweep(quick_plan("flash2"))


@chosen("users,threads", [({}, 1), ({"OMP_NUM_THREADS": "3"}, 3)], [({}, 1)])
def test_matrix_products_run_on_one_thread_unless_the_user_has_chosen(
    monkeypatch: pytest.MonkeyPatch, users: dict[str, str], threads: int
) -> None:
    for name in BLAS_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in users.items():
        monkeypatch.setenv(name, value)
    heard = Heard("flashscope.kernels.catalogue.registry:KERNELS")
    try:
        heard.engine.probe()
        assert heard.until(MachineFound).machine.blas_threads == threads
    finally:
        heard.engine.close()
