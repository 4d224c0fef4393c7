"""Where what the sessions' views show comes from; none of them stands on a stage."""

from typing import Protocol

from flashscope.app.control.controller import Controller
from flashscope.app.pages.sessions.trend import SessionsTrend
from flashscope.app.pages.staging import Staging
from flashscope.app.words.results.provenance import Provenance


class Library(Protocol):
    """What lists sessions, or draws them over time.

    Attributes:
        trend: The curves.
    """

    trend: SessionsTrend

    @property
    def over_time(self) -> bool:
        """Whether they are in front."""


class SessionsStaging(Staging):
    """Tells of the sessions that are drawn over time; the lists show no figures but the previewed ones.

    Args:
        page: What lists sessions.
        controller: Has the session on show.
    """

    def __init__(self, page: Library, controller: Controller) -> None:
        super().__init__("sessions", controller)
        self._page = page
        page.trend.drawn.connect(self.changed)

    @property
    def provenance(self) -> Provenance:
        """That of the curves, elsewhere that of the session on show."""
        drawn = self._page.trend.card.provenance if self._page.over_time else None
        return drawn or super().provenance
