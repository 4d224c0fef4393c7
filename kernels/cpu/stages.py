"""flash1 and flash2 once more, built from the same source with a clock between their stages.

The modules are executed a second time and only the names through which their loops call the stages are
bound to clocked ones: what is timed stays as it is, and what is watched computes the same to the bit.

NumPy reads Q, K and V inside its products, so *load* is what goes before one: finding the next tile, cutting
its views and, at the begin of flash2's block, clearing its state. flash1 takes O back at every visit, which
is a load, too, and writes it normalised, which is a store; flash2 stores a block once.
"""

from collections.abc import Callable
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.launch import CpuLaunch
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from flashscope.kernels.workload.timeline import LOAD, NO_PLACE, PV, QK, SOFTMAX, STORE

Nanoseconds = Callable[[], int]
Function = Callable[..., Any]
Names = dict[str, Any]  # of a module
Mark = tuple[int, int, int, int, int]  # ns, stage, head, i, j
TILES = "flashscope.kernels.cpu.tiles"
SOURCE = "recorded by a clock between the stages of the NumPy kernel's own source"


class Bars(NamedTuple):
    """What one run did when, on its one thread; B bars in the order in which they ran.

    Attributes:
        stage: uint8 (B,): places in `kernels.workload.timeline.STAGES`.
        tile: int32 (B, 3): head, i and j, -1 where there is no one of them.
        begin: int64 (B,): ns since the run began.
        end: int64 (B,): when it ended.
        span_ns: How long the run took.
    """

    stage: npt.NDArray[np.uint8]
    tile: npt.NDArray[np.int32]
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    span_ns: int


class ClockedLaunch:
    """A kernel with clocks, bound to its arrays; it allocates outputs and workspace of its own.

    Args:
        spec: The kernel, flash1 or flash2.
        problem: What is computed.
        inputs: Q, K and V, float32.
        clock: Nanoseconds that never go back.

    Attributes:
        launch: Runs it, and has what it computed.
        block_q: Rows of a tile, Br.
        block_k: Columns of a tile, Bc.

    Raises:
        UnsupportedError: The kernel has no such stages, or the problem has lengths or pages.
    """

    def __init__(self, spec: KernelSpec, problem: Problem, inputs: Inputs, clock: Nanoseconds) -> None:
        check_clocked(spec, problem)
        self._clock, self._marks = clock, _Marks(clock)
        module = again(spec.implementation["cpu"])
        vars(module).update(CLOCKED[spec.name](vars(module), vars(again(TILES)), self._marks))
        self.launch: CpuLaunch = module.prepare(spec, problem, inputs)
        self.block_q, self.block_k = self.launch.workspace["S tile"].shape
        self._marks.block_q, self._marks.block_k = self.block_q, self.block_k

    def run(self) -> Bars:
        """Compute O and LSE once; what ran when."""
        marks = self._marks
        marks.forget()
        begun = self._clock()
        marks.begin(LOAD)
        self.launch.run()
        return _bars(marks.taken, begun, self._clock())


def check_clocked(spec: KernelSpec, problem: Problem) -> None:
    """Refuse what is not built with clocks.

    Raises:
        UnsupportedError: The text says what is.
    """
    if spec.name not in CLOCKED:
        raise UnsupportedError(f"{spec.name} has no build with clocks: choose {' or '.join(CLOCKED)}.")
    if not problem.even or problem.passes != "forward":
        raise UnsupportedError(
            "On a CPU a timeline is of a forward pass whose sequences fill their arrays: leave lengths, page "
            "size and backward out."
        )


