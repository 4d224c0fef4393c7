"""What a worker does between its points."""

import gc
import os
import sys
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.wire.events import RequestFailed, TraceReady
from flashscope.profiles.wire.messages import Message, Park, Parked, RecordTrace, Retiring
from flashscope.profiles.worker import serve
from flashscope.profiles.worker.child import Link
from flashscope.profiles.worker.instruments.bench import Bench
from flashscope.profiles.worker.serve import Worker

CPU = Device(backend="cpu", name="A CPU", memory_bytes=1 << 33)


class Deaf(Link):
    """No engine at its other end."""

    def __init__(self) -> None:
        pass

    def send(self, message: Message) -> None:
        del message


class Heard(Link):
    """Keeps what the engine would hear."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def send(self, message: Message) -> None:
        self.messages.append(message)


def refusal_on_gpu() -> RequestFailed:
    """What is answered to a trace on the GPU that cannot be recorded."""
    link, problem = Heard(), Problem(seqlen_q=8, seqlen_k=8, head_dim=16)
    Worker(link, ()).trace(RecordTrace(request=TraceRequest(problem=problem, backend="cuda")))
    (refused,) = (one for one in link.messages if isinstance(one, RequestFailed))
    return refused


class Rested:
    """A bench that counts how often it was let rest."""

    times = 0
    exclusive = False

    def rest(self) -> None:
        self.times += 1

    def is_exclusive(self) -> bool:
        return self.exclusive


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_a_parked_worker_has_dropped_its_oracle_and_says_whether_it_is_on_the_gpu(backend: Backend) -> None:
    link, bench = Heard(), Rested()
    worker = Worker(link, ())
    worker._benches[backend] = cast(Bench, bench)
    oracle = weakref.ref(worker._criteria)
    worker.answer(Park())
    assert link.messages == [Parked(pid=os.getpid() if backend == "cuda" else None)]
    assert (oracle(), bench.times) == (None, 1)


def test_a_worker_retires_where_the_gpu_takes_one_process_at_a_time() -> None:
    link, bench = Heard(), Rested()
    bench.exclusive = True
    worker = Worker(link, ())
    worker._benches["cuda"] = cast(Bench, bench)
    worker.answer(Park())
    assert link.messages == [Retiring(), Parked(pid=os.getpid())]


@pytest.fixture
def thawed() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


@pytest.mark.matrix
def test_what_a_worker_keeps_is_not_looked_through_again_after_every_point(thawed: None) -> None:
    kept = [[n] for n in range(10_000)]
    Worker(Deaf(), ())._clean_up(CPU)
    assert gc.get_freeze_count() > len(kept)
    assert len(gc.get_objects()) < len(kept)


class Circle:
    """Holds itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.matrix
def test_garbage_of_a_later_point_is_collected_all_the_same(thawed: None) -> None:
    worker = Worker(Deaf(), ())
    worker._clean_up(CPU)
    left = weakref.ref(Circle())
    worker._clean_up(CPU)
    assert left() is None


def test_a_trace_without_cupy_is_refused_in_one_sentence_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    reason = refusal_on_gpu().reason
    assert reason.startswith("CuPy cannot be imported (")
    assert reason.endswith("use the CPU backend.")
    assert "Error" not in reason


def test_a_trace_that_breaks_on_the_gpu_names_the_cpu_as_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_request: TraceRequest) -> None:
        raise RuntimeError("the GPU has gone")

    monkeypatch.setattr(serve, "describe", lambda: None)
    monkeypatch.setattr(serve, "import_module", lambda _name: SimpleNamespace(record=broken))
    assert refusal_on_gpu().reason == (
        "The kernel failed in the trace phase: RuntimeError: the GPU has gone. Trace on the CPU instead."
    )


def test_a_trace_with_a_fault_is_recorded_and_answered_with_it() -> None:
    link, problem = Heard(), Problem(seqlen_q=8, seqlen_k=8, head_dim=4)
    request = TraceRequest(problem=problem, fault="no-rescale")
    Worker(link, ()).trace(RecordTrace(request=request))
    (answer,) = (one for one in link.messages if isinstance(one, TraceReady))
    assert answer.trace.request == request
    assert "no-rescale" in answer.trace.source
