"""The bars of what ran: whole pixels, none between two that meet, and few operations for many."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QBrush, QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.figures.spans import Span
from flashscope.app.look.theme import DARK
from flashscope.app.plots.filling import filling
from flashscope.app.plots.style import Plot
from flashscope.app.plots.timeline.shades import Shades
from flashscope.app.plots.timeline.span_bars import SpanBars
from flashscope.kernels.catalogue.ladder import LADDER
from tests.app.pixels import pixels

WIDE, HIGH = 120, 16
UNITS = 7.3  # of time on show
INK = QColor(255, 255, 255, 128)


def bar(start: float, end: float) -> QRectF:
    return QRectF(start, 0.0, end - start, 1.0)


def painted(bars: SpanBars, painter_of: type[QPainter] = QPainter) -> NDArray[np.uint32]:
    """What they look like on black, in a plot that smooths what it paints."""
    image = QImage(WIDE, HIGH, QImage.Format.Format_RGB32)
    image.fill(0)
    painter = painter_of(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(WIDE / UNITS, HIGH)
    bars.paint(painter, None)
    assert painter.testRenderHint(QPainter.RenderHint.Antialiasing), "what comes next is smoothed again"
    painter.end()
    return pixels(image)


@given(st.lists(st.floats(0.0, UNITS), min_size=2, max_size=40, unique=True))
def test_bars_that_meet_leave_no_pixel_open_and_paint_none_twice(
    qapp: QApplication, ends: list[float]
) -> None:
    ends = [end for end, after in pairwise(sorted(ends)) if after - end > UNITS / WIDE]
    bars = SpanBars()
    bars.show_bars([(QBrush(INK), [bar(*one) for one in pairwise(ends)])])
    levels = (painted(bars) & 255)[HIGH // 2]
    middles = (np.arange(WIDE) + 0.5) * UNITS / WIDE
    inside = (middles > ends[0] + 1e-6) & (middles < ends[-1] - 1e-6) if ends else np.zeros(WIDE, bool)
    outside = (middles < ends[0] - 1e-6) | (middles > ends[-1] + 1e-6) if ends else ~inside
    assert set(levels[inside].tolist()) <= {128}
    assert set(levels[outside].tolist()) <= {0}


@pytest.mark.parametrize("start", [1.0, 1.03, 1.055])
def test_a_bar_that_is_narrower_than_a_pixel_has_a_pixel(qapp: QApplication, start: float) -> None:
    bars = SpanBars()
    bars.show_bars([(QBrush(INK), [bar(start, start + 1e-4)])])
    levels = (painted(bars) & 255)[HIGH // 2]
    (place,) = np.flatnonzero(levels)
    assert abs(place - start * WIDE / UNITS) <= 1
    assert levels[place] == 128


def test_each_kernels_bars_have_its_filling_and_are_painted_at_once(qtbot: QtBot) -> None:
    operations: Counter[str] = Counter()

    class Watched(QPainter):
        def drawRects(self, rects: Sequence[QRectF]) -> None:  # type: ignore[override]  # one of its ways
            operations["drawRects"] += 1
            super().drawRects(rects)

        def __getattribute__(self, name: str) -> Any:
            if name.startswith(("draw", "fill")):
                operations[name] += 0
            return super().__getattribute__(name)

    plot = Plot()
    qtbot.addWidget(plot)
    shades = Shades(plot, 44)
    step = UNITS / 5 / len(LADDER)
    spans = [Span((one.name,), 512, k * step, (k + 1) * step) for k, one in enumerate(LADDER * 5)]
    shades.draw(spans, (0.0, UNITS), (0.0, 1.0), DARK)
    painted(shades.bars, Watched)
    assert operations == {"drawRects": len(LADDER)}
    assert [brush for brush, _ in shades.bars.fillings] == [filling(one.name, DARK, 44) for one in LADDER]
