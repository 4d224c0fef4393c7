"""What a timeline says in numbers: shares of stages, the tail, the imbalance, idle rows, the overhead."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashscope.kernels.workload.timeline import (
    LOAD,
    MERGE,
    NO_PLACE,
    PRODUCTS,
    SOFTMAX,
    STAGES,
    StageTimeline,
    stages_of,
)

HELD_UP = 5.0  # times the median of its stage, from which on a bar was held up


@dataclass(frozen=True)
class TimelineFacts:
    """Numbers of one run of a build with clocks.

    Attributes:
        shares: The share of its lanes' time that each stage of its pass took, by its name; lanes without
            a bar count not, nor do those that load or merge alone, for the others.
        waits: The share in which they waited.
        covered: The share of the softmax's time in which another lane of its row has a product, as QKᵀ or
            PV, under way; None where no row has two lanes that take a softmax.
        idle_rows: How many rows have no bar at all.
        merge_ns: From when the first block merges parts of keys until the last one has; 0: none does.
        tail_ns: From when the first row had nothing left to do until the end of the last one, merges aside.
        held_up: The share of the bars' time in bars of over five times the median of their stage: something
            else had the thread.
        imbalance: How many times as long the longest block took as the shortest; 1 where there is one.
        overhead: The median runtime with clocks over that without, in turns.
        overheads: The least and the largest ratio of a round.
        clocked_ms: The former.
        plain_ms: The latter.
        quickest_ms: What the run that is drawn took by what timed it: on a GPU events around its launches.
        span_ms: The same by its own clocks: from the begin of its first block to the end of its last one.
    """

    shares: dict[str, float]
    waits: float
    covered: float | None
    idle_rows: int
    merge_ns: int
    tail_ns: int
    held_up: float
    imbalance: float
    overhead: float
    overheads: tuple[float, float]
    clocked_ms: float
    plain_ms: float
    quickest_ms: float
    span_ms: float

    @classmethod
    def of(cls, timeline: StageTimeline) -> "TimelineFacts":
        """The numbers of a timeline."""
        lane, stage, begin, end = (
            array.numpy() for array in (timeline.lane, timeline.stage, timeline.begin, timeline.end)
        )
        works = np.isin(lane, np.unique(lane[(stage != LOAD) & (stage != MERGE)]))
        taken = np.bincount(stage[works], weights=(end - begin)[works], minlength=len(STAGES))
        names = stages_of(timeline.request.problem.passes)
        life = max(1, len(np.unique(lane[works])) * timeline.span_ns)
        rounds = [np.maximum(a.numpy(), 1) for a in (timeline.clocked_ns, timeline.plain_ns)]
        clocked, plain = (float(np.median(took)) for took in rounds)
        ratios = rounds[0] / rounds[1]
        return cls(
            shares={name: float(taken[STAGES.index(name)]) / life for name in names},
            waits=max(0.0, 1 - float(taken.sum()) / life),
            covered=_covered(timeline),
            idle_rows=len(timeline.rows.numpy()) - len(np.unique(lane // len(timeline.lanes))),
            tail_ns=_tail_ns(lane[stage != MERGE] // len(timeline.lanes), end[stage != MERGE]),
            merge_ns=_merge_ns(stage, begin, end),
            held_up=_held_up(stage, end - begin),
            imbalance=_imbalance(timeline),
            overhead=clocked / plain,
            overheads=(float(ratios.min()), float(ratios.max())),
            clocked_ms=clocked / 1e6,
            plain_ms=plain / 1e6,
            quickest_ms=float(rounds[0].min()) / 1e6,
            span_ms=timeline.span_ns / 1e6,
        )


def _tail_ns(row: NDArray[Any], end: NDArray[np.int64]) -> int:
    """From when the first row that has bars ends until the last one does."""
    last = np.full(int(row.max(initial=0)) + 1, -1, np.int64)
    np.maximum.at(last, row, end)
    worked = last[last >= 0]
    return int(worked.max() - worked.min()) if worked.size else 0


def _merge_ns(stage: NDArray[Any], begin: NDArray[np.int64], end: NDArray[np.int64]) -> int:
    """How long parts of keys are merged."""
    merges = stage == MERGE
    return int(end[merges].max() - begin[merges].min()) if merges.any() else 0


def _covered(timeline: StageTimeline) -> float | None:
    """How much of the softmax stands beside a product of another lane; within a lane no two bars overlap."""
    row = timeline.lane.numpy() // len(timeline.lanes)
    stage, softmax = timeline.stage.numpy(), timeline.stage.numpy() == SOFTMAX
    if len(np.unique(timeline.lane.numpy()[softmax])) == len(np.unique(row[softmax])):
        return None
    # All rows one after the other on one axis.
    begin, end = (at.numpy() + row * (timeline.span_ns + 1) for at in (timeline.begin, timeline.end))
    products = np.flatnonzero(np.isin(stage, PRODUCTS))
    if not products.size:
        return 0.0
    products = products[np.argsort(begin[products])]
    first, last = begin[products], np.maximum.accumulate(end[products])
    new = np.flatnonzero(np.append(True, first[1:] > last[:-1]))
    first, last = first[new], last[np.append(new[1:], len(products)) - 1]
    ends = np.column_stack((first, last)).ravel()
    under_way = np.append(0, np.cumsum(last - first)).repeat(2)[1:-1]  # until each end
    beside = np.interp(end[softmax], ends, under_way) - np.interp(begin[softmax], ends, under_way)
    return float(beside.sum()) / max(1, int((end - begin)[softmax].sum()))


def _held_up(stage: NDArray[Any], took: NDArray[np.int64]) -> float:
    """The share of all time that is in bars far longer than others of their stage."""
    held = 0
    for one in range(len(STAGES)):
        of_stage = took[stage == one]
        if of_stage.size:
            held += int(of_stage[of_stage > HELD_UP * np.median(of_stage)].sum())
    return held / max(1, int(took.sum()))


def _imbalance(timeline: StageTimeline) -> float:
    block = timeline.block.numpy()
    took = (timeline.block_end.numpy() - timeline.block_begin.numpy())[(block != NO_PLACE).all(axis=1)]
    took = took[took > 0]
    return float(took.max() / took.min()) if took.size else 1.0
