"""The programs of `all-gather`: all K and V first, then one product; gradients go to who holds the keys."""

from collections.abc import Iterator
from typing import Any

from flashscope.kernels.context_parallel.rank import SequenceRank
from flashscope.kernels.context_parallel.schemes import RankHolding, RankStep
from flashscope.kernels.context_parallel.steps import (
    KeyValue,
    RunningGradients,
    RunningRows,
    key_buffers,
    key_shapes,
    own_saved,
    wanted,
)


def forward(rank: SequenceRank) -> Iterator[None]:
    """O and LSE of the rank's rows."""
    gather, product = rank.partition.forward(rank.index)
    yield from _gather(rank, gather)
    rank.step = 1
    rows = RunningRows(rank, rank.owned.q)
    rows.attend(product.blocks, _whole(rank))
    rank.output, rank.lse = rows.finish()


def backward(rank: SequenceRank) -> Iterator[None]:
    """The gradients of the rank's rows and keys."""
    gather, product, scatter = rank.partition.backward(rank.index)
    yield from _gather(rank, gather)
    rank.step = 1
    rows = RunningGradients(rank, own_saved(rank))
    sums = _whole(rank, "d", "float32")
    for one in sums:
        one.fill(0)
    rows.add_to(sums, rows.differentiate(product.blocks, _whole(rank)))
    rank.step = 2
    own = key_buffers(rank, ("dK of own", "dV of own"), rank.holding.key_count, "float32")
    with rank.producing():
        _take_out(rank, sums, own, rank.holding)
    yield from _scatter(rank, scatter, sums, own)
    rows.finish(*own)


def _gather(rank: SequenceRank, step: RankStep) -> Iterator[None]:
    """K and V of all ranks, each in its place in the sequence."""
    for other in wanted(step, "K and V"):
        rank.send(other, rank.owned.k, rank.owned.v)
        rank.receive(other, *_arriving(rank, other))
    yield
    rank.arrived()
    with rank.producing():
        for other, held in enumerate(rank.partition.holdings):
            parts = (rank.owned.k, rank.owned.v) if other == rank.index else _arriving(rank, other)
            for whole, part in zip(_whole(rank), parts, strict=True):
                for there, here in stretches(held):
                    rank.place.put(whole[:, :, there], part[:, :, here])


def _scatter(rank: SequenceRank, step: RankStep, sums: KeyValue, own: KeyValue) -> Iterator[None]:
    """What this rank adds to dK and dV of others' keys goes to them, and theirs is added to its own."""
    others = wanted(step, "dK and dV")
    for other in others:
        held = rank.partition.holdings[other]
        leaving = key_buffers(rank, (f"dK to {other}", f"dV to {other}"), held.key_count, "float32")
        with rank.producing():
            _take_out(rank, sums, leaving, held)
        rank.send(other, *leaving)
        rank.receive(other, *_sums_from(rank, other))
    yield
    rank.arrived()
    with rank.producing():
        for other in others:
            for whole, part in zip(own, _sums_from(rank, other), strict=True):
                rank.place.add(whole, 0, part)


def _take_out(rank: SequenceRank, sums: KeyValue, target: KeyValue, held: RankHolding) -> None:
    for whole, part in zip(sums, target, strict=True):
        for there, here in stretches(held):
            rank.place.put(part[:, :, here], whole[:, :, there])


def stretches(held: RankHolding) -> Iterator[tuple[slice, slice]]:
    """The stretches of a rank's keys: in the sequence, and in the rank's arrays."""
    before = 0
    for one in held.keys:
        yield slice(one.start, one.stop), slice(before, before + len(one))
        before += len(one)


def _arriving(rank: SequenceRank, other: int) -> KeyValue:
    return key_buffers(rank, (f"K of {other}", f"V of {other}"), rank.partition.holdings[other].key_count)


def _sums_from(rank: SequenceRank, other: int) -> KeyValue:
    names = f"dK from {other}", f"dV from {other}"
    return key_buffers(rank, names, rank.holding.key_count, "float32")


def _whole(rank: SequenceRank, prefix: str = "", dtype: str = "") -> Any:
    """K and V of the whole sequence, or their gradients."""
    shapes = key_shapes(rank, rank.problem.seqlen_k)
    return tuple(
        rank.buffer(f"{prefix}{name} of all", shape, dtype) for name, shape in zip("KV", shapes, strict=True)
    )
