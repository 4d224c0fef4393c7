"""A trace laid out for three lanes in lock-step, and what there is to say of a step of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np

from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.cursor import WalkTimeline
from flashscope.app.stepper.events import StepEvent
from flashscope.app.stepper.lanes import IN_A_PASS, IN_A_TILE, KernelLane, LaneKey, StandardLane, TiledLane
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.snapshots import TraceSteps
from flashscope.app.stepper.step_view import SteppedTrace
from flashscope.app.stepper.traffic import running_traffic
from flashscope.app.stepper.walk import TileWalk
from flashscope.app.words.units import ratio_text, traffic_text
from flashscope.kernels.workload.trace import LoopOrder, Trace, TraceRequest

PAIR: tuple[LaneKey, LaneKey] = ("standard", "flash2")
OTHER: Mapping[str, LoopOrder] = {"flash1": "flash2", "flash2": "flash1"}


class Passage(NamedTuple):
    """A step at which a matrix of standard leaves the chip or comes back, for the first time.

    Attributes:
        at: The step.
        letter: `S` or `P`.
        leaves: Whether it leaves.
    """

    at: int
    letter: str
    leaves: bool


@dataclass(frozen=True, eq=False)
class LockStep(SteppedTrace):
    """A recording whose tiles all have the same steps, and the lanes that go along with it.

    Attributes:
        lanes: standard, flash1 and flash2.
    """

    lanes: Mapping[LaneKey, KernelLane]

    @classmethod
    def of(cls, recording: Recording) -> "LockStep":
        """Lay out a recording's steps, and those of the other kernels over the same tiles."""
        steps = TraceSteps(recording, alike=True)
        own = TiledLane.of(recording)
        other = TiledLane.of(_in_order(recording, OTHER[recording.order]))
        by_rows = next(lane.walk for lane in (own, other) if lane.key == "flash2")
        found: dict[LaneKey, KernelLane] = {"standard": StandardLane.of(by_rows)}
        found |= {lane.key: lane for lane in sorted((own, other), key=lambda lane: lane.key)}
        return cls(recording, WalkTimeline(steps), running_traffic(recording, steps), found)

    @cached_property
    def moments(self) -> tuple[Passage, ...]:
        """When S leaves, comes back, P leaves and comes back; none where no tile runs."""
        tiles = self.recording.tiles
        begin = [1 + IN_A_PASS * tiles * done for done in range(3)]
        if not tiles:
            return ()
        leaving = Passage(begin[0] + 1, "S", True), Passage(begin[1] + 1, "P", True)
        back = Passage(begin[1], "S", False), Passage(begin[2], "P", False)
        return tuple(sorted((*leaving, *back)))

    @cached_property
    def busiest(self) -> int:
        """The most bytes that one step of any lane reads, or writes."""
        return max(lane.busiest for lane in self.lanes.values())

    @cached_property
    def most(self) -> int:
        """The bytes of the lane that moves most in all."""
        return max(lane.total for lane in self.lanes.values())

    def events(self, choice: RowChoice, alpha_below: float) -> tuple[StepEvent, ...]:
        """What is worth stopping at for the row watched, and when S and P pass through memory."""
        passing = (StepEvent(moment.at, "passes") for moment in self.moments)
        found = (*super().events(choice, alpha_below), *passing)
        return tuple(sorted(found, key=lambda event: event.at))

    def numbers(self, at: int) -> Mapping[str, str]:
        """What the lanes have moved up to a step, and how many times as much standard has as flash2."""
        moved = {key: lane.moved(at).total for key, lane in self.lanes.items()}
        known = {f"moved-{key}": traffic_text(nbytes) for key, nbytes in moved.items()}
        if moved["flash2"]:
            known["moved-ratio"] = ratio_text(moved["standard"] / moved["flash2"])
        return known

    def done(self, at: int) -> str:
        """How far flash1 and flash2 are at a step: standard walks its tiles three times meanwhile."""
        tiles = self.recording.tiles
        if not at:
            return f"Before tile 1 of {tiles}"
        whole, begun = divmod(at, IN_A_TILE)
        if begun:
            return f"With flash1 and flash2 in tile {whole + 1} of {tiles},"
        return f"With tile {whole} of {tiles} done by flash1 and flash2,"

    def sentence(self, at: int) -> str:
        """What each lane has moved up to a step, and how many times as much as the least one."""
        moved = {key: lane.moved(at).total for key, lane in self.lanes.items()}
        if not any(moved.values()):
            return f"{self.done(at).rstrip(',')} nothing has moved."
        standard, flash1, flash2 = map(traffic_text, moved.values())
        told = f"standard has moved {standard}, flash1 {flash1} and flash2 {flash2}"
        return f"{self.done(at)} {told}: {self._ratio(moved)}."

    def short_sentence(self, at: int) -> str:
        """What flash2 has moved up to a step, in which of its tiles it is, and beside it standard."""
        moved = {key: lane.moved(at).total for key, lane in self.lanes.items()}
        if not any(moved.values()):
            return self.sentence(at)
        whole, begun = divmod(at, IN_A_TILE)
        place = f"{'In' if begun else 'After'} tile {whole + bool(begun)} of {self.recording.tiles}"
        standard, flash2 = (moved[key] for key in PAIR)
        ratio = f", {ratio_text(standard / flash2)} as much" if standard and flash2 else ""
        told = f"flash2 has moved {traffic_text(flash2)}, standard {traffic_text(standard)}{ratio}"
        return f"{place} {told}, by the model."

    @staticmethod
    def _ratio(moved: Mapping[LaneKey, int]) -> str:
        more, less = sorted(PAIR, key=lambda key: -moved[key])
        if not moved[less]:
            return f"{less} nothing yet"
        if moved[more] == moved[less]:
            return "standard as much as flash2"
        return f"{more} {ratio_text(moved[more] / moved[less])} as much as {less}"

    def remark(self, at: int, memory: str) -> str:
        """Which matrix has left for memory or come back from there in the tile of a step; empty: none."""
        begun = at - (at - 1) % IN_A_TILE  # the first step of the tile
        told = (
            f"{letter} leaves for {memory}." if leaves else f"{letter} comes back from {memory}."
            for when, letter, leaves in self.moments
            if at and begun <= when <= at
        )
        return " ".join(told)


