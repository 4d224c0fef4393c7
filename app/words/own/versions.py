"""A version of a kernel that is watched, in a line."""

from collections.abc import Sequence

from flashscope.app.words.figures import NOTHING
from flashscope.app.words.units import ms_between_text, ms_text, ratio_text, seqlen_text
from flashscope.profiles.results.statistics.bootstrap import Interval
from flashscope.profiles.results.statistics.stats import Quartiles
from flashscope.profiles.watching.versions import CellChange, PeerRatio, Version, VersionCell

RATIOS = "N× NAME: so many times as fast as NAME, both in turns; in brackets 95% of its rounds' resamples"
HEADINGS = ("N", "older", "newer", "newer is", "95% interval", "measured")
COMMIT_DIGITS = 8


def version_lines(version: Version) -> list[str]:
    """What is known of a version: one line, and one a problem where it was measured on several."""
    head = [f"v{version.number}", version.saved_at[11:19], version.verdict]
    ended = [_reason(version)] if version.reason else []
    if len(version.cells) > 1:
        cells = [
            f"  N = {seqlen_text(one.problem.seqlen)}: {', '.join(cell_parts(one))}" for one in version.cells
        ]
        return [", ".join((*head, *ended, *commit_parts(version))), *cells]
    parts = [part for one in version.cells for part in cell_parts(one)]
    return [", ".join((*head, *parts, *ended, *commit_parts(version)))]


def cell_parts(cell: VersionCell) -> list[str]:
    """A problem's times, ratios and the gravest doubt, as far as there are any."""
    times = [] if cell.times is None or cell.status != "done" else [times_text(cell.times)]
    return [*times, *map(ratio_words, cell.ratios), *_doubts(cell)]


def doubts_of(version: Version) -> list[str]:
    """The gravest doubt of each problem that has any."""
    return [told for cell in version.cells for told in _doubts(cell)]


def _doubts(cell: VersionCell) -> list[str]:
    doubted = cell.trust == "doubtful" and cell.status == "done"
    return [f"doubtful: {reason}" for reason in cell.doubts[:1] if doubted]


def times_text(times: Quartiles) -> str:
    """A median with its quartiles."""
    return ms_between_text(times.median, times.q1, times.q3)


def ratio_words(ratio: PeerRatio) -> str:
    """`1.21× flash2 (1.15 to 1.30)`."""
    return f"{ratio_text(ratio.ratio)} {ratio.to}{_interval(ratio.interval)}"


def commit_parts(version: Version) -> list[str]:
    """The commit around the file, and whether it is other than in it; nothing where none is known."""
    if not version.commit:
        return []
    return [f"commit {version.commit[:COMMIT_DIGITS]}{' and changes' if version.differs else ''}"]


def change_texts(change: CellChange) -> tuple[str, ...]:
    """What stands under HEADINGS."""
    interval = change.interval
    return (
        seqlen_text(change.problem.seqlen),
        *(NOTHING if side is None else ms_text(side.median) for side in (change.older, change.newer)),
        NOTHING if change.ratio is None else f"{ratio_text(change.ratio)} as fast",
        f"{interval.low:.3f} .. {interval.high:.3f}" if interval else NOTHING,
        "in turns" if change.in_turns else "each at its own time",
    )


def changes_sentence(older: Version, newer: Version, found: Sequence[CellChange]) -> str:
    """What the figures say of two versions, in one sentence."""
    known = [one for one in found if one.ratio is not None]
    if not known:
        wrong = next((one for one in (older, newer) if not one.right), None)
        why = f"v{wrong.number} is {wrong.verdict}" if wrong else "they have no problem in common"
        return f"v{older.number} and v{newer.number} do not compare: {why}."
    last = known[-1]
    return (
        f"v{newer.number} is {ratio_text(last.ratio or 0)} as fast as v{older.number} "
        f"at N = {seqlen_text(last.problem.seqlen)}{_doubt(last.interval)}."
    )


def _doubt(interval: Interval | None) -> str:
    """What an interval leaves open of a ratio."""
    if interval is None:
        return "; too few samples to know whether that is a difference"
    return "; the interval holds 1: no difference is shown" if interval.low <= 1 <= interval.high else ""


def _interval(interval: Interval | None) -> str:
    return f" ({interval.low:.3f} to {interval.high:.3f})" if interval else ""


def _reason(version: Version) -> str:
    return version.reason.rstrip(".")
