"""What a comparison of sessions says: plain values, for a table, a plot, a page and a document."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.wire.measurement import Figure

PairVerdict = Literal["faster", "slower", "more", "less", "same", "equal", "inconclusive"]
"""`faster` and `slower` for times and rates, `more` and `less` for anything else, `same` within the
threshold, `equal` for two exact figures, `inconclusive` where the evidence holds none of these."""

Reach = Literal["every", "kernels", "none"]
"""Which changes a difference may explain: that of every point, of some kernels alone, or none."""


@dataclass(frozen=True)
class Difference:
    """One circumstance that differs between two sessions.

    Attributes:
        key: Its name in a document: `driver`, `package torch`, `source flash2`, ...
        title: Its name where people read it.
        base: Its value in the baseline; `unknown` where it was not recorded.
        other: The same in the other session.
        reach: Which changes it may explain.
        kernels: The kernels whose changes it may explain, where it reaches some alone; else empty.
        sentence: The same in plain words.
        names: The two values where people read them: of a value that is a mere mark, what it is of.
    """

    key: str
    title: str
    base: str
    other: str
    reach: Reach
    kernels: tuple[str, ...]
    sentence: str
    names: tuple[str, str]


@dataclass(frozen=True, eq=False)
class Pair:
    """One point in two sessions: same kernel, same problem, same cache state, in turns in both or in neither.

    Attributes:
        base: The baseline's point.
        other: The other session's.
        base_figure: The quantity's figure of the baseline's point, whatever became of it; None: it has none.
        other_figure: The same of the other's.
        ratio: The other's value over the baseline's; None: `reason` says why there is none.
        ratio_low: Lower end of the ratio's 95% interval, None where there is no interval.
        ratio_high: Upper end of the same.
        verdict: None: there is nothing to judge, `reason` says why.
        better: True: an improvement, and so is a point that is done now and was not. False: it got worse.
            None: neither can be said.
        threshold: The least change that counts here, as a share: 0.01 is 1%. None without samples.
        detectable: The least change that would have been found 95 times of 100, as a share; None where none
            would, or where figures are exact.
        p: Of the rank test, or with several runs a side of the t-test of their medians, corrected over the
            whole comparison (Holm); None without it.
        cycles: The ratio in clock cycles instead of time, None where the clock is not known or plays no part.
        by_clock: Whether the clock alone makes the change: in cycles it vanishes or turns round.
        reason: What stands behind the verdict, or why there is none; empty where the figures say it all.
    """

    base: PointRow
    other: PointRow
    base_figure: Figure | None = None
    other_figure: Figure | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    verdict: PairVerdict | None = None
    better: bool | None = None
    threshold: float | None = None
    detectable: float | None = None
    p: float | None = None
    cycles: float | None = None
    by_clock: bool = False
    reason: str = ""

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self.base.kernel

    @property
    def change(self) -> float | None:
        """How far the ratio is from 1, as a share, the same both ways: 1.25 and 0.8 are 0.25."""
        return None if not self.ratio else max(self.ratio, 1 / self.ratio) - 1

    @property
    def broke(self) -> bool:
        """Whether it was done in the baseline and is not in the other."""
        return self.base.done and not self.other.done

    @property
    def unsure(self) -> bool:
        """Whether both are done and nothing sure is known all the same."""
        return self.base.done and self.other.done and self.verdict in {None, "inconclusive"}

    def decided(self, share: float) -> bool:
        """Whether it got worse by this share or would have been seen to, had it done so.

        What is equal, better or worse is decided, and what is the same by no more than the share. Anything
        else is decided where a change of the share would have been found.
        """
        if not (self.base.done and self.other.done) or self.better is not None or self.verdict == "equal":
            return True
        if self.verdict == "same" and self.ratio_low and self.ratio_high:
            return max(1 / self.ratio_low, self.ratio_high) - 1 <= share or self._would_be_found(share)
        return self._would_be_found(share)

    def _would_be_found(self, share: float) -> bool:
        return self.detectable is not None and self.detectable <= share

    def worse_by(self, share: float) -> bool:
        """Whether it got worse by at least this share; what was 0 did so by any, and so did what broke."""
        if self.better is not False:
            return False
        return self.change is None or self.change > share or math.isclose(1 + self.change, 1 + share)


@dataclass(frozen=True, eq=False)
class Lone:
    """A point that has no partner.

    Attributes:
        row: The point.
        nearest: The point of the other side that is most like it; None: it has none of this kernel.
        reason: What differs between the two, in words.
    """

    row: PointRow
    nearest: PointRow | None
    reason: str


@dataclass(frozen=True, eq=False)
class Contrast:
    """The baseline and one other session.

    Attributes:
        base: The baseline; of several runs the first.
        other: The other session; of several runs the first.
        base_runs: The runs of the baseline.
        other_runs: The runs of the other side.
        differences: What differs around the points, those first that may explain most.
        pairs: The points that both have, in the baseline's order.
        base_only: Those of the baseline that the other has not.
        other_only: Those that the other alone has.
        summary: All of it in one sentence.
    """

    base: Session
    other: Session
    base_runs: tuple[Session, ...]
    other_runs: tuple[Session, ...]
    differences: tuple[Difference, ...]
    pairs: tuple[Pair, ...]
    base_only: tuple[Lone, ...]
    other_only: tuple[Lone, ...]
    summary: str

    @cached_property
    def missing(self) -> tuple[Lone, ...]:
        """The points that were done in the baseline and are not in the other session at all."""
        return tuple(lone for lone in self.base_only if lone.row.done)

    def regressions(self, share: float) -> tuple[Pair, ...]:
        """The pairs that got worse by at least this share, and those that broke."""
        return tuple(pair for pair in self.pairs if pair.worse_by(share))


@dataclass(frozen=True, eq=False)
class Comparison:
    """A baseline and others, by one quantity.

    Attributes:
        quantity: What is compared.
        base: The baseline.
        contrasts: The baseline beside each of the others, in the order given.
        caution: Why no pair's rounds can call it changed, and what to do; empty where they can.
    """

    quantity: Quantity
    base: Session
    contrasts: tuple[Contrast, ...]
    caution: str
