"""A session as text for a terminal."""

from flashscope.app.commands.messages import say
from flashscope.app.commands.printed.printing import TableCell, print_table, status_cell, trust_cell
from flashscope.app.words.devices.ceilings import ceilings_lines
from flashscope.app.words.figures import NOTHING, column, shown_of
from flashscope.app.words.results.efficiency import efficiency_lines
from flashscope.app.words.results.headline import session_headlines
from flashscope.app.words.results.holding import holding_text
from flashscope.app.words.results.provenance_header import session_header
from flashscope.app.words.results.trust import trust_line
from flashscope.app.words.units import ms_text
from flashscope.profiles.results.model.bookmarks import on_moments, on_points
from flashscope.profiles.results.model.curves import baselines, by_curve
from flashscope.profiles.results.model.drift import drift_text
from flashscope.profiles.results.model.parts import failed_before, part_text, parts
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.registry import favoured_baseline
from flashscope.profiles.results.theory.why import whys

KEYS = 2  # the columns that say which point a line is about


def print_session(session: Session) -> None:
    """Print what was measured where, then a line for each point, then the reasons of those not done."""
    measured = rows(session)
    _print_head(session, measured)
    if not measured:
        return
    curves = by_curve(measured)
    for texts in session_headlines(session):
        for text in texts:
            say(text)
    placed = [(curve.label, row) for curve, members in curves.items() for row in members]
    _print_figures(session, placed, alone=len(curves) == 1)
    told = on_points(session.bookmarks)
    for label, row in placed:
        where = f"N = {row.seqlen}" if len(curves) == 1 else f"{label}, N = {row.seqlen}"
        doubts = trust_line(row.trust) if row.trust and row.trust.reasons else ""
        for text in (row.reason, row.note, doubts):
            if text:
                say(f"{row.kernel} at {where}: {text}")
        if row.point.index in told:
            say(f"Noted, {row.kernel} at {where}: {told[row.point.index] or 'a bookmark'}")
    for text in on_moments(session.bookmarks, session.t0_ns):
        say(f"Noted, {text}")


def print_why(session: Session) -> None:
    """Print what explains the runtime of each point that has one."""
    measured = rows(session)
    _print_head(session, measured)
    reasons = {row.point.index: why for row, why in zip(measured, whys(session), strict=True)}
    curves = by_curve(measured)
    for curve, members in curves.items():
        for row, why in ((row, reasons[row.point.index]) for row in members):
            where = f"N = {row.seqlen}" if len(curves) == 1 else f"{curve.label}, N = {row.seqlen}"
            if why is not None:
                say(f"{row.kernel} at {where}, {ms_text(why.runtime_ms)}: {why.sentence}")


def _print_head(session: Session, measured: list[PointRow]) -> None:
    """Print where it was measured, and what there is to say of it as a whole."""
    device = session.machine.device(session.backend)
    device_name = device.name if device else session.backend
    say(f"{session.name or 'Session'} of {session.started_at} on {device_name}")
    if measured:
        say(f"Problem: {session_header(session, measured)['problem']}")
    else:
        say(f"No points; {holding_text(session)}")
    if session.note:
        say(session.note)
    if session.tags:
        say(f"Tags: {', '.join(session.tags)}")
    for text in ceilings_lines(session.ceilings):
        say(text)
    if drift := drift_text(session):
        say(f"Drift check: {drift}")
    for text in efficiency_lines(session):
        say(text)
    if session.altered:
        say(f"Altered since it was recorded; left out: {session.altered}.")
    if session.resumed:
        _print_parts(session)


def _print_parts(session: Session) -> None:
    """Print who measured what of it, what differs, and how points ended that were measured anew."""
    for part in parts(session):
        say(part_text(part))
        for text in part.warnings:
            say(f"Warning: {text}")
        for text in failed_before(session, part):
            say(text)


def _print_figures(session: Session, placed: list[tuple[str, PointRow]], *, alone: bool) -> None:
    """Print a line for each point: the main figures that there are of any."""
    measured = [row for _, row in placed]
    shown = shown_of(measured)
    compared = baselines(measured, favoured_baseline(session.plan.kernels))
    columns = [column(quantity, measured, compared) for quantity in shown]
    lines: list[tuple[TableCell, ...]] = [
        (
            row.kernel if alone else f"{row.kernel}, {label}",
            str(row.seqlen),
            status_cell(row.status),
            trust_cell(row.trust.word) if row.trust else NOTHING,
            *(cells[place] for _, cells in columns),
        )
        for place, (label, row) in enumerate(placed)
    ]
    named = (heading for heading, _ in columns)
    headings = ("kernel" if alone else "kernel, problem", "N", "status", "trust", *named)
    if session.resumed:
        headings = (*headings, "part")
        lines = [(*line, str(row.part or NOTHING)) for line, (_, row) in zip(lines, placed, strict=True)]
    print_table(headings, lines, keys=KEYS)
