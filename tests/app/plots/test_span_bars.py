"""The bars of what ran: whole pixels, none between two that meet, and few operations for many."""

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PySide6.QtCore import QBuffer, QRectF
from PySide6.QtGui import QBrush, QColor, QImage, QPaintDevice, QPainter, QTransform
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication, QStyleOptionGraphicsItem
from pytestqt.qtbot import QtBot

from flashscope.app.figures.spans import Span
from flashscope.app.look.theme import DARK
from flashscope.app.plots.filling import filling
from flashscope.app.plots.style import Plot
from flashscope.app.plots.timeline.shades import Shades
from flashscope.app.plots.timeline.span_bars import SpanBars
from flashscope.kernels.catalogue.ladder import LADDER
from tests.app.pixels import pixels

WIDE, HIGH = 120, 36
UNITS = 7.3  # of time on show
INK = QColor(255, 255, 255, 128)
ALL = QRectF(0.0, 0.0, UNITS, 1.0)


class Watched(QPainter):
    """Counts what is drawn with it."""

    operations: Counter[str]

    def __getattribute__(self, name: str) -> Any:
        if name.startswith(("draw", "fill")):
            self.operations[name] += 1
        return super().__getattribute__(name)


def bar(start: float, end: float, low: float = 0.0, high: float = 1.0) -> QRectF:
    return QRectF(start, low, end - start, high - low)


def bars_of(*fillings: tuple[QBrush, list[QRectF]]) -> SpanBars:
    bars = SpanBars()
    bars.show_bars(fillings)
    return bars


def ladder_bars(times: int = 1) -> list[tuple[QBrush, list[QRectF]]]:
    """Bars of all kernels in turns, and those of the last two in bands."""
    step = UNITS / (times * len(LADDER))
    placed = [(k % len(LADDER), bar(k * step, (k + 1) * step)) for k in range(times * len(LADDER) - 1)]
    placed += [(k, bar(UNITS - step, UNITS, k / 2, (k + 1) / 2)) for k in range(2)]
    kernels = range(len(LADDER))
    return [(filling(LADDER[k].name, DARK, 44), [one for at, one in placed if at == k]) for k in kernels]


def shown() -> QTransform:
    """From the units, which rise as in a plot, to pixels."""
    return QTransform(WIDE / UNITS, 0, 0, -HIGH, 0, HIGH)


def paint(bars: SpanBars, device: QPaintDevice, exposed: QRectF = ALL) -> Counter[str]:
    """Paint bars on a device, and count what is done."""
    painter = Watched(device)
    painter.operations = Counter()
    option = QStyleOptionGraphicsItem()
    option.exposedRect = exposed
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)  # as in a plot
    painter.setTransform(shown())
    painter.setClipRect(exposed)
    bars.paint(painter, option)
    assert painter.testRenderHint(QPainter.RenderHint.Antialiasing), "what comes next is smoothed again"
    painter.end()
    return painter.operations


def black(ratio: int = 1) -> QImage:
    image = QImage(WIDE * ratio, HIGH * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(0)
    return image


def picture(bars: SpanBars, exposed: QRectF = ALL) -> NDArray[np.uint32]:
    """What bars look like on black."""
    image = black()
    paint(bars, image, exposed)
    return pixels(image)


def levels(bars: SpanBars) -> NDArray[np.uint32]:
    """How bright they are across the middle."""
    across: NDArray[np.uint32] = picture(bars)[HIGH // 2] & np.uint32(255)
    return across


@given(st.lists(st.floats(0.0, UNITS), min_size=2, max_size=40, unique=True))
def test_bars_that_meet_leave_no_pixel_open_and_paint_none_twice(
    qapp: QApplication, ends: list[float]
) -> None:
    ends = [end for end, after in pairwise(sorted(ends)) if after - end > UNITS / WIDE]
    seen = levels(bars_of((QBrush(INK), [bar(*one) for one in pairwise(ends)])))
    middles = (np.arange(WIDE) + 0.5) * UNITS / WIDE
    inside = (middles > ends[0] + 1e-6) & (middles < ends[-1] - 1e-6) if ends else np.zeros(WIDE, bool)
    outside = (middles < ends[0] - 1e-6) | (middles > ends[-1] + 1e-6) if ends else ~inside
    assert set(seen[inside].tolist()) <= {128}
    assert set(seen[outside].tolist()) <= {0}


@pytest.mark.parametrize("start", [1.0, 1.03, 1.055])
def test_a_bar_that_is_narrower_than_a_pixel_has_a_pixel(qapp: QApplication, start: float) -> None:
    seen = levels(bars_of((QBrush(INK), [bar(start, start + 1e-4)])))
    (place,) = np.flatnonzero(seen)
    assert abs(place - start * WIDE / UNITS) <= 1
    assert seen[place] == 128


@pytest.mark.parametrize("ratio", [1, 2])
def test_bars_look_as_if_each_were_filled_by_itself(qapp: QApplication, ratio: int) -> None:
    image, alone = black(ratio), black(ratio)
    paint(bars_of(*ladder_bars(3)), image)
    with QPainter(alone) as painter:
        for brush, bars in ladder_bars(3):
            for one in bars:
                painter.fillRect(shown().mapRect(one), brush)
    assert len({brush.style() for brush, _ in ladder_bars()}) > 3, "plain ones and several hatches"
    assert (pixels(image) == pixels(alone)).all()


@given(st.floats(0.0, UNITS * 0.9), st.floats(0.05, UNITS))
def test_a_part_that_is_painted_again_meets_what_is_beside_it(
    qapp: QApplication, start: float, wide: float
) -> None:
    bars = bars_of(*ladder_bars(3))
    part = QRectF(start, 0.0, min(wide, UNITS - start), 1.0)
    again = picture(bars, part)
    there = (again & 0xFFFFFF) != 0
    assert (again[there] == picture(bars)[there]).all()


def test_hundreds_of_bars_are_painted_by_one_operation_for_each_height(qtbot: QtBot) -> None:
    plot = Plot()
    qtbot.addWidget(plot)
    shades = Shades(plot, 44)
    step = UNITS / 400
    spans = [
        Span((LADDER[k % len(LADDER)].name,), 512, k * step, (k + 1) * step if k < 399 else None)
        for k in range(400)
    ]
    shades.draw(spans, (0.0, UNITS), (0.0, 1.0), DARK)
    assert sum(len(bars) for _, bars in shades.bars.fillings) == 400
    assert [brush for brush, _ in shades.bars.fillings] == [filling(one.name, DARK, 44) for one in LADDER]
    assert paint(shades.bars, black()) == {"drawTiledPixmap": 1}


def test_a_drawing_of_shapes_gets_the_bars_as_shapes(qapp: QApplication) -> None:
    drawing, generator = QBuffer(), QSvgGenerator()
    generator.setOutputDevice(drawing)
    assert paint(bars_of(*ladder_bars()), generator) == {"drawRects": len(LADDER)}
    assert b"<image" not in drawing.data().data()
