"""Whatever comes out of a child's pipes, or does not, the engine goes on and closes."""

import os
import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.engine import children
from flashscope.profiles.engine.children import SpawnedChild
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.wire.events import LogLine, MachineFound, PlanFinished, PointStarted, RequestFailed
from flashscope.profiles.wire.messages import WatchDevice
from tests.faults import LEFT_BEHIND
from tests.matrix import chosen
from tests.profiles.engine.test_control import LONG, begin
from tests.profiles.heard import Heard, done, quick_plan, running_children

PATIENCE_S = 120.0
BROKEN = {
    "send-garbage": "sent what is no message",
    "send-a-huge-length": "its length is said to be 2,147,483,647 bytes",
    "send-a-huger-length": "its length is said to be -1 bytes",
    "send-half-a-message": "stopped in the middle of a message",
}


@pytest.fixture
def heard(fresh: Heard) -> Heard:
    """None of these is left as another test would want it."""
    return fresh


def close_in_time(engine: LocalEngine) -> None:
    closing = threading.Thread(target=engine.close, daemon=True)
    closing.start()
    closing.join(PATIENCE_S)
    assert not closing.is_alive(), "close() did not return"


@pytest.mark.matrix  # it takes a second
@chosen(
    "kernel, said",
    BROKEN.items(),
    [one for one in BROKEN.items() if one[0] == "send-half-a-message"],
)
def test_a_worker_that_sends_what_is_no_message_fails_its_point_and_the_sweep_goes_on(
    heard: Heard, monkeypatch: pytest.MonkeyPatch, kernel: str, said: str
) -> None:
    monkeypatch.setattr(children, "STALL_S", 0.5)
    failed, after = heard.sweep(quick_plan(kernel, "flash2"))
    assert failed.status == "failed"
    assert said in failed.reason
    done(after)


@chosen("kernel", ["leave-a-process", "leave-a-chatterer"], ())
def test_a_worker_that_leaves_a_process_with_its_pipes_is_seen_to_end(heard: Heard, kernel: str) -> None:
    failed, after = heard.sweep(quick_plan(kernel, "flash2"))
    heard.drain()
    left = [line.text for line in heard.all(LogLine) if line.text.startswith(LEFT_BEHIND)]
    for line in left:
        with suppress(ProcessLookupError):  # who prints into a pipe that is closed has ended
            os.kill(int(line.split()[-1]), signal.SIGKILL)
    assert len(left) == 1
    assert "killed by SIGKILL" in failed.reason
    done(after)


def test_an_answer_that_the_engine_cannot_follow_ends_the_sweep_with_the_reason(heard: Heard) -> None:
    heard.engine.run(quick_plan("send-an-unknown-point", "flash2"))
    finished = heard.until(PlanFinished)
    assert finished.outcome == "failed"
    assert "KeyError: 99" in finished.reason
    assert "\n" not in finished.reason
    assert running_children() == []
    (point, *_) = heard.session().points
    assert (point.status, point.reason) == ("failed", finished.reason)
    for measured in heard.sweep(quick_plan("flash2")):  # the engine is as good as new
        done(measured)


