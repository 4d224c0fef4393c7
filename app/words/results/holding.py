"""What a session holds beside points, in words, and which view shows it."""

from collections.abc import Mapping
from typing import NamedTuple

from flashscope.app.words.ranks import holds_text
from flashscope.profiles.results.model.session import Session


class HeldKind(NamedTuple):
    """What a session keeps as one value each: what one and several are called, and what view shows them."""

    one: str
    several: str
    view: str


HELD: Mapping[str, HeldKind] = {  # by their places in a Session; what tells most is first
    "ranks": HeldKind("result of ranks", "results of ranks", "ranks"),
    "audits": HeldKind("audit", "audits", "audit"),
    "timelines": HeldKind("timeline", "timelines", "timeline"),
    "landscapes": HeldKind("landscape of cuts", "landscapes of cuts", "designer"),
    "stalls": HeldKind("profile of stalls", "profiles of stalls", "ladder"),
    "traces": HeldKind("trace", "traces", "stepper"),
    "backward_traces": HeldKind("backward trace", "backward traces", "stepper"),
}
NOTHING_ELSE = "nothing else"


def held_text(held: Mapping[str, int]) -> str:
    """How many values of each kind there are; empty: there are none."""
    told = [(held.get(key, 0), kind) for key, kind in HELD.items()]
    return ", ".join(f"{count} {kind.one if count == 1 else kind.several}" for count, kind in told if count)


def holding_text(session: Session) -> str:
    """What a session holds beside points, in a line."""
    others = {key: len(getattr(session, key)) for key in HELD if key != "ranks"}
    ranks = holds_text(session.ranks) if session.ranks else ""
    return ", ".join(filter(None, (ranks, held_text(others)))) or NOTHING_ELSE


def written_text(session: Session, *, with_ranks: bool) -> str:
    """What of a session a file of figures has: its points, or where it has none what several ranks did.

    Args:
        session: What is written.
        with_ranks: Whether the file has what ranks did, too.
    """
    if session.ranks and not session.points and with_ranks:
        return holds_text(session.ranks)
    cells = session.plan.cells
    return f"{cells or 'no'} point{'s' * (cells != 1)}"


def view_instead(session: Session | None) -> str:
    """The view that shows what a session without points holds; empty: it has points, or nothing."""
    if session is None or session.points:
        return ""
    return next((kind.view for key, kind in HELD.items() if getattr(session, key)), "")
