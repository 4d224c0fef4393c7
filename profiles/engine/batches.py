"""Which points of a group memory holds together, to be sampled in turns."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from flashscope.profiles.plan.plan import Point
from flashscope.profiles.wire.measurement import TURNS_BROKEN_OFF, Measurement

GIB = 1 << 30


class PointMemory(NamedTuple):
    """What a point that was tried holds, in bytes: the drawn inputs, which others may share, and all else."""

    point: Point
    shared_bytes: int
    own_bytes: int

    @classmethod
    def by(cls, point: Point, measurement: Measurement) -> "PointMemory":
        """What a point holds by the ledger of its measurement; what is not known counts as nothing."""
        inputs = min(int(measurement.value("input_bytes") or 0), point.problem.drawn_bytes)
        return cls(point, inputs, (measurement.held_bytes or 0) - inputs)


class Batch(NamedTuple):
    """Points that are sampled together.

    Attributes:
        points: In running order.
        remark: Why they take no turns with others of their group that they could have; empty otherwise.
        again: Whether they are the same as in the batch before, in which the worker died.
    """

    points: tuple[Point, ...]
    remark: str = ""
    again: bool = False


def fitting_batches(tried: Sequence[PointMemory], margin: float, free_bytes: int) -> list[Batch]:
    """Points of one problem in batches that memory holds together, with one set of inputs.

    All of them if their ledgers * (1 + margin) are free, else all but the largest, each of which is sampled
    alone and says so.
    """
    together, largest = [*tried], list[PointMemory]()
    while len(together) > 1 and _bytes(together) * (1 + margin) > free_bytes:
        largest.append(max(together, key=lambda one: one.shared_bytes + one.own_bytes))
        together.remove(largest[-1])
    reason = (
        f"with the other kernels beside it {_bytes(tried) / GIB:,.2f} GiB would be held (and {margin:.0%} to "
        f"spare), but {free_bytes / GIB:,.2f} GiB were free."
    )
    shared = tuple(one.point for one in together)
    batches = [Batch(shared) if len(shared) > 1 or not largest else _batch_of_one(shared[0], reason)]
    batches += [_batch_of_one(one.point, reason) for one in largest]
    return sorted(batches, key=lambda batch: batch.points[0].index)


def broken_off(reason: str) -> str:
    """The remark on points that are sampled when the turns they were to take part in are over."""
    return f"{TURNS_BROKEN_OFF.capitalize()}. {reason}"


def apart(ahead: str) -> str:
    """The remark on points whose worker finds modules in a folder of its own; empty where it has none."""
    if not ahead:
        return ""
    return f"Measured with the packages of {Path(ahead).name} alone, without turns with kernels outside them."


def _batch_of_one(point: Point, reason: str) -> Batch:
    """A point that memory does not hold with others, with the reason."""
    return Batch((point,), f"Sampled alone: {reason}")


def _bytes(tried: Sequence[PointMemory]) -> int:
    """Bytes of the inputs once, and of what each holds beside them."""
    return tried[0].shared_bytes + sum(one.own_bytes for one in tried)
