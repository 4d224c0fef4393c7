"""What is written in a panel is as large as its room allows, and as large at every step."""

from typing import Any

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from flashscope.app.plots.stepper import formula_panel
from flashscope.app.plots.stepper.panel import put, width_of
from tests.app.pages.stepper.conftest import Bench

Written = list[tuple[int, bool]]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Written:
    """Pixels of the letters of each formula that is painted, and whether it fits its line."""
    lines: Written = []

    def noted(painter: QPainter, rect: QRectF, html: str, *rest: Any) -> float:
        lines.append((painter.font().pixelSize(), width_of(html, painter.font()) <= rect.width()))
        return put(painter, rect, html, *rest)

    monkeypatch.setattr(formula_panel, "put", noted)
    return lines


def test_formulas_are_as_large_as_there_is_room_and_alike_at_every_step(
    bench: Bench, written: Written
) -> None:
    page = bench.show("random")
    panel, sizes = page.board.formulas, []
    for width, height in ((240, 180), (1000, 700)):
        panel.resize(width, height)
        at_steps = set()
        for step in range(1, 40):
            page.seek(step)
            written.clear()
            panel.grab()
            assert all(fits for _, fits in written) or panel.width() < 300
            at_steps.add(max(size for size, _ in written))
        sizes.append(at_steps)
    (small,), (large,) = sizes
    assert 1.5 * small <= large <= 2 * small + 1


def test_the_cells_of_a_small_tile_grow_with_the_room(bench: Bench) -> None:
    page = bench.show("slide")
    page.seek(10_000)
    heatmap = page.board.weights
    assert page.view is not None
    widths = []
    for size in ((240, 160), (900, 500)):
        heatmap.resize(*size)
        widths.append(heatmap._area(heatmap.frame(page.view)).width)
    assert 1.4 * widths[0] < widths[1]
