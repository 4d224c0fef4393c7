"""How far the runs of a plan differ, in a sentence; reads them all, so not for the window's thread."""

from statistics import median

from flashscope.app.pages.sessions.rows import SessionRow
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.results.compare.run_spread import point_spreads
from flashscope.profiles.results.compare.runs import runs_of
from flashscope.profiles.results.compare.wording import percent
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import SessionFileError, loading

NO_SPREAD = "no point was measured in two runs"


def between_runs(row: SessionRow) -> str:
    """The spread of the points' runtimes between the runs in a row, or why it is not known."""
    sessions: list[Session] = []
    try:
        for info in row.runs:
            with loading(info.path) as (session, _readings):
                sessions.append(session)
        shares = sorted(point.share for point in point_spreads(runs_of(sessions)) if point.share is not None)
    except (SessionFileError, InputError) as error:
        return str(error)
    if not shares:
        return NO_SPREAD
    least, half, most = map(percent, (shares[0], median(shares), shares[-1]))
    if least == most:
        return f"runtimes differ by {most} (standard deviation)"
    at_half = f"at half of {len(shares)} points by {half} at most"
    return f"runtimes differ by {least} to {most}, {at_half} (standard deviation)"
