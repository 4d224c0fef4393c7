"""What the user has chosen to see of a session, kept while something else shows."""

from typing import NamedTuple

from flashscope.profiles.results.model.curves import Curve
from flashscope.profiles.results.model.session import Session


class KeptView(NamedTuple):
    """What four plots show beside their quantities.

    Attributes:
        session: The id of what was on show; empty: a sweep that is still to be run.
        baseline: What was chosen to be compared with; empty: the usual kernel.
        kernels: That were there.
        hidden: Those of them that were not on show.
        curve: The problems that were chosen, None: those that come by themselves.
        seqlen: Where the crosshair was put, None: where it stands by itself.
    """

    session: str
    baseline: str
    kernels: tuple[str, ...]
    hidden: frozenset[str]
    curve: Curve | None
    seqlen: int | None

    @staticmethod
    def mark_of(session: Session | None) -> str:
        """What tells a session from others, also after it went on or was read from its file again."""
        return session.id if session is not None else ""

    def is_of(self, session: Session | None) -> bool:
        """Whether this was chosen of that session."""
        return self.session == self.mark_of(session)
