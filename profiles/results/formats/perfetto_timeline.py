"""Timelines as traces for ui.perfetto.dev: a track a lane, a slice a block, and in it one a stage.

Format: as `profiles.results.formats.perfetto` has it. Times are in µs since the run began.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from flashscope.kernels.workload.timeline import NO_PLACE, STAGES, StageTimeline, outer_is_keys
from flashscope.profiles.plan.problem_words import place_words
from flashscope.profiles.results.model.timeline_facts import TimelineFacts

NS_IN_US = 1e3
_encode = msgspec.json.Encoder().encode  # of a million slices


def timelines_to_perfetto(timelines: Sequence[StageTimeline]) -> bytes:
    """One JSON document with a process for each timeline, all from the same moment on."""
    slices = (one for process, timeline in enumerate(timelines, 1) for one in slices_of(timeline, process))
    told = _encode({f"{n} {one.request.kernel}": _about(one) for n, one in enumerate(timelines, 1)})
    return b'{"displayTimeUnit":"ns","otherData":%b,"traceEvents":[\n%b\n]}\n' % (
        told,
        b",\n".join(map(_encode, slices)),
    )


def slices_of(timeline: StageTimeline, process: int) -> Iterator[dict[str, Any]]:
    """The names of its tracks, then its blocks, then its bars."""
    request = timeline.request
    name = f"{request.kernel} with clocks, {place_words(request.problem)}, on {timeline.device}"
    yield {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": name}}
    for row, number in enumerate(timeline.rows.numpy().tolist()):
        for place, lane in enumerate(timeline.lanes):
            told = {"name": f"{timeline.row_kind} {number}, {lane}"}
            track = row * len(timeline.lanes) + place
            yield {"ph": "M", "name": "thread_name", "pid": process, "tid": track, "args": told}
    yield from _blocks(timeline, process)
    yield from _bars(timeline, process)


def _about(timeline: StageTimeline) -> str:
    """What recorded it, and what its clocks cost."""
    facts, registers = TimelineFacts.of(timeline), ""
    if timeline.registers:
        registers = "; {} registers a thread with clocks, {} without".format(*timeline.registers)
    return (
        f"{timeline.source}; build {timeline.build}; {facts.clocked_ms:.6g} ms with clocks beside "
        f"{facts.plain_ms:.6g} ms without, medians of {timeline.request.rounds} in turns"
        f"{registers}"
    )


def _blocks(timeline: StageTimeline, process: int) -> Iterator[dict[str, Any]]:
    """A slice for each block, unless it belongs to no head."""
    letter = "j" if outer_is_keys(timeline.request) else "i"
    columns = (timeline.block_lane, timeline.block, timeline.block_begin, timeline.block_end)
    for lane, (head, block), begin, end in zip(*(one.numpy().tolist() for one in columns), strict=True):
        if NO_PLACE not in (head, block):
            name, known = f"head {head}, block {letter} {block}", {"head": head, letter: block}
            place = _when(process, lane, begin, end)
            yield {"ph": "X", "name": name, "cat": "block", **place, "args": known}


def _bars(timeline: StageTimeline, process: int) -> Iterator[dict[str, Any]]:
    columns = (timeline.lane, timeline.stage, timeline.tile, timeline.begin, timeline.end)
    for lane, stage, tile, begin, end in zip(*(one.numpy().tolist() for one in columns), strict=True):
        known = {name: n for name, n in zip(("head", "i", "j"), tile, strict=True) if n != NO_PLACE}
        place = _when(process, lane, begin, end)
        yield {"ph": "X", "name": STAGES[stage], "cat": "stage", **place, "args": known}


def _when(process: int, lane: int, begin: int, end: int) -> dict[str, Any]:
    return {"pid": process, "tid": lane, "ts": begin / NS_IN_US, "dur": (end - begin) / NS_IN_US}
