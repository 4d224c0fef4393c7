"""Marks: every kernel can be told from every other, in every theme, without colour."""

from itertools import combinations

import pytest
from pyqtgraph.graphicsItems.ScatterPlotItem import Symbols
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon, QImage

from app.look.theme import KERNEL_MARKS, OTHER_MARK, THEMES, Theme, kernel_mark
from app.plots.marks import mark_icon, mark_pixmap
from app.plots.shapes import OWN, THEIRS
from kernels.registry import KERNELS, base_of

LEGIBLE = 3.0  # WCAG 2.1, 1.4.11: graphical objects against what they stand on
THEME = pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)


def luminance(colour: str) -> float:
    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4

    rgb = QColor(colour)
    return 0.2126 * linear(rgb.redF()) + 0.7152 * linear(rgb.greenF()) + 0.0722 * linear(rgb.blueF())


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def shape(kernel: str, theme: Theme) -> QImage:
    """Which pixels the mark covers, without its colour."""
    return mark_pixmap(kernel, theme).toImage().convertToFormat(QImage.Format.Format_Alpha8)


def test_every_kernel_has_a_mark_of_its_own() -> None:
    assert {spec.name for spec in KERNELS} <= set(KERNEL_MARKS)
    marks = [(mark.colour, mark.symbol) for mark in (*KERNEL_MARKS.values(), OTHER_MARK)]
    assert len(set(marks)) == len(marks)


@THEME
def test_every_mark_stands_out_from_its_card(theme: Theme) -> None:
    for name in (*KERNEL_MARKS, "unknown"):
        assert contrast(kernel_mark(name).on(theme), theme.panel) >= LEGIBLE, name


@THEME
@pytest.mark.usefixtures("qapp")
def test_every_mark_stands_out_from_a_selected_row(theme: Theme) -> None:
    for name in (*KERNEL_MARKS, "unknown"):
        drawn = mark_icon(name, theme).pixmap(QSize(42, 42), QIcon.Mode.Selected).toImage()
        inks = (drawn.pixelColor(x, y) for x in range(drawn.width()) for y in range(drawn.height()))
        ink = max(inks, key=lambda colour: colour.alpha())
        assert contrast(ink.name(), theme.accent) >= LEGIBLE, name


@pytest.mark.usefixtures("qapp")
def test_no_two_marks_have_the_same_shape() -> None:
    theme = THEMES["light"]
    for one, other in combinations(KERNEL_MARKS, 2):
        assert shape(one, theme) != shape(other, theme), (one, other)


@THEME
def test_the_steps_and_variants_of_a_kernel_have_its_colour_and_thinner_curves(theme: Theme) -> None:
    for name in KERNEL_MARKS:
        base = base_of(name)
        if base is not None:
            assert kernel_mark(name).on(theme) == kernel_mark(base).on(theme)
            assert kernel_mark(name).width < kernel_mark(base).width


def test_the_shapes_that_pictures_draw_are_those_of_the_plots() -> None:
    for name, polygon in THEIRS.items():
        path = Symbols[name]
        drawn = [(path.elementAt(i).x, path.elementAt(i).y) for i in range(path.elementCount() - 1)]
        assert [*polygon] == [pytest.approx(corner, abs=1e-3) for corner in drawn]
    known = {"o", "ring", *THEIRS, *OWN}
    assert {mark.symbol for mark in (*KERNEL_MARKS.values(), OTHER_MARK)} <= known
