"""What a plot says of where the pointer stands is over when the pointer leaves it, however quickly."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.look.theme import DARK
from flashscope.app.plots.roofline.plot import RooflinePlot
from flashscope.app.plots.style import Plot
from flashscope.app.plots.timeline.traffic_plot import TrafficPlot

MADE: dict[str, tuple[Callable[[], RooflinePlot | TrafficPlot], object]] = {
    "roofline": (lambda: RooflinePlot(DARK), None),
    "traffic": (lambda: TrafficPlot("flash2", DARK), ""),
}


def leave(plot: Plot) -> None:
    QApplication.sendEvent(plot, QEvent(QEvent.Type.Leave))


@pytest.mark.parametrize("way", [leave, Plot.hide])
@pytest.mark.parametrize("kind", MADE)
def test_a_plot_that_the_pointer_leaves_or_that_is_hidden_points_at_nothing(
    qtbot: QtBot, kind: str, way: Callable[[Plot], None]
) -> None:
    make, nothing = MADE[kind]
    plot = make()
    qtbot.addWidget(plot)
    plot.show()
    told: list[object] = []
    plot.hovered.connect(told.append)
    way(plot)
    assert told == [nothing]
