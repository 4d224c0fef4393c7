"""A trace and the same one with a fault, side by side: where the faulty one leaves the truth."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.rescales import Rescales, rescales, rescales_of_row
from flashscope.app.stepper.step_view import SteppedTrace
from flashscope.app.stepper.truth import JudgedRow, Truth, answer
from flashscope.app.stepper.walk import Ints
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.workload.trace import Trace, TraceRequest


class WrongTile(NamedTuple):
    """A tile after which a row's answer is beyond what passes.

    Attributes:
        t: The tile, in running order.
        row: The query row.
        judged: By how much.
    """

    t: int
    row: int
    judged: JudgedRow


@dataclass(frozen=True, eq=False)
class RowComparison:
    """One row after each of its K tiles, right and with the fault.

    Attributes:
        row: The query row.
        tiles: The tiles in running order, int (K,).
        right: How the right answer so far is judged.
        broken: How the faulty one is.
    """

    row: int
    tiles: Ints
    right: tuple[JudgedRow, ...]
    broken: tuple[JudgedRow, ...]

    @cached_property
    def first_wrong(self) -> WrongTile | None:
        """The first tile after which the faulty answer is beyond what passes; None: there is none."""
        pairs = zip(self.tiles, self.broken, strict=True)
        return next((WrongTile(int(t), self.row, one) for t, one in pairs if not one.passed), None)


@dataclass(frozen=True, eq=False)
class FaultComparison:
    """Two traces of the same inputs and tiles.

    Attributes:
        right: The trace without a fault.
        broken: The one with it.
    """

    right: SteppedTrace
    broken: SteppedTrace

    @classmethod
    def of(cls, right: SteppedTrace, broken: Trace) -> "FaultComparison":
        """A trace as it is stepped through, and the same one with a fault, which has the same steps."""
        return cls(right, SteppedTrace(Recording.of(broken), right.timeline, right.traffic))

    @cached_property
    def truth(self) -> Truth:
        """The exact answers, and what passes."""
        return Truth(self.right.recording)

    @cached_property
    def verdict(self) -> Verdict:
        """The project's own check of the faulty answer."""
        return self.truth.verdict(self.broken.recording)

    @cached_property
    def refused(self) -> NDArray[np.int64]:
        """The rows whose final answer is beyond what passes, among those compared."""
        return self.truth.refused(self.broken.recording)

    @cached_property
    def identical(self) -> bool:
        """Whether both returned the same bytes."""
        one, other = self.right.recording.trace, self.broken.recording.trace
        return one.output == other.output and one.lse == other.lse

    @cached_property
    def row(self) -> Callable[[int], RowComparison]:
        """Gives the comparison of a row, by its number."""
        return lru_cache(maxsize=512)(self._row)

    @cached_property
    def first_wrong(self) -> WrongTile | None:
        """The first tile, in running order, at which a row that is refused in the end leaves the truth."""
        right, broken = self.right.recording, self.broken.recording
        passed = np.zeros(right.blocks_q, int)
        for t in range(right.tiles):
            i = right.at(t)[0]
            passed[i] += 1
            for row in self.refused[self.refused // right.block_q == i].tolist():
                if not _same(right, broken, t, row % right.block_q):
                    judged = self.truth.judge(row, int(passed[i]), answer(broken, t, row))
                    if not judged.passed:
                        return WrongTile(t, row, judged)
        return None

    @cached_property
    def rescales(self) -> Rescales:
        """How often the old state of any row is multiplied."""
        return rescales(self.right.recording)

    def rescales_of(self, row: int) -> Rescales:
        """How often that of one row is."""
        return rescales_of_row(self.right.recording, row)

    def _row(self, row: int) -> RowComparison:
        right, broken = self.right.recording, self.broken.recording
        tiles = np.flatnonzero(right.tile[:, 0] == row // right.block_q)
        judged = [
            tuple(
                self.truth.judge(row, k, answer(recording, int(t), row)) for k, t in enumerate(tiles, start=1)
            )
            for recording in (right, broken)
        ]
        return RowComparison(row, tiles, judged[0], judged[1])


def on_cpu(trace: Trace) -> TraceRequest:
    """What computes a trace's problem in float32 on the CPU, on the same inputs and without a fault."""
    request = replace(trace.request, fault="")
    if request.backend == "cpu" and request.problem.dtype == "float32":
        return request
    return replace(
        request,
        backend="cpu",
        kernel="",
        head=0,
        problem=replace(request.shown, dtype="float32"),
        inputs=(trace.q, trace.k, trace.v),
    )


def _same(right: Recording, broken: Recording, t: int, local: int) -> bool:
    """Whether the state of a row is the same after a tile, to the bit."""
    return all(
        getattr(right, name)[t, local].tobytes() == getattr(broken, name)[t, local].tobytes()
        for name in "mlo"
    )