@contextmanager
def spare_descriptors(spare: int) -> Iterator[None]:
    """Let this process open so many files more, and no others."""
    kept = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))  # noqa: PTH208 - numbers, not paths
    held: list[int] = []
    try:
        while not held or held[-1] <= highest:  # the gaps below, and one to know that there are none
            held.append(os.open("/dev/null", os.O_RDONLY))
        resource.setrlimit(resource.RLIMIT_NOFILE, (held[-1] + 1 + spare, kept[1]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, kept)
        for descriptor in held:
            os.close(descriptor)


@chosen("spare", range(16), {6})
def test_a_sweep_without_descriptors_for_its_children_ends_with_the_reason(heard: Heard, spare: int) -> None:
    with spare_descriptors(spare):
        heard.engine.run(quick_plan("flash2"))
        finished = heard.until(PlanFinished)
    assert finished.outcome == "finished" or "Too many open files" in finished.reason
    heard.engine.run(quick_plan("flash2"))
    assert heard.until(PlanFinished).outcome == "finished"


def test_a_sink_that_raises_ends_the_sweep_with_the_reason_and_leaves_no_child() -> None:
    told: list[object] = []
    over = threading.Event()

    def sink(event: object) -> None:
        told.append(event)
        if isinstance(event, PointStarted):
            raise OSError("the sink is full")
        if isinstance(event, PlanFinished):
            over.set()

    engine = LocalEngine(sink, "tests.faults:KERNELS")
    engine.run(quick_plan("slow", protocol=LONG))
    assert over.wait(PATIENCE_S)
    close_in_time(engine)
    (finished,) = [event for event in told if isinstance(event, PlanFinished)]
    assert "the sink is full" in finished.reason
    assert running_children() == []


def test_a_sink_that_always_raises_leaves_no_child_and_can_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    caught: list[object] = []
    monkeypatch.setattr("threading.excepthook", caught.append)

    def sink(event: object) -> None:
        raise OSError("the sink is full")

    engine = LocalEngine(sink, "tests.faults:KERNELS")
    engine.run(quick_plan("slow", protocol=LONG))
    engine._thread.join(PATIENCE_S)
    close_in_time(engine)
    assert len(caught) == 1
    assert running_children() == []


def test_what_was_asked_for_beside_something_that_failed_is_done_all_the_same(heard: Heard) -> None:
    reached = threading.Event()

    def fail() -> None:
        raise OSError("this one fails")

    heard.engine._inbox.put(fail)  # both wait when the engine is woken, once
    heard.engine._post(reached.set)
    assert reached.wait(10)


def test_a_probe_that_cannot_be_made_is_answered_all_the_same(
    heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no process can be started")

    monkeypatch.setattr(SpawnedChild, "__init__", refuse)
    heard.engine.probe()
    found = heard.until(MachineFound).machine
    assert "no process can be started" in found.findings[-1].detail
    assert found.device("cpu") is not None


@pytest.mark.matrix
def test_a_child_that_cannot_be_killed_does_not_keep_the_engine_from_closing(
    heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(heard, "hang-deaf")
    (worker,) = running_children()
    with monkeypatch.context() as patch:
        patch.setattr(children, "RUNG_S", 0.2)
        patch.setattr("subprocess.Popen.terminate", lambda _: None)
        patch.setattr("subprocess.Popen.kill", lambda _: None)
        close_in_time(heard.engine)
    heard.drain()
    assert any("could not be killed" in line.text for line in heard.all(LogLine))
    worker.kill()
    worker.wait(PATIENCE_S)


@pytest.mark.matrix
def test_a_worker_that_takes_no_command_does_not_hold_the_engine_up(
    heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "RUNG_S", 0.2)
    heard.sweep(quick_plan("flash2"))
    (worker,) = running_children()
    worker.suspend()
    child = heard.engine._supervisor.child
    assert child is not None
    heard.engine._post(lambda: child.send(WatchDevice(backend="cpu", uuid="x" * (1 << 24))))
    close_in_time(heard.engine)
    assert running_children() == []


def test_a_trace_that_cannot_have_a_worker_fails_alone_and_the_sweep_goes_on(
    heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(_log: object, _ahead: str) -> SpawnedChild:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(heard.engine._tracer, "_make_child", none_left)
    heard.engine.run(quick_plan("flash2"))
    heard.until(PointStarted)
    heard.engine.trace(TraceRequest(problem=Problem(seqlen_q=32, seqlen_k=32)))
    assert heard.until(PlanFinished).outcome == "finished"
    (failed,) = heard.all(RequestFailed)
    assert failed.request == "trace"
    assert "Too many open files" in failed.reason
