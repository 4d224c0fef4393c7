"""Versions as JSON: one document a line while a file is watched, and what lies between two of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flashscope.profiles.results.statistics.bootstrap import Interval
from flashscope.profiles.results.statistics.stats import Quartiles
from flashscope.profiles.watching.versions import CellChange, PeerRatio, Version, VersionCell
from flashscope.profiles.watching.watching import Timing


def version_document(version: Version, file: Path | None, timing: Timing | None = None) -> dict[str, Any]:
    """A version without its text, which its session holds."""
    return {
        "version": version.number,
        "kernel": version.name,
        "sha256": version.sha256,
        "saved_at": version.saved_at,
        "commit": version.commit or None,
        "differs": version.differs,
        "verdict": version.verdict,
        "reason": version.reason,
        "before": version.before or None,
        "peers": list(version.peers),
        "points": [_cell(one) for one in version.cells],
        "verdict_s": timing and timing.verdict_s,
        "ended_s": timing and timing.ended_s,
        "file": file and str(file),
    }


def changes_document(
    older: Version, newer: Version, found: Sequence[CellChange], difference: str
) -> dict[str, Any]:
    """Two versions side by side; `difference`: of their sources, as a unified diff."""
    return {
        "older": version_document(older, None),
        "newer": version_document(newer, None),
        "points": [
            {
                "seqlen": one.problem.seqlen,
                "older_ms": _quartiles(one.older),
                "newer_ms": _quartiles(one.newer),
                "ratio": one.ratio,
                **_ends(one.interval),
                "in_turns": one.in_turns,
            }
            for one in found
        ],
        "difference": difference,
    }


def _cell(cell: VersionCell) -> dict[str, Any]:
    return {
        "seqlen": cell.problem.seqlen,
        "status": cell.status,
        "reason": cell.reason,
        "trust": cell.trust or None,
        "doubts": list(cell.doubts),
        "ms": _quartiles(cell.times),
        "ratios": [_ratio(one) for one in cell.ratios],
    }


def _ratio(ratio: PeerRatio) -> dict[str, Any]:
    return {"to": ratio.to, "ratio": ratio.ratio, **_ends(ratio.interval), "ms": _quartiles(ratio.times)}


def _ends(interval: Interval | None) -> dict[str, float | None]:
    return {"low": interval and interval.low, "high": interval and interval.high}


def _quartiles(times: Quartiles | None) -> dict[str, float] | None:
    return None if times is None else {"q1": times.q1, "median": times.median, "q3": times.q3}
