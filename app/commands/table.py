"""A session as text for a terminal."""

from app.plots.provenance import session_header
from app.plots.units import bytes_text, ms_text, share_text, tflops_text
from profiles.drift import drift_text
from profiles.groups import grouped
from profiles.session import Session
from profiles.summary import PointRow, rows

HEADINGS = (
    "kernel",
    "N",
    "status",
    "median",
    "q1 .. q3",
    "footprint",
    "predicted",
    "max error",
    "throughput",
)
MASKED_HEADINGS = ("kept", "dense equivalent")  # FLOPs with and without the block mask, apart
NOTHING = "-"


def print_session(session: Session) -> None:
    """Print what was measured where, then a line for each point, then the reasons of those not done."""
    device = session.machine.device(session.backend)
    found = rows(session)
    print(
        f"{session.name or 'Session'} of {session.started_at} on {device.name if device else session.backend}"
    )
    print(f"Problem: {session_header(session, found)['problem']}")
    if session.note:
        print(session.note)
    if drift := drift_text(session):
        print(f"Drift check: {drift}")
    masked = any(row.block_mask for row in found)
    headings = (*HEADINGS, *(MASKED_HEADINGS if masked else ()))
    groups = grouped(found)
    placed = [(group.label, row) for group, members in groups.items() for row in members]
    if len(groups) == 1:
        print_table([headings, *(_cells(row, masked=masked) for row in found)])
    else:
        lines = [(f"{row.kernel}, {label}", *_cells(row, masked=masked)[1:]) for label, row in placed]
        print_table([("kernel, problem", *headings[1:]), *lines])
    for label, row in placed:
        where = f"N = {row.seqlen}" if len(groups) == 1 else f"{label}, N = {row.seqlen}"
        for text in (row.reason, row.note):
            if text:
                print(f"{row.kernel} at {where}: {text}")


def print_table(lines: list[tuple[str, ...]]) -> None:
    """Print cells in columns, the first left-aligned, the others right-aligned."""
    widths = _widths(lines)
    for first, *rest in lines:
        cells = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(rest, widths[1:], strict=True))]
        print("  ".join(cells).rstrip())


def table_width(lines: list[tuple[str, ...]]) -> int:
    """Characters that the longest line takes when printed."""
    widths = _widths(lines)
    return sum(widths) + 2 * (len(widths) - 1)


def _widths(lines: list[tuple[str, ...]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def _cells(row: PointRow, *, masked: bool) -> tuple[str, ...]:
    quartiles = NOTHING
    if row.runtime_ms_q1 is not None and row.runtime_ms_q3 is not None:
        quartiles = f"{ms_text(row.runtime_ms_q1)} .. {ms_text(row.runtime_ms_q3)}"
    return (
        row.kernel,
        str(row.seqlen),
        row.status,
        NOTHING if row.runtime_ms_median is None else ms_text(row.runtime_ms_median),
        quartiles,
        NOTHING if row.footprint_bytes is None else bytes_text(row.footprint_bytes),
        bytes_text(row.predicted_bytes),
        NOTHING if row.max_abs_error is None else f"{row.max_abs_error:.1e}",
        NOTHING if row.tflops is None else tflops_text(row.tflops),
        *(_masked_cells(row) if masked else ()),
    )


def _masked_cells(row: PointRow) -> tuple[str, str]:
    dense = NOTHING if row.dense_tflops is None else tflops_text(row.dense_tflops)
    return share_text(row.kept_share), dense
