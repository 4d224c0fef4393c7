"""What one sweep will do: kernels x problems x measuring protocol."""

import math
import random
from collections.abc import Sequence
from itertools import chain, count
from typing import Annotated

import msgspec

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.own.spec import admit
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.plan.choice import Choice


class Protocol(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How each point is measured. A field with a Choice is one that users make.

    Attributes:
        warmup: Unrecorded runs before the first sample, fewer when they alone use up the time cap.
        repeats: Samples to take.
        time_cap_s: Stop sampling a point once its samples have taken this long, but not before 3.
        cold: Flush the last-level cache before every sample. Otherwise (warm) each sample follows a run of
            its own kernel: the sample before it or, where kernels take turns, an unrecorded run.
        verify: Compare with the float64 oracle before timing.
        deadline_s: A point that has not been checked (compiled, verified, its footprint read) by then is
            killed and marked `timeout`, and so is one that has not been sampled within as long again. k
            kernels that take turns have k times as long together; if it passes, each is sampled alone.
        fit_margin: Share added to the predicted bytes before they are compared with what is free.
        sustain_s: When all have their samples, run each kernel back to back for this long; 0: not at all.
        counters: When all have their samples, run each kernel a few times more while counters are read.
        shuffle: Run the groups (see Plan.groups) in an order drawn from the plan's seed, not as listed.
        interleave: Sample the kernels of one problem in turns; otherwise one after the other.
        drift_check: Measure the first group again at the end; a plan of one group has no use for it.
    """

    warmup: int = 3
    repeats: Annotated[
        int,
        Choice(
            label="repeats",
            help="Samples of each point; 10 or more for quartiles worth drawing",
            flag="--repeats",
            metavar="R",
            low=1,
        ),
    ] = 10
    time_cap_s: Annotated[
        float,
        Choice(
            label="cap / point",
            help="Stop sampling a point after this long, but not before 3 samples",
            flag="--time-cap",
            metavar="S",
            low=0.001,
            high=1_000_000,
            unit="s",
        ),
    ] = 10.0
    cold: Annotated[
        bool,
        Choice(
            label="cache",
            help="Cold flushes the last-level cache before every sample",
            flag="--cold/--warm",
            words=("cold", "warm"),
        ),
    ] = True
    sustain_s: Annotated[
        float,
        Choice(
            label="sustained",
            help="Then run each kernel back to back for so long, for sustained figures; 0 leaves that out",
            flag="--sustain",
            metavar="S",
            high=600,
            unit="s",
        ),
    ] = 0.0
    counters: Annotated[
        bool,
        Choice(
            label="counters",
            help="After the timing, read what each kernel moves to and from DRAM and L2 by hardware counters",
            flag="--counters/--no-counters",
        ),
    ] = False
    deadline_s: float = 120.0
    fit_margin: float = 0.05
    verify: Annotated[
        bool,
        Choice(
            label="verify against float64",
            help="Compare every output with the float64 oracle before timing it",
            flag="--verify/--no-verify",
        ),
    ] = True
    interleave: Annotated[
        bool,
        Choice(
            label="in turns",
            help="Sample the kernels of one N in turns, A B A B; a drift meets all",
            flag="--interleave/--no-interleave",
        ),
    ] = True
    shuffle: Annotated[
        bool,
        Choice(
            label="shuffle N",
            help="Measure the sequence lengths in an order drawn from the seed",
            flag="--shuffle/--no-shuffle",
        ),
    ] = False
    drift_check: Annotated[
        bool,
        Choice(
            label="drift check",
            help="Measure what came first again at the end",
            flag="--drift-check/--no-drift-check",
        ),
    ] = True

    def __post_init__(self) -> None:
        if self.warmup < 0 or self.repeats < 1:
            raise ValueError(f"need repeats >= 1 and warmup >= 0, not {self.repeats} and {self.warmup}")
        if self.time_cap_s <= 0 or self.deadline_s <= 0:
            raise ValueError("the time cap and the deadline must be longer than 0 s")
        if not 0 <= self.sustain_s < math.inf:
            raise ValueError(f"runs back to back last from 0 s, not {self.sustain_s}")


class Point(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One cell of a plan: one kernel on one problem. `index` counts in running order from 0."""

    index: int
    kernel: str
    problem: Problem


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Kernels x problems x protocol, on one backend.

    Wherever a plan is, in the process that makes it or in one that reads it from a file, `find_kernel` finds
    its kernels, those of the user's own too; none of their code is run by that.

    Attributes:
        backend: Where it runs.
        kernels: Names of kernels, each once; none: the session has no points, only what is kept with it.
        problems: What they compute; none where there are no kernels.
        protocol: How it is measured.
        seed: Of random orders.
        own: What those of the kernels declare that are of the user's own; their marks follow this order.
    """

    backend: Backend
    kernels: tuple[str, ...]
    problems: tuple[Problem, ...]
    protocol: Protocol = Protocol()
    seed: int = 0
    own: tuple[OwnKernel, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.kernels) != bool(self.problems):
            raise ValueError("a plan with kernels needs a problem, and one with problems a kernel")
        if len(set(self.kernels)) < len(self.kernels):
            raise ValueError(f"a kernel is listed twice: {', '.join(self.kernels)}")
        if self.seed < 0:
            raise ValueError(f"a plan's seed is at least 0, not {self.seed}")
        names = [one.name for one in self.own]
        if len(set(names)) < len(names):
            raise ValueError(f"two kernels of one's own have one name: {', '.join(names)}")
        admit(self.own)

    def groups(self) -> tuple[tuple[Point, ...], ...]:
        """The points in running order, those that take turns together: a problem's kernels, or each alone."""
        if self.protocol.interleave:
            cells = [[(kernel, problem) for kernel in self.kernels] for problem in self.problems]
        else:
            cells = [[(kernel, problem)] for problem in self.problems for kernel in self.kernels]
        if self.protocol.shuffle:
            random.Random(self.seed).shuffle(cells)  # noqa: S311 - an order, not a secret
        if self.protocol.drift_check and len(cells) > 1:
            cells.append(cells[0])
        index = count()
        return tuple(
            tuple(Point(index=next(index), kernel=k, problem=p) for k, p in group) for group in cells
        )

    def points(self) -> tuple[Point, ...]:
        """The points in running order, those of the drift check last."""
        return tuple(chain.from_iterable(self.groups()))

    def again(self, indices: Sequence[int], first: int) -> tuple[Point, ...]:
        """Points of the plan as points to be measured once more, numbered from `first`.

        Raises:
            IndexError: The plan has no such point.
        """
        points, numbered = self.points() if indices else (), enumerate(indices, first)
        return tuple(msgspec.structs.replace(points[index], index=number) for number, index in numbered)

    def protocol_of(self, point: Point) -> Protocol:
        """How a point is measured: what is repeated is to have samples, and nothing after these."""
        again = point.index >= self.cells
        return (
            msgspec.structs.replace(self.protocol, sustain_s=0.0, counters=False) if again else self.protocol
        )

    @property
    def cells(self) -> int:
        """Kernels x problems: how many points there are without those of the drift check."""
        return len(self.kernels) * len(self.problems)
