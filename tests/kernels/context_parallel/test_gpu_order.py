"""Ranks on GPUs that are pretended: events alone keep copies and products apart, and all is right."""

import gc
import sys
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from flashscope.kernels.context_parallel.running import Ranks
from flashscope.kernels.context_parallel.schemes import SCHEMES, Partition, Scheme
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.workload.problem import Problem
from tests.kernels.context_parallel.pretended_cupy import (
    DeviceArray,
    Event,
    OrderError,
    Stream,
    bound,
    no_gate,
    pretended,
)
from tests.kernels.context_parallel.running import judged, run_both

WORKLOAD = Problem(
    seqlen_q=50, seqlen_k=50, heads=4, kv_heads=2, head_dim=16, causal=True, passes="both", seed=1
)
MODULES = "flashscope.kernels.context_parallel.gpu", "flashscope.kernels.context_parallel.nccl"
BENCH = "flashscope.profiles.worker.ranks.bench_gpus"
each_scheme = pytest.mark.parametrize("scheme", SCHEMES)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of ranks on GPUs, over two GPUs that are pretended."""
    cupy: Any = pretended(2)
    for name, module in (("cupy", cupy), ("cupy.cuda", cupy.cuda)):
        monkeypatch.setitem(sys.modules, name, module)
    for name in (*MODULES, BENCH):
        monkeypatch.delitem(sys.modules, name, raising=False)
    made: Any = import_module(MODULES[0])
    monkeypatch.setattr(made, "describe", lambda *_: describe())
    monkeypatch.setattr(made, "load_kernels", lambda _: ())
    monkeypatch.setattr(made, "bind_launches", bound)
    monkeypatch.setattr(made.CudaPlace, "address", lambda _, array: array.ctypes.data)
    _bump(monkeypatch, made)
    yield made
    for name in (*MODULES, BENCH):
        sys.modules.pop(name, None)


def _bump(monkeypatch: pytest.MonkeyPatch, gpu: Any) -> None:
    """Count products in their streams, and check that a copy waits for those of both sides."""
    for name in ("put", "add", "merge"):
        original = getattr(gpu.CudaPlace, name)

        def counted(self: Any, *arguments: Any, original: Any = original) -> None:
            original(self, *arguments)
            self.product.position += 1

        monkeypatch.setattr(gpu.CudaPlace, name, counted)
    move = gpu.PeerChannel._move

    def checked(self: Any, due: list[Any]) -> None:
        for one in due:
            known = one.target.place.transfer.known
            for party in (one.source, one.target):
                product = party.place.product
                if known.get(product.ptr, -1) < product.position:
                    raise OrderError(party.index)
        move(self, due)

    monkeypatch.setattr(gpu.PeerChannel, "_move", checked)


def ranks_of(gpu: Any, scheme: Scheme, ranks: int = 4) -> Ranks:
    partition = Partition(scheme, WORKLOAD, ranks)
    places = gpu.places_on([rank % 2 for rank in range(ranks)])
    owned = [gpu.draw_owned(partition, index, place) for index, place in enumerate(places)]
    return Ranks(partition, places, owned, gpu.PeerChannel())


@each_scheme
def test_copies_that_come_as_late_as_events_allow_change_nothing(gpu: Any, scheme: Scheme) -> None:
    ranks = ranks_of(gpu, scheme, 4 if scheme != "ulysses" else 2)
    for _ in range(2):
        run_both(ranks)
        assert all(verdict.passed for verdict in judged(ranks))
    assert not any(stream.copies for stream in Stream.all)
    assert all(isinstance(one.output, DeviceArray) for one in ranks.members)


def test_a_product_that_does_not_wait_is_found(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stream, "wait_event", lambda *_: None)
    with pytest.raises(OrderError):
        ranks_of(gpu, "ring").forward()


def test_a_gpu_that_is_not_there_is_refused(gpu: Any) -> None:
    with pytest.raises(Exception, match="There is no GPU 2: GPUs are numbered from 0 to 1 here"):
        gpu.places_on([0, 2])


@each_scheme
def test_the_bench_times_every_product_and_transfer(
    gpu: Any, scheme: Scheme, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench_gpus: Any = import_module(BENCH)
    monkeypatch.setattr(bench_gpus, "Gate", lambda: SimpleNamespace(closed=no_gate))
    bench = bench_gpus.GpusBench((0, 1), "peer")
    ranks = bench.ranks(Partition(scheme, WORKLOAD, 2))
    for run in (ranks.forward, ranks.backward):
        timed = bench.time(ranks, run)
        assert timed.ms == 1.0
        for steps in timed.steps:
            assert {one.lane for one in steps} == {"product", "transfer"}
        assert timed.in_time
    assert all(verdict.passed for verdict in judged(ranks))
    assert bench.time_alone(lambda: None) == 1.0
    assert bench.devices == (0, 1)


def test_a_run_that_began_before_all_was_enqueued_is_told(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bench_gpus: Any = import_module(BENCH)
    monkeypatch.setattr(bench_gpus, "Gate", lambda: SimpleNamespace(closed=no_gate))
    bench = bench_gpus.GpusBench((0, 1), "peer")
    ranks = bench.ranks(Partition("ring", WORKLOAD, 2))
    monkeypatch.setattr(Event, "done", True)
    assert not bench.time(ranks, ranks.forward).in_time


def test_of_ranks_that_share_a_gpu_the_first_one_is_held(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bench_gpus: Any = import_module(BENCH)
    monkeypatch.setattr(bench_gpus, "Gate", lambda: SimpleNamespace(closed=no_gate))
    bench = bench_gpus.GpusBench((0, 1, 0, 1), "peer")
    ranks = bench.ranks(Partition("ring", WORKLOAD, 4))
    held = {one.place.product.ptr for one in ranks.members[:2]}
    monkeypatch.setattr(Event, "done", property(lambda event: not held & event.seen.keys()), raising=False)
    assert bench.time(ranks, ranks.forward).in_time


def test_no_garbage_is_collected_while_a_run_is_enqueued(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bench_gpus: Any = import_module(BENCH)
    monkeypatch.setattr(bench_gpus, "Gate", lambda: SimpleNamespace(closed=no_gate))
    bench = bench_gpus.GpusBench((0, 1), "peer")
    seen: list[bool] = []
    bench.time(bench.ranks(Partition("ring", WORKLOAD, 2)), lambda: seen.append(gc.isenabled()))
    assert seen == [False]
    assert gc.isenabled()


def test_nccl_sends_and_receives_in_one_group(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []

    class Communicator:
        def __init__(self, index: int) -> None:
            self.index = index

        @staticmethod
        def initAll(devices: list[int]) -> "list[Communicator]":
            return [Communicator(index) for index in range(len(devices))]

        def send(self, pointer: int, count: int, _: int, peer: int, stream: int) -> None:
            calls.append(("send", self.index, peer, pointer, count, stream))

        def recv(self, pointer: int, count: int, _: int, peer: int, stream: int) -> None:
            calls.append(("recv", self.index, peer, pointer, count, stream))

    nccl = SimpleNamespace(
        available=True,
        NCCL_UINT8=1,
        NcclCommunicator=Communicator,
        groupStart=lambda: calls.append(("start",)),
        groupEnd=lambda: calls.append(("end",)),
    )
    made: Any = import_module(MODULES[1])
    monkeypatch.setattr(made, "_nccl", lambda: nccl)
    monkeypatch.delenv("NCCL_NVLS_ENABLE", raising=False)
    ranks = ranks_of(gpu, "ring", 2)
    channel = made.NcclChannel([one.place for one in ranks.members])
    ranks = Ranks(
        ranks.partition, [one.place for one in ranks.members], [one.owned for one in ranks.members], channel
    )
    ranks.forward()
    kinds = [call[0] for call in calls]
    assert kinds[0] == "start"
    assert kinds[-1] == "end"
    assert kinds.count("send") == kinds.count("recv") == 4  # K and V of either rank
    with pytest.raises(Exception, match="one rank a GPU"):
        made.NcclChannel(gpu.places_on([0, 0]))
