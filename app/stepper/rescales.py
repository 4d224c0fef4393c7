"""How often the old l and O are multiplied by alpha: at every tile, where m rises, or with headroom."""

from typing import NamedTuple

import numpy as np

from flashscope.app.stepper.recording import RecordedFloats, Recording
from flashscope.kernels.workload.trace import HEADROOM


class Rescales(NamedTuple):
    """Tiles that meet a state which has a key already, each counted for each row.

    Attributes:
        always: All of them: what is multiplied where no one looks at alpha.
        raised: Those that raise the running maximum: what alpha < 1 needs.
        lazy: Those that raise it above m by more than 8 ln 2, where m then follows: as flash3 does it.
    """

    always: int
    raised: int
    lazy: int

    def __add__(self, other: object) -> "Rescales":
        if not isinstance(other, Rescales):
            return NotImplemented
        return Rescales(*(one + two for one, two in zip(self, other, strict=True)))


def rescales_of_row(right: Recording, row: int) -> Rescales:
    """Count for one row of a trace without a fault."""
    i, local = divmod(row, right.block_q)
    return _count(right.s[right.tile[:, 0] == i, local : local + 1])


def rescales(right: Recording) -> Rescales:
    """Count for all rows."""
    counts = (
        _count(right.s[right.tile[:, 0] == i, : right.rows(i)])  # padded rows hold no state
        for i in range(right.blocks_q)
    )
    return sum(counts, Rescales(0, 0, 0))


def _count(scores: RecordedFloats) -> Rescales:
    """Count over tiles of scores (K, rows, Bc), in the order they ran."""
    total = Rescales(0, 0, 0)
    if not scores.shape[1]:
        return total
    m = np.full(scores.shape[1], -np.inf)
    lazy = m.copy()
    for tops in scores.max(axis=2, initial=-np.inf).astype(np.float64):
        seen = np.isfinite(m)
        far = seen & (tops > lazy + HEADROOM)
        total += Rescales(int(seen.sum()), int((seen & (tops > m)).sum()), int(far.sum()))
        m = np.maximum(m, tops)
        lazy = np.where(far | ~seen, tops, lazy)
    return total
