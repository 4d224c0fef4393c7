"""The planner on a stage: memory over context, and how much of it fits in a sentence."""

from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.pages.planner.memory_card import MemoryCard
from flashscope.app.pages.staging import Staging
from flashscope.app.stage.story import Stop
from flashscope.app.words.learn.planning import outlook_headline
from flashscope.app.words.results.provenance import Provenance, of_session
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.planner.outlook import Outlook


class Planner(Protocol):
    """What plans.

    Attributes:
        found: What it shows, None before the first.
        memory: The plot.
    """

    found: Outlook | None
    memory: MemoryCard


class PlannerStaging(Staging):
    """Shows the plot.

    Args:
        page: What plans.
        controller: Has the session on show.
        aside: What is put away beside the plot's tools.
        session: What is forecast from, None without one.
    """

    def __init__(
        self,
        page: Planner,
        controller: Controller,
        aside: Sequence[QWidget],
        session: Callable[[], Session | None],
    ) -> None:
        super().__init__("planner", controller, [*aside, page.memory.export_button], [page.memory])
        self._page, self._session = page, session

    @property
    def provenance(self) -> Provenance:
        """A model, with the device and the day of the times that it goes by."""
        session = self._session()
        return Provenance("model", "cuda") if session is None else of_session(session, "model")

    @property
    def sentence(self) -> str:
        """How long a context fits."""
        return outlook_headline(self._page.found) if self._page.found is not None else ""

    def show_stop(self, stop: Stop) -> None:
        """Show the plot and whose curves these are."""
        super().show_stop(stop)
        self._page.memory.legend.show()

    def leave(self) -> None:
        """Show all there is to work with again."""
        super().leave()
        self._page.memory.legend.hide()

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """The plot."""
        return (self._page.memory,)
