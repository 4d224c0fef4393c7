"""What is written into the plot of memory over context."""

from itertools import combinations

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.look.theme import DARK
from flashscope.app.plots.context_plot import ContextPlot, Drawn

GIB = 1 << 30
LENGTHS = [1 << k for k in range(8, 21)]


def drawn(standard: int, tiled: int) -> Drawn:
    """Curves that meet a memory of 80 GiB at these lengths."""
    curves = {
        "standard": [(n, round(80 * GIB * (n / standard) ** 2)) for n in LENGTHS],
        "flash3": [(n, round(80 * GIB * n / tiled)) for n in LENGTHS],
    }
    limits = {"standard": standard, "flash3": tiled}
    return Drawn(curves, limits, ("standard", "flash3"), 80 * GIB, context=8192)


@pytest.mark.parametrize("size", [(1100, 240), (420, 200)])
@pytest.mark.parametrize(
    "limits", [(22_640, 467_242), (20_000, 20_500), (20_500, 20_000), (400, 430), (8192, 8192)]
)
def test_what_is_written_of_close_limits_stands_beside_one_another(
    qtbot: QtBot, limits: tuple[int, int], size: tuple[int, int]
) -> None:
    plot = ContextPlot(DARK)
    qtbot.addWidget(plot)
    plot.draw(drawn(*limits))
    plot.resize(*size)
    plot.show()
    plot.grab()
    view = plot.getViewBox()
    texts = [shown.text for shown in plot._shown.values()]
    assert all(text.isVisible() for text in texts)
    places = [text.mapRectToScene(text.boundingRect()) for text in (*texts, plot._said)]
    field = view.mapRectToScene(view.boundingRect()).adjusted(-1, -1, 1, 1)
    assert all(field.contains(place) for place in places[:-1])
    for one, other in combinations(places, 2):
        assert not one.adjusted(2, 2, -2, -2).intersects(other.adjusted(2, 2, -2, -2))


def test_a_limit_is_written_next_to_its_mark(qtbot: QtBot) -> None:
    plot = ContextPlot(DARK)
    qtbot.addWidget(plot)
    plot.draw(drawn(22_640, 467_242))
    plot.resize(1100, 240)
    plot.show()
    plot.grab()
    for shown in plot._shown.values():
        text = shown.text.mapRectToScene(shown.text.boundingRect())
        mark = shown.spot.mapRectToScene(shown.spot.boundingRect())
        assert text.adjusted(-8, -8, 8, 8).intersects(mark)
