"""The names of schemes at their curves' ends can be read, also where a curve ends before the others."""

from itertools import pairwise

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtWidgets import QApplication

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.figures.free_places import Box
from flashscope.app.figures.scheme_curves import SchemeCurve, efficiency_curves, memory_curves
from flashscope.app.look.theme import DARK
from flashscope.app.look.zoom import ZOOM
from flashscope.app.plots.ranks.curves_plot import SchemeCurvesPlot
from flashscope.app.words.kinds import KINDS
from flashscope.app.words.ranks import kind_of
from flashscope.profiles.results.model.ranks import modelled, passes_of
from flashscope.profiles.store import load

RESULTS = load(BUNDLED / "h100-ranks.flashscope").ranks
KIND_OF_FOUR = "forward, causal, 4 ranks, 32/8 heads, d = 128, bfloat16, peer"
OF_FOUR = [one for one in passes_of(RESULTS) if kind_of(one) == KIND_OF_FOUR]
HALF_A_LINE = 6  # pixels of letters over and under the middle of a name


@pytest.fixture(autouse=True)
def at_100(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ZOOM, "factor", 1.0)


def shown(curves: list[SchemeCurve], size: tuple[int, int], *, share: bool) -> SchemeCurvesPlot:
    kind = KINDS["share" if share else "bytes"]
    plot = SchemeCurvesPlot("Curves", kind, DARK, 1.0 if share else None)
    plot.resize(*size)
    plot.show()
    plot.show_curves(curves)
    QApplication.processEvents()
    return plot


def names(plot: SchemeCurvesPlot) -> dict[str, Box]:
    """Where the letters of each name are that is in sight, in pixels."""
    items = [item for item in plot.plotItem.items if isinstance(item, pg.TextItem) and item.isVisible()]
    return {item.toPlainText(): letters(item.textItem.sceneBoundingRect()) for item in items}


def letters(rect: QRectF) -> Box:
    middle = rect.center().y()
    return Box(rect.left() + 4, middle - HALF_A_LINE, rect.right() - 4, middle + HALF_A_LINE)


def lines(plot: SchemeCurvesPlot) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    view = plot.getViewBox()
    found = []
    for item in plot.plotItem.items:
        if isinstance(item, pg.PlotDataItem):
            spots = [view.mapViewToScene(QPointF(x, y)) for x, y in zip(*item.getData(), strict=True)]
            found += list(pairwise((spot.x(), spot.y()) for spot in spots))
    return found


def test_what_the_mask_allows_is_drawn_at_one_n_alone_as_well() -> None:
    ring = [one for one in OF_FOUR if one.asked.scheme == "ring"][:1]
    drawn = lines(shown(efficiency_curves(ring), (370, 250), share=True))
    assert [to_x - x > HALF_A_LINE and y == to_y for (x, y), (to_x, to_y) in drawn] == [True]


@pytest.mark.parametrize("size", [(370, 250), (700, 420), (1240, 470)])
@pytest.mark.parametrize("share", [True, False])
def test_no_curve_crosses_the_name_of_one_that_ends_early(size: tuple[int, int], share: bool) -> None:
    curves = efficiency_curves(OF_FOUR, modelled(RESULTS)) if share else memory_curves(OF_FOUR)
    plot = shown(curves, size, share=share)
    placed, drawn = names(plot), lines(plot)
    assert set(placed) == {"ring", "zigzag", "all-gather", "ulysses"}
    assert [name for name, box in placed.items() if any(map(box.crossed_by, drawn))] == []
    boxes = list(placed.values())
    assert not any(one.touches(other) for k, one in enumerate(boxes) for other in boxes[:k])
