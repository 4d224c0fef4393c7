"""What a stall profile says in numbers: shares of reasons, of lines and of instructions, and what changed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from flashscope.kernels.workload.stalls import ISSUED, NO_LINE, StallProfile

StallCounts = Counter[str]
"""Samples by reason."""


@dataclass(frozen=True)
class StallFacts:
    """Counts of a profile.

    Attributes:
        total: All samples.
        reasons: Of each reason that has any, most first.
        lines: Of each line of the source that has any.
        instructions: Of each instruction, in their order.
        issued: Share of samples whose warp issued, 0 to 1.
        idle: Share of samples in cycles in which that quarter of the SM issued nothing.
        plain_ms: Median of launches without a profiler.
        sampled: What the sampled launch took over the same without samples, both under the profiler.
    """

    total: int
    reasons: StallCounts
    lines: Mapping[int, StallCounts] = field(repr=False)
    instructions: Sequence[StallCounts] = field(repr=False)
    issued: float
    idle: float
    plain_ms: float
    sampled: float

    @classmethod
    def of(cls, profile: StallProfile) -> "StallFacts":
        """The counts of a profile."""
        samples = profile.samples.numpy()
        total = int(samples.sum())
        instructions = [_counted(profile.reasons, row) for row in samples]
        lines: dict[int, StallCounts] = {}
        for line, counted in zip(profile.line.numpy().tolist(), instructions, strict=True):
            if line != NO_LINE and counted:
                lines.setdefault(line, Counter()).update(counted)
        reasons = _counted(profile.reasons, samples.sum(axis=0))
        plain = profile.plain_ns.numpy()
        return cls(
            total=total,
            reasons=Counter(dict(reasons.most_common())),
            lines=lines,
            instructions=instructions,
            issued=reasons[ISSUED] / max(1, total),
            idle=int(profile.idle.numpy().sum()) / max(1, total),
            plain_ms=float(np.median(plain)) / 1e6 if plain.size else 0.0,
            sampled=profile.sampled_ns / max(1, profile.profiled_ns),
        )

    @property
    def most(self) -> str:
        """The reason that holds most warps up; empty: none does."""
        held = [(count, reason) for reason, count in self.reasons.items() if reason != ISSUED]
        return max(held)[1] if held else ""

    def share(self, reason: str) -> float:
        """Of all samples, 0 to 1."""
        return self.reasons[reason] / max(1, self.total)

    def line_of(self, reason: str) -> tuple[int, float] | None:
        """The line that has most samples of a reason, and its share of these; None: none has any."""
        found = max(((counted[reason], -line) for line, counted in self.lines.items()), default=(0, 0))
        return (-found[1], found[0] / self.reasons[reason]) if found[0] else None


class StallChange(NamedTuple):
    """What became of a reason from one profile to another: its share of the samples, 0 to 1."""

    reason: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """Of the share."""
        return self.after - self.before


def changes(before: StallFacts, after: StallFacts) -> list[StallChange]:
    """Every reason of either, the largest changes first."""
    names = dict.fromkeys((*before.reasons, *after.reasons))
    found = [StallChange(name, before.share(name), after.share(name)) for name in names]
    return sorted(found, key=lambda one: (-abs(one.change), one.reason))


def _counted(reasons: Sequence[str], row: "np.ndarray[tuple[int], np.dtype[np.int32]]") -> StallCounts:
    return Counter({reasons[at]: int(row[at]) for at in np.flatnonzero(row).tolist()})
