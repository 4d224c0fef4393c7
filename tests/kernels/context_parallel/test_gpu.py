"""Ranks on GPUs against float64: several on one GPU, and one each where there are more."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from flashscope.kernels.context_parallel.drawing import ROWS, draw_heads, draw_rows
from flashscope.kernels.context_parallel.judging import judge_backward, judge_forward
from flashscope.kernels.context_parallel.running import Ranks
from flashscope.kernels.context_parallel.schemes import SCHEMES, Partition, Scheme, sent_bytes
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.ranks import LinkKind, PassMeasured, RanksEnded, RanksToMeasure
from tests.profiles.worker.test_ranks import answers

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(600)]

WORKLOAD = Problem(
    batch=2,
    seqlen_q=1001,
    seqlen_k=1001,
    heads=8,
    kv_heads=4,
    head_dim=128,
    dtype="bfloat16",
    causal=True,
    passes="both",
)
each_scheme = pytest.mark.parametrize("scheme", SCHEMES)


def ranks_on(partition: Partition, devices: Sequence[int], link: LinkKind = "peer") -> Ranks:
    from flashscope.kernels.context_parallel import gpu, nccl  # noqa: PLC0415 - CuPy is not everywhere

    places = gpu.places_on(devices)
    owned = [gpu.draw_owned(partition, index, place) for index, place in enumerate(places)]
    channel: Any = nccl.NcclChannel(places) if link == "nccl" else gpu.PeerChannel()
    return Ranks(partition, places, owned, channel)


def check(ranks: Ranks, runs: int = 2) -> None:
    """Both passes, the second time with what was bound the first time, against float64."""
    problem = ranks.partition.problem
    for _ in range(runs):
        ranks.forward()
        ranks.backward()
    for head in draw_heads(problem, 2):
        for drawn in (None, draw_rows(ranks.partition, head, ROWS)):
            assert judge_forward(ranks, head, drawn).passed
            assert judge_backward(ranks, head, drawn).passed
    assert [one.sent_bytes for one in ranks.members] == [
        sent_bytes(ranks.partition.backward(one.index)) for one in ranks.members
    ]


def gpus(count: int) -> range:
    """So many GPUs; the test is skipped where there are fewer."""
    from flashscope.kernels.context_parallel.gpu import gpu_count  # noqa: PLC0415 - as above

    there = gpu_count()
    if there < count:
        pytest.skip(f"{count} GPUs are needed, and there are {there}")
    return range(count)


@each_scheme
@pytest.mark.parametrize("count", [1, 2, 4])
def test_several_ranks_on_one_gpu_are_right(scheme: Scheme, count: int) -> None:
    check(ranks_on(Partition(scheme, WORKLOAD, count), [0] * count))


@each_scheme
def test_without_a_mask_and_in_float16_ranks_are_right(scheme: Scheme) -> None:
    problem = replace(WORKLOAD, causal=False, dtype="float16", head_dim=64)
    check(ranks_on(Partition(scheme, problem, 4), [0] * 4))


@pytest.mark.parametrize("scheme", ["ring", "zigzag"])
def test_fewer_rows_than_keys_are_right(scheme: Scheme) -> None:
    check(ranks_on(Partition(scheme, replace(WORKLOAD, seqlen_q=700), 3), [0] * 3))


def test_replicated_heads_are_right() -> None:
    check(ranks_on(Partition("ulysses", replace(WORKLOAD, kv_heads=2), 4), [0] * 4))


@each_scheme
@pytest.mark.parametrize("link", ["peer", "nccl"])
def test_two_gpus_are_right(scheme: Scheme, link: LinkKind) -> None:
    check(ranks_on(Partition(scheme, WORKLOAD, 2), gpus(2), link))


@each_scheme
def test_many_runs_on_two_gpus_give_the_same_output(scheme: Scheme) -> None:
    ranks = ranks_on(Partition(scheme, replace(WORKLOAD, seqlen_q=4096, seqlen_k=4096), 2), gpus(2))
    ranks.forward()
    first = outputs(ranks)
    for _ in range(20):
        ranks.forward()
        assert outputs(ranks) == first


def outputs(ranks: Ranks) -> list[bytes]:
    """O of every rank."""
    found = []
    for one in ranks.members:
        with one.place.here():
            found.append(one.place.to_host(one.output).tobytes())
    return found


@each_scheme
def test_two_gpus_are_measured_beside_one(scheme: Scheme) -> None:
    devices = tuple(gpus(2))
    problem = replace(WORKLOAD, seqlen_q=8192, seqlen_k=8192)
    *passes, ended = answers(RanksToMeasure(scheme=scheme, problem=problem, backend="cuda", repeats=3))
    assert isinstance(ended, RanksEnded)
    assert not ended.reason
    assert len(passes) == 2
    for one in passes:
        assert isinstance(one, PassMeasured)
        assert one.devices[:2] == devices
        assert one.passed
        assert one.alone_ms
        assert all(rank.product_ms > 0 for rank in one.ranks)
        assert all(rank.exposed_ms <= rank.transfer_ms + 1e-3 for rank in one.ranks)
