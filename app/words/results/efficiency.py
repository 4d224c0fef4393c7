"""How much of a sweep's wall time went into launches and checks, in words."""

from collections.abc import Iterator

from flashscope.app.words.units import ms_text, seqlen_text
from flashscope.profiles.results.model.efficiency import MS, Spent, by_problem, efficiency
from flashscope.profiles.results.model.session import Session

ABOUT = (
    "The share of the sweep's wall time inside launches that are measured or warm up, those of the ceilings "
    "among them, and inside comparisons with float64"
)


def efficiency_short(session: Session) -> str:
    """The share in a few words; empty where it is not known."""
    spent = efficiency(session)
    return "" if spent is None else f"efficiency {_percent(spent.efficiency)} of {ms_text(spent.wall_s * MS)}"


def efficiency_lines(session: Session) -> Iterator[str]:
    """The share, where the rest of the time went, and the share at each N; nothing where it is not known."""
    spent = efficiency(session)
    if spent is None:
        return
    used = {"launches": spent.launches_s, "checks": spent.checks_s, "ceilings": spent.ceilings_s}
    rest = {
        "preparing (inputs, compiling, memory)": spent.preparing_s,
        "emptying the cache": spent.flushing_s,
        "counting": spent.counting_s,
        "processes, messages, saving": spent.other_s,
    }
    yield (
        f"Sweep efficiency: {_percent(spent.efficiency)} of {ms_text(spent.wall_s * MS)} "
        f"({_listed(spent, used)}); the rest: {_listed(spent, rest)}"
    )
    at = ", ".join(f"N = {seqlen_text(n)} {_percent(share)}" for n, share in _by_seqlen(session).items())
    if at:
        yield f"Sweep efficiency by N: {at}"


def _listed(spent: Spent, parts: dict[str, float]) -> str:
    return ", ".join(f"{name} {_percent(spent.share(seconds))}" for name, seconds in parts.items() if seconds)


def _by_seqlen(session: Session) -> dict[int, float]:
    """The share over all problems of one N."""
    used: dict[int, tuple[float, float]] = {}
    for one in by_problem(session):
        seconds, wall = used.get(one.problem.seqlen, (0.0, 0.0))
        more = one.spent.efficiency * one.spent.wall_s
        used[one.problem.seqlen] = seconds + more, wall + one.spent.wall_s
    return {seqlen: seconds / wall for seqlen, (seconds, wall) in sorted(used.items())}


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"
