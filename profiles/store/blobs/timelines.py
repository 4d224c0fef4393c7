"""Timelines from a file: every relation between their parts that the program relies on is checked."""

from collections.abc import Mapping
from typing import Any

import msgspec

from flashscope.kernels.workload.timeline import (
    MOST_BARS,
    MOST_LANES,
    MOST_REGISTERS,
    NO_PLACE,
    STAGES,
    StageTimeline,
    check_asked,
)
from flashscope.profiles.store.blobs.arrays import BYTES, INTEGERS, check_array, check_range

LONGEST_NS = 3_600 * 10**9  # of a run: an hour
MOST_BLOCK = 1 << 31


def decode_timeline(blob: bytes) -> StageTimeline:
    """A timeline as it was written, unpacked.

    Raises:
        ValueError: It is none, or its parts do not fit together; the text says which.
    """
    timeline = msgspec.msgpack.decode(blob, type=StageTimeline)
    check_asked(timeline.request)
    _check_numbers(timeline)
    for name, shape in _shapes(timeline).items():
        array = getattr(timeline, name)
        check_array(f"{name} of a timeline", array, shape, BYTES if name == "stage" else INTEGERS)
    arrays = {name: getattr(timeline, name).numpy() for name in _shapes(timeline)}
    _check_bars(timeline, arrays)
    _check_blocks(timeline, arrays)
    for name in ("clocked_ns", "plain_ns"):
        check_range(f"{name} of a timeline", arrays[name], 0, LONGEST_NS)
    return timeline


def _shapes(timeline: StageTimeline) -> dict[str, tuple[int, ...]]:
    """The shape that each array must have; of bars, blocks and rows their own first ones say how many."""
    rows, bars, blocks = (
        (*array.shape, 0)[0] for array in (timeline.rows, timeline.stage, timeline.block_lane)
    )
    return {
        "rows": (rows,),
        **dict.fromkeys(("lane", "stage", "begin", "end"), (bars,)),
        "tile": (bars, 3),
        **dict.fromkeys(("block_lane", "block_begin", "block_end"), (blocks,)),
        "block": (blocks, 2),
        **dict.fromkeys(("clocked_ns", "plain_ns"), (timeline.request.rounds,)),
    }


def _check_numbers(timeline: StageTimeline) -> None:
    """Refuse more than a timeline holds, before any of it is worked with."""
    shapes = _shapes(timeline)
    lanes = shapes["rows"][0] * len(timeline.lanes)
    if not 1 <= lanes <= MOST_LANES:
        raise ValueError(f"a timeline of {lanes} lanes")
    for name in ("stage", "block_lane"):
        if shapes[name][0] > MOST_BARS:
            raise ValueError(f"a timeline whose {name} has {shapes[name][0]} entries")
    if not 0 <= timeline.span_ns <= LONGEST_NS:
        raise ValueError(f"a timeline of {timeline.span_ns} ns")
    if not (1 <= timeline.block_q < MOST_BLOCK and 1 <= timeline.block_k < MOST_BLOCK):
        raise ValueError(f"a timeline of tiles of {timeline.block_q} x {timeline.block_k}")
    if not 1 <= timeline.packed <= timeline.request.problem.heads:
        raise ValueError(f"a timeline of {timeline.packed} heads in one")
    if not all(1 <= one <= MOST_REGISTERS for one in timeline.registers or ()):
        raise ValueError(f"a timeline of {timeline.registers} registers a thread")


def _check_bars(timeline: StageTimeline, arrays: Mapping[str, Any]) -> None:
    """Refuse bars of no lane, stage or tile that there is, and clocks that go back."""
    lanes = len(arrays["rows"]) * len(timeline.lanes)
    check_range("lane of a timeline", arrays["lane"], 0, lanes - 1)
    check_range("stage of a timeline", arrays["stage"], 0, len(STAGES) - 1)
    problem = timeline.request.problem
    rows = -(-problem.seqlen_q * timeline.packed // timeline.block_q)
    columns = -(-problem.seqlen_k // timeline.block_k)
    for name, place, most in (("head", 0, problem.batch * problem.heads), ("i", 1, rows), ("j", 2, columns)):
        check_range(f"{name} of a tile of a timeline", arrays["tile"][:, place], NO_PLACE, most - 1)
    begin, end, lane = arrays["begin"], arrays["end"], arrays["lane"]
    check_range("begin of a timeline", begin, 0, timeline.span_ns)
    check_range("end of a timeline", end, 0, timeline.span_ns)
    follows = (lane[1:] > lane[:-1]) | ((lane[1:] == lane[:-1]) & (begin[1:] >= end[:-1]))
    if (end < begin).any() or not follows.all():
        raise ValueError("a timeline whose bars are not in the order of their lanes and clocks")


def _check_blocks(timeline: StageTimeline, arrays: Mapping[str, Any]) -> None:
    """Refuse blocks of no lane or head, and those that end before they begin."""
    lanes = len(arrays["rows"]) * len(timeline.lanes)
    problem = timeline.request.problem
    begin, end = arrays["block_begin"], arrays["block_end"]
    check_range("block_lane of a timeline", arrays["block_lane"], 0, lanes - 1)
    check_range(
        "head of a block of a timeline", arrays["block"][:, 0], NO_PLACE, problem.batch * problem.heads - 1
    )
    check_range("block of a timeline", arrays["block"][:, 1], NO_PLACE, MOST_BLOCK - 1)
    check_range("block_begin of a timeline", begin, 0, timeline.span_ns)
    check_range("block_end of a timeline", end, 0, timeline.span_ns)
    if (end < begin).any():
        raise ValueError("a timeline with a block that ends before it begins")
