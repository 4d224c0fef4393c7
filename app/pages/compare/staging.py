"""The Compare page on a stage: nothing in it moves under the pointer."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.pages.staging import Staging
from flashscope.app.plots.compare.heat_plot import HeatPlot
from flashscope.app.stage.story import Stop


class CompareStaging(Staging):
    """Shows what the page shows, the heat map in whole.

    Args:
        controller: Has the session on show.
        aside: What is put away.
        heat: The heat map.
    """

    def __init__(self, controller: Controller, aside: Sequence[QWidget], heat: HeatPlot) -> None:
        super().__init__("compare", controller, aside)
        self._heat = heat

    def show_stop(self, stop: Stop) -> None:
        """Show the comparison, all of it."""
        super().show_stop(stop)
        self._heat.hold_still(True)

    def leave(self) -> None:
        """Let wheel and drag move the heat map again."""
        super().leave()
        self._heat.hold_still(False)
