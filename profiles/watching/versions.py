"""The versions of a kernel that is watched: what was saved, how it was judged, and how fast each is.

A version is a kernel of its own name, `NAME-vN`. It is measured in turns with the newest version before it
that was right and with peers, in a session of its own, which holds all that is known of it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.findings.rounds import speedup_interval
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.statistics.bootstrap import LEAST_ROUNDS, Interval, intervals
from flashscope.profiles.results.statistics.stats import Quartiles

RIGHT, UNREADABLE = "right", "unreadable"
NAME_LENGTH = 60
_NUMBERED = re.compile(r"(?P<name>.+)-v(?P<number>\d+)")


class PeerRatio(NamedTuple):
    """How many times as fast a version is as another kernel that it took turns with.

    Attributes:
        to: The other kernel's name.
        ratio: The other's median runtime over the version's.
        interval: Where it lies with 95% confidence (`rounds.speedup_interval`); None: too few rounds.
        times: Quartiles of the other's runtime in ms.
    """

    to: str
    ratio: float
    interval: Interval | None
    times: Quartiles


class VersionCell(NamedTuple):
    """A version on one problem.

    Attributes:
        problem: The problem.
        status: As of any point.
        reason: Why it is not done; empty where it is.
        times: Quartiles of its accepted samples in ms, None when it has none.
        samples_ms: These samples, in order.
        ratios: To each kernel that was done beside it.
        trust: How far its times can be trusted, in a word; empty where it has none.
        doubts: Why not further, a clause each.
    """

    problem: Problem
    status: str
    reason: str
    times: Quartiles | None
    samples_ms: tuple[float, ...]
    ratios: tuple[PeerRatio, ...]
    trust: str = ""
    doubts: tuple[str, ...] = ()


class Version(NamedTuple):
    """One save of a kernel's file.

    Attributes:
        number: From 1, in the order of the saves.
        name: The kernel's name, `NAME-vN`.
        sha256: Of the file's bytes, in hex.
        saved_at: When its measuring began or, where it never did, it was told; ISO 8601 with offset.
        verdict: `right` where every problem is done, `unreadable` where the file declares no kernel, else
            the status of the first problem that is not done.
        reason: Why it is not right; empty where it is.
        source: The file's text.
        commit: The git commit around the file, in hex; empty: none is known.
        differs: Whether the file is other than in that commit; None: no commit is known.
        before: The version that it took turns with; empty: none.
        peers: The other kernels.
        cells: One a problem.
    """

    number: int
    name: str
    sha256: str
    saved_at: str
    verdict: str
    reason: str = ""
    source: str = ""
    commit: str = ""
    differs: bool | None = None
    before: str = ""
    peers: tuple[str, ...] = ()
    cells: tuple[VersionCell, ...] = ()

    @property
    def right(self) -> bool:
        """Whether later versions are measured beside it."""
        return self.verdict == RIGHT


class CellChange(NamedTuple):
    """Two versions on one problem.

    Attributes:
        problem: The problem.
        older: Runtime of the older one in ms: beside the newer one, where they took turns; None: unknown.
        newer: Runtime of the newer one in ms; None: unknown.
        ratio: How many times as fast the newer is; None: one of them has no times that count.
        interval: Where that lies with 95% confidence; None: too few samples.
        in_turns: Whether they took turns; else each was measured at its own time, and what the machine did
            meanwhile is in the ratio, too.
    """

    problem: Problem
    older: Quartiles | None
    newer: Quartiles | None
    ratio: float | None
    interval: Interval | None
    in_turns: bool


class Strip:
    """The versions in the order of their saves.

    Attributes:
        versions: All that are known.
    """

    def __init__(self, versions: Sequence[Version] = ()) -> None:
        self.versions: list[Version] = []
        for version in versions:
            self.add(version)

    def add(self, version: Version) -> None:
        """Take a version in, at the place of its number.

        Raises:
            ValueError: There is one of that number.
        """
        if any(one.number == version.number for one in self.versions):
            raise ValueError(f"There is a version {version.number} already.")
        self.versions = sorted((*self.versions, version), key=lambda one: one.number)

    @property
    def newest_right(self) -> Version | None:
        """What the next version is measured beside; None: nothing was right yet."""
        return next((one for one in reversed(self.versions) if one.right), None)

    def of(self, number: int) -> Version:
        """The version of that number.

        Raises:
            KeyError: There is none.
        """
        for one in self.versions:
            if one.number == number:
                return one
        raise KeyError(number)


def version_name(name: str, number: int) -> str:
    """What a version is called, as long as a name may be."""
    ending = f"-v{number}"
    return name[: NAME_LENGTH - len(ending)] + ending


def version_of(session: Session) -> Version | None:
    """The version that a session is of, which is the first kernel of its plan; None: of no version."""
    own = {one.name: one for one in session.plan.own}
    name, *others = session.plan.kernels
    found = _NUMBERED.fullmatch(name)
    if found is None or name not in own or own[name].source is None:
        return None
    before = others[0] if others and _is_version_of(own.get(others[0]), own[name]) else ""
    cells = _cells(session, name)
    failed = next((one for one in cells if one.status != "done"), None)
    return Version(
        number=int(found["number"]),
        name=name,
        sha256=own[name].sha256,
        saved_at=session.started_at,
        verdict=failed.status if failed else RIGHT,
        reason=failed.reason if failed else "",
        source=own[name].source or "",
        commit=own[name].commit,
        differs=own[name].differs,
        before=before,
        peers=tuple(one for one in others if one != before),
        cells=cells,
    )


def changes(older: Version, newer: Version) -> tuple[CellChange, ...]:
    """Two versions side by side, on each problem that both were measured on."""
    known = {cell.problem: cell for cell in older.cells}
    return tuple(_change(older, known[cell.problem], cell) for cell in newer.cells if cell.problem in known)


def _is_version_of(other: OwnKernel | None, own: OwnKernel) -> bool:
    return other is not None and other.path == own.path and _NUMBERED.fullmatch(other.name) is not None


def _cells(session: Session, name: str) -> tuple[VersionCell, ...]:
    measured: dict[Problem, dict[str, PointRow]] = {}
    for row in rows(session):
        measured.setdefault(row.problem, {})[row.kernel] = row
    return tuple(_cell(found[name], found) for found in measured.values() if name in found)


def _cell(row: PointRow, beside: dict[str, PointRow]) -> VersionCell:
    ratios = [_ratio(row, other) for other in beside.values() if other is not row]
    return VersionCell(
        problem=row.problem,
        status=row.status,
        reason=row.reason,
        times=row.times,
        samples_ms=tuple(sample.ms for sample in row.accepted),
        ratios=tuple(one for one in ratios if one is not None),
        trust=row.trust.word if row.trust else "",
        doubts=row.trust.reasons if row.trust else (),
    )


def _ratio(row: PointRow, other: PointRow) -> PeerRatio | None:
    """None where one of them does not count, or has no samples."""
    if not (row.done and other.done and row.times and other.times):
        return None
    ratio = other.times.median / row.times.median
    return PeerRatio(other.kernel, ratio, speedup_interval(row, other), other.times)


def _change(older: Version, cell: VersionCell, newer: VersionCell) -> CellChange:
    """A problem's cells in two versions, `cell` the older one's."""
    beside = next((one for one in newer.ratios if one.to == older.name), None)
    if beside is not None:
        old, new, ratio = beside.times, newer.times, beside.ratio
        return CellChange(newer.problem, old, new, ratio, beside.interval, in_turns=True)
    done = cell.status == newer.status == "done"
    if not (done and cell.times and newer.times):
        return CellChange(newer.problem, cell.times, newer.times, None, None, in_turns=False)
    apart, interval = (
        cell.times.median / newer.times.median,
        _interval_apart(cell.samples_ms, newer.samples_ms),
    )
    return CellChange(newer.problem, cell.times, newer.times, apart, interval, in_turns=False)


def _interval_apart(older: Sequence[float], newer: Sequence[float]) -> Interval | None:
    """Of two that took no turns: each one's samples are drawn for themselves."""
    if min(len(older), len(newer)) < LEAST_ROUNDS:
        return None
    low, high = intervals(np.array([newer]), np.array([older]))
    return Interval(float(low[0]), float(high[0]))