class _Marks:
    """The moments at which a stage began, each with the stage and the tile that it worked on."""

    def __init__(self, clock: Nanoseconds) -> None:
        self._clock = clock
        self.block_q = self.block_k = 1
        self.taken: list[Mark] = []
        self._head = self._i = self._j = NO_PLACE

    def forget(self) -> None:
        """Forget what was marked."""
        self.taken = []
        self._head = self._i = self._j = NO_PLACE

    def begin(self, stage: int) -> None:
        """Another stage begins now, and the one before it has ended."""
        self.taken.append((self._clock(), stage, self._head, self._i, self._j))

    def around(self, function: Function, before: int | None, after: int | None) -> Function:
        """The function, with a stage that begins before it and one that begins after it."""

        def marked(*arguments: Any) -> None:
            if before is not None:
                self.begin(before)
            function(*arguments)
            if after is not None:
                self.begin(after)

        return marked

    def tile(self, scores: Function, after: int) -> Function:
        """The product of Q and K, which says which tile it is of, and the stage after it."""

        def marked(
            q: Any, k: Any, s: Any, problem: Problem, area: tuple[slice, slice], *, bias: float
        ) -> None:
            self._i, self._j = area[0].start // self.block_q, area[1].start // self.block_k
            self.begin(QK)
            scores(q, k, s, problem, area, bias=bias)
            self.begin(after)

        return marked

    def part(self, function: Function) -> Function:
        """What computes a head, or one block of its query rows."""

        def marked(launch: CpuLaunch, head: tuple[int, ...], *rows: slice) -> None:
            self._head = head[0] * launch.problem.heads + head[1]
            self._i, self._j = rows[0].start // self.block_q if rows else NO_PLACE, NO_PLACE
            self.begin(LOAD)
            function(launch, head, *rows)

        return marked

    def stored(self, function: Function, *, heads: bool) -> Function:
        """What is stored of a block of query rows that is done; or of all heads together."""

        def marked(*arguments: Any) -> None:
            self._j = NO_PLACE
            if heads:
                self._head = self._i = NO_PLACE
            self.begin(STORE)
            function(*arguments)

        return marked


def again(name: str) -> ModuleType:
    """A module executed once more, beside the one that everybody imports."""
    found = find_spec(name)
    if found is None or found.loader is None:
        raise UnsupportedError(f"The source of {name} is not to be found.")
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def _clocked_flash1(kernel: Names, tiles: Names, marks: _Marks) -> Names:
    """O is taken back and stored at each visit of a tile."""
    tiles["online_softmax"] = marks.around(tiles["online_softmax"], None, PV)
    return {
        "scores": marks.tile(kernel["scores"], LOAD),
        "absorb": marks.around(tiles["absorb"], SOFTMAX, None),
        "normalise": marks.around(kernel["normalise"], STORE, LOAD),
        "log_sum_exp": marks.stored(kernel["log_sum_exp"], heads=True),
        "_head": marks.part(kernel["_head"]),
    }


def _clocked_flash2(kernel: Names, tiles: Names, marks: _Marks) -> Names:
    """A block of query rows is stored once."""
    tiles["online_softmax"] = marks.around(tiles["online_softmax"], None, PV)
    return {
        "scores": marks.tile(kernel["scores"], SOFTMAX),
        "absorb": marks.around(tiles["absorb"], None, LOAD),
        "normalise": marks.stored(kernel["normalise"], heads=False),
        "log_sum_exp": marks.around(kernel["log_sum_exp"], None, LOAD),
        "_query_block": marks.part(kernel["_query_block"]),
    }


CLOCKED: dict[str, Callable[[Names, Names, _Marks], Names]] = {
    "flash1": _clocked_flash1,
    "flash2": _clocked_flash2,
}


def _bars(marks: list[Mark], begun: int, ended: int) -> Bars:
    """The stages between the marks.

    A load belongs to the tile that comes after it. One that no tile comes after is a part of the store that
    does, and at the end of a run nothing: the thread waits.
    """
    kept: list[Mark] = []
    follows = [*marks[1:], (ended, NO_PLACE, NO_PLACE, NO_PLACE, NO_PLACE)]
    begin: int | None = None
    for (t, stage, *place), (_t, next_stage, *next_place) in zip(marks, follows, strict=True):
        begin = t if begin is None else begin
        if stage == LOAD and next_stage in {LOAD, STORE}:
            continue  # what comes next has begun already
        head, i, j = next_place if stage == LOAD else place
        kept.append((begin, stage, head, i, j))
        begin = None
    told = np.array([*kept, follows[-1]], np.int64)
    count = len(kept) - int(bool(kept) and kept[-1][1] == LOAD)
    times, stages, tiles = told[:, 0] - begun, told[:count, 1].astype(np.uint8), told[:count, 2:]
    return Bars(stages, tiles.astype(np.int32), times[:count], times[1 : count + 1], ended - begun)