def _in_order(recording: Recording, order: LoopOrder) -> TileWalk:
    """The tiles of a recording in another order."""
    i, j = recording.tile.T
    keys = -j if recording.request.reverse else j
    by = (i, keys) if order == "flash1" else (keys, i)  # the last one outermost
    request = msgspec.structs.replace(recording.request, order=order)
    return TileWalk(request, recording.tile[np.lexsort(by)], recording.value_dim)


def beside(trace: Trace) -> TraceRequest:
    """What records the other loop order of the same tiles of the same inputs, on the CPU."""
    asked, problem = trace.request, trace.request.shown
    own = asked.backend == "cpu" and asked.problem == problem
    inputs = asked.inputs if own else (trace.q, trace.k, trace.v)
    return msgspec.structs.replace(
        asked,
        backend="cpu",
        kernel="",
        order=OTHER[asked.order],
        head=0,
        inputs=inputs,
        problem=msgspec.structs.replace(problem, dtype="float32"),
    )


def is_beside(trace: Trace, other: Trace) -> bool:
    """Whether a trace is that of the other loop order: the same tiles of the same inputs, as right."""
    asked, told = trace.request, other.request
    alike = (told.block_q, told.block_k, told.reverse) == (asked.block_q, asked.block_k, asked.reverse)
    problem = msgspec.structs.replace(told.shown, dtype=asked.problem.dtype)
    return (
        alike
        and told.order == OTHER[asked.order]
        and told.fault == asked.fault
        and problem == asked.shown
        and (other.q, other.k, other.v) == (trace.q, trace.k, trace.v)
    )


def under(trace: Trace, other: Trace) -> Recording:
    """Another trace's arrays, with the problem of the one on show: bytes are those of its dtype."""
    request = msgspec.structs.replace(other.request, problem=trace.request.shown)
    return Recording.of(msgspec.structs.replace(other, request=request))
