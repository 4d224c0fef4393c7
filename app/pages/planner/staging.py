"""What the planner does on a stage."""

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.pages.staging import Staging
from flashscope.app.words.provenance import Provenance, of_session
from flashscope.profiles.results.model.session import Session


class PlannerStaging(Staging):
    """Tells that memory is a model, and of whose times the forecast is made.

    Args:
        controller: Has the session on show.
        aside: What is put away.
        session: What is forecast from, None without one.
    """

    def __init__(
        self, controller: Controller, aside: Sequence[QWidget], session: Callable[[], Session | None]
    ) -> None:
        super().__init__("planner", controller, aside)
        self._session = session

    @property
    def provenance(self) -> Provenance:
        """A model, with the device and the day of the times that it goes by."""
        session = self._session()
        return Provenance("model", "cuda") if session is None else of_session(session, "model")
