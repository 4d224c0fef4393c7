"""Pairs without two points that are done: what became of them is a result of its own."""

from flashscope.profiles.results.compare.evidence import Couple
from flashscope.profiles.results.compare.model import Pair
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.wire.events import PointStatus

WORDS: dict[PointStatus, str] = {
    "pending": "not measured",
    "running": "still running",
    "oom": "out of memory",
    "will-not-fit": "not launched as it will not fit",
    "timeout": "over its deadline",
}
"""Statuses that are no words of their own."""

AT_FAULT: frozenset[PointStatus] = frozenset(
    {
        "wrong",
        "oom",
        "will-not-fit",
        "unsupported",
        "timeout",
        "failed",
    }
)
"""What a point that is done now was mended from; of the others nobody knows."""


def state_pair(couple: Couple) -> Pair:
    """What a pair says of which one point or both are not done."""
    base, other = couple.rows
    return Pair(*couple.sides, better=_better(base, other), reason=_told(base, other))


def _better(base: PointRow, other: PointRow) -> bool | None:
    if base.done:
        return False
    return True if other.done and base.status in AT_FAULT else None


def _told(base: PointRow, other: PointRow) -> str:
    was, now = words(base.status), words(other.status)
    if base.status == other.status:
        return f"{was} in both"
    cause = other.reason or base.reason
    return f"was {was}, now {now}" + (f": {cause}" if cause else "")


def words(status: PointStatus) -> str:
    """A status as part of a sentence."""
    return WORDS.get(status, status)
