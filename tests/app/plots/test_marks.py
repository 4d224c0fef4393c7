"""Marks: every kernel can be told from every other, in every theme, without colour, and families by it."""

from itertools import combinations

import pytest
from msgspec.structs import replace
from pyqtgraph.graphicsItems.ScatterPlotItem import Symbols
from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon, QImage

from flashscope.app.figures.shapes import OWN, THEIRS
from flashscope.app.look.contrast import contrast
from flashscope.app.look.kernel_marks import KERNEL_MARKS, LEGIBLE, OTHER_MARK, kernel_mark
from flashscope.app.look.theme import THEMES, Theme
from flashscope.app.look.zoom import ZOOM
from flashscope.app.plots.filling import filling
from flashscope.app.plots.marks import mark_icon, mark_pixmap
from flashscope.kernels.catalogue.marks import OWN_MARKS
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.registry import KERNELS, base_of
from flashscope.kernels.own.spec import admit
from tests.app.pixels import ink_in_a_selected_row
from tests.app.plots.eyes import EYES, difference, lab

SEEN = 3.0  # WCAG 2.1, 1.4.11: graphical objects against what they stand on
FAMILIES = 7
OWN_NAMES = tuple(f"own-mark-{place}" for place in range(len(OWN_MARKS)))
APART = 12.0  # CIEDE2000; 2 is just noticed side by side
THEME = pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)


@pytest.fixture(autouse=True, scope="module")
def own_kernels_are_known() -> None:
    plain = OwnKernel(
        name="mine", path="mine.py", sha256="0" * 64, function="f", backends=("cpu",), dtypes=("float32",)
    )
    admit([replace(plain, name=name) for name in OWN_NAMES])


def shape(kernel: str, theme: Theme) -> QImage:
    """Which pixels the mark covers, without its colour."""
    return mark_pixmap(kernel, theme).toImage().convertToFormat(QImage.Format.Format_Alpha8)


def test_every_mark_is_one_kernels_alone_and_kernels_without_one_share_theirs() -> None:
    without = [spec.name for spec in KERNELS if spec.mark is None]
    assert {kernel_mark(name) for name in (*without, "unknown")} == {OTHER_MARK}
    own = map(kernel_mark, OWN_NAMES)
    marks = [(mark.colour, mark.symbol) for mark in (*KERNEL_MARKS.values(), OTHER_MARK, *own)]
    assert len(set(marks)) == len(marks)


@THEME
def test_every_mark_stands_out_from_its_card(theme: Theme) -> None:
    for name in (*KERNEL_MARKS, *OWN_NAMES, "unknown"):
        assert contrast(kernel_mark(name).on(theme), theme.panel) >= SEEN, name


@THEME
def test_text_in_a_kernels_colour_can_be_read(theme: Theme) -> None:
    for name in (*KERNEL_MARKS, *OWN_NAMES, "unknown"):
        assert contrast(kernel_mark(name).ink(theme), theme.panel) >= LEGIBLE, name


@THEME
def test_texts_can_be_read_on_what_they_stand_on(theme: Theme) -> None:
    for ground in (theme.bg, theme.panel, theme.raised):
        for text in (theme.text, theme.dim, theme.error, theme.warn, theme.ok):
            assert contrast(text, ground) >= LEGIBLE, (text, ground)
    assert contrast(theme.on_accent, theme.accent) >= LEGIBLE


@THEME
@pytest.mark.parametrize("eyes", EYES)
def test_families_are_told_apart_by_colour_whatever_cones_are_missing(theme: Theme, eyes: str) -> None:
    marks = (*KERNEL_MARKS.values(), *map(kernel_mark, OWN_NAMES))
    seen = {mark.on(theme): lab(mark.on(theme), EYES[eyes]) for mark in marks}
    assert len(seen) == FAMILIES + 1, "one hue is of the user's own kernels"
    for one, other in combinations(seen, 2):
        assert difference(seen[one], seen[other]) >= APART, (one, other)


@THEME
def test_areas_of_a_familys_members_are_hatched_differently(theme: Theme) -> None:
    brushes = {name: filling(name, theme) for name in (*KERNEL_MARKS, "unknown")}
    drawn = [(brush.color().name(), brush.style()) for brush in brushes.values()]
    assert len(set(drawn)) == len(drawn)
    assert brushes["flash3"].style() == Qt.BrushStyle.SolidPattern


def test_members_of_a_family_have_dashes_of_their_own() -> None:
    marks = (*KERNEL_MARKS.values(), OTHER_MARK, *map(kernel_mark, OWN_NAMES))
    looks = [(mark.colour, mark.dash) for mark in marks]
    assert len(set(looks)) == len(looks)


@THEME
@pytest.mark.usefixtures("qapp")
def test_every_mark_stands_out_from_a_selected_row(theme: Theme) -> None:
    for name in (*KERNEL_MARKS, *OWN_NAMES, "unknown"):
        assert contrast(ink_in_a_selected_row(mark_icon(name, theme)), theme.accent) >= SEEN, name


@pytest.mark.usefixtures("qapp")
def test_a_kernels_icon_is_drawn_once_for_each_theme_and_zoom(monkeypatch: pytest.MonkeyPatch) -> None:
    icons: dict[tuple[float, str], QIcon] = {}
    for factor in (1.0, 1.5, 1.0):
        monkeypatch.setattr(ZOOM, "factor", factor)
        for theme in (THEMES["light"], THEMES["dark"]):
            icon = mark_icon("flash1", theme)
            assert icons.setdefault((factor, theme.name), icon).cacheKey() == icon.cacheKey()
    assert len({icon.cacheKey() for icon in icons.values()}) == len(icons) == 4


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


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_of_colours_is_that_of_its_paper(
    one: tuple[float, float, float], other: tuple[float, float, float], apart: float
) -> None:
    assert difference(one, other) == pytest.approx(apart, abs=1e-4)
