"""A sweep's progress on stderr: one line a point."""

import sys

from app.plots.units import ms_text
from app.progress import clock_text, seconds_left
from profiles.events import Event, LogLine, PointFailed, PointMeasured, PointStarted
from profiles.session import Session
from profiles.stats import quartiles


def tell(text: str) -> None:
    """One line on stderr, at once."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def report_event(session: Session, event: Event) -> None:
    """Say what an event means for a user who waits; `session` has taken it in already."""
    match event:
        case PointStarted(index=index):
            left = seconds_left(session)
            eta = "" if left is None else f", about {clock_text(left)} left"
            tell(f"{_place(session, index)}{eta}")
        case PointMeasured(index=index, measurement=measured):
            times = quartiles(measured.samples)
            tell(f"{_place(session, index)}: {ms_text(times.median) if times else 'no accepted sample'}")
        case PointFailed(index=index, status=status, reason=reason):
            tell(f"{_place(session, index)}: {status}: {reason}")
        case LogLine(level="warning" | "error", source=source, text=text):
            tell(f"{source}: {text}")
        case _:
            pass


def _place(session: Session, index: int) -> str:
    point, cells = session.points[index].point, session.plan.cells
    place = f"{index + 1} of {cells}" if index < cells else "drift check"
    return f"{place}  {point.kernel}  N = {point.problem.seqlen_q}"
