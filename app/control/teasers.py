"""What a session says in one sentence and a stamp, read in the background for lists of sessions."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from flashscope.app.words.results.headline import headline_text, ratio_words
from flashscope.app.words.results.sessions import device_of
from flashscope.app.words.units import seqlen_text
from flashscope.profiles.plan.problem_words import unusual_words
from flashscope.profiles.results.findings.headline import of_curves
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import SessionFileError, loading

MOST_KERNELS = 3  # that are named
MOST_KEPT = 32  # sessions, which is more than a list has


class Teaser(NamedTuple):
    """What a list shows of a session.

    Attributes:
        sentence: What its first curve says; empty: nothing.
        facts: Device, kernels and N.
        shorter: The same in fewer words, the longest first, for a place that names the device.
        ratio: The sentence in a few words; empty: it compares nothing.
        curves: Of each kernel (N, median runtime in ms), rising in N.
        altered: Points that are not as they were recorded.
    """

    sentence: str
    facts: str
    shorter: tuple[str, ...]
    ratio: str
    curves: dict[str, tuple[tuple[int, float], ...]]
    altered: int


def teaser_of(path: Path) -> Teaser | None:
    """Read a session but for its telemetry; None where it cannot be read: opening it says why."""
    try:
        found = path.stat()
    except OSError:
        return None
    return _read(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=MOST_KEPT)
def _read(path: Path, _mtime_ns: int, _size: int) -> Teaser | None:
    """The same of a file as it was then: lists are shown again and again."""
    try:
        with loading(path) as (session, _readings):
            return _told(session)
    except (SessionFileError, OSError):
        return None


def _told(session: Session) -> Teaser | None:
    for members, told in of_curves(session):
        ratio = ratio_words(told) if told is not None else ""
        device, kernels, lengths = device_of(session), session.plan.kernels, _lengths(members)
        facts = f"{device} · {_kernels(kernels)} · {lengths}"
        shorter = f"{_kernels(kernels)} · {lengths}", _kernels(kernels), _counted(kernels)
        altered = sum(row.status == "altered" for row in members)
        return Teaser(headline_text(told), facts, shorter, ratio, _curves(members), altered)
    return None


def _kernels(names: tuple[str, ...]) -> str:
    """Few by their names, many by their number."""
    return ", ".join(names) if len(names) <= MOST_KERNELS else _counted(names)


def _counted(names: tuple[str, ...]) -> str:
    return f"{len(names)} kernel{'s' if len(names) > 1 else ''}"


def _lengths(members: list[PointRow]) -> str:
    lengths = sorted({row.seqlen for row in members})
    first, last = (seqlen_text(n) for n in (lengths[0], lengths[-1]))
    span = f"N {first}" if first == last else f"N {first} to {last}"
    return ", ".join(filter(None, (span, unusual_words(members[0].problem))))


def _curves(members: list[PointRow]) -> dict[str, tuple[tuple[int, float], ...]]:
    found: dict[str, list[tuple[int, float]]] = {}
    for row in members:
        if row.done and row.times:
            found.setdefault(row.kernel, []).append((row.seqlen, row.times.median))
    return {kernel: tuple(sorted(points)) for kernel, points in found.items()}
