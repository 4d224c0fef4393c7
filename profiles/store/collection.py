"""A folder of sessions as one collection: what each of them measured of one kernel at one N."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.findings.trend import Entry, Kind
from flashscope.profiles.results.model.curves import baselines, curve_of
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import favoured_baseline
from flashscope.profiles.store.errors import SessionFileError
from flashscope.profiles.store.info import SessionInfo
from flashscope.profiles.store.opening import opened
from flashscope.profiles.store.points import read_some_points
from flashscope.profiles.store.reader import read_head, validating
from flashscope.profiles.wire.measurement import Figure


def holding(infos: Iterable[SessionInfo], kernel: str, seqlen: int) -> list[SessionInfo]:
    """The sessions that measured this kernel at this N, as far as their plans tell."""
    return [info for info in infos if kernel in info.kernels and seqlen in info.seqlens]


def entries(
    infos: Iterable[SessionInfo], kernel: str, seqlen: int, quantity: Quantity
) -> Iterator[Entry | SessionFileError]:
    """What each of these sessions says, one file after the other, or why one cannot be read.

    Args:
        infos: The sessions, see `holding`.
        kernel: Whose points are read; no others are.
        seqlen: Their N.
        quantity: Any of the registry; a relative one is beside the session's favoured baseline.
    """
    for info in infos:
        yield from _told(info.path, kernel, seqlen, quantity)


def _told(path: Path, kernel: str, seqlen: int, quantity: Quantity) -> Sequence[Entry | SessionFileError]:
    try:
        return _of_file(path, kernel, seqlen, quantity)
    except SessionFileError as error:
        return [error]


def _of_file(path: Path, kernel: str, seqlen: int, quantity: Quantity) -> list[Entry]:
    with validating(path), opened(path) as connection:
        head, plan, machine = read_head(connection)
        states = read_some_points(connection, plan, _wanted(plan, kernel, seqlen, quantity))
    rows = [PointRow.of(plan.backend, state) for state in states]
    device = machine.device(plan.backend)
    whose = (device.name, device.uuid) if device else (plan.backend, None)
    return [
        Entry(
            file=str(path),
            name=head.name,
            started_at=head.started_at,
            kind=Kind(*whose, _problem(row), plan.protocol.cold, plan.protocol.interleave),
            figure=figure,
            reason="" if figure else row.reason or _missing(row, quantity) or row.status,
        )
        for row in rows
        if row.kernel == kernel
        for figure in [_figure(row, rows, quantity, favoured_baseline(plan.kernels))]
    ]


def _problem(row: PointRow) -> str:
    """The problem in words, all that tells it from others at the same N."""
    return curve_of(row)._replace(batch=row.problem.batch).whole_label


def _wanted(plan: Plan, kernel: str, seqlen: int, quantity: Quantity) -> list[int]:
    """The indices of the points that are read."""
    baseline = favoured_baseline(plan.kernels) if quantity.relative else None
    cells = plan.points()[: plan.cells]
    return [p.index for p in cells if p.problem.seqlen == seqlen and p.kernel in {kernel, baseline}]


def _figure(row: PointRow, rows: list[PointRow], quantity: Quantity, baseline: str | None) -> Figure | None:
    """The figure of a point that counts."""
    if not row.done:
        return None
    known = quantity.figure(row, baselines(rows, baseline).get(row.problem))
    return known if known is not None and known.value is not None else None


def _missing(row: PointRow, quantity: Quantity) -> str:
    known = quantity.figure(row, None) if row.done and not quantity.relative else None
    return known.missing if known else ""
