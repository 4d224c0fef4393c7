"""Many problems as a heat map."""

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem

from flashscope.app.figures.grid import grid_of
from flashscope.app.figures.strands import NO_PLACE
from flashscope.app.plots.compare.heat_item import HeatItem, shades
from flashscope.app.plots.compare.heat_plot import HeatPlot
from flashscope.app.plots.compare.strip_plot import StripPlot
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.compare import Comparison, compare
from flashscope.profiles.results.model.curves import curve_of
from flashscope.profiles.results.quantities.registry import QUANTITIES
from tests.app.pages.compare.conftest import GPU_PLAN, Desk, press, recorded
from tests.profiles.results.compare.built import rounds, session, with_workspace


def test_many_problems_are_a_heat_map_and_a_key_turns_it_into_lines(desk: Desk) -> None:
    problems = tuple(
        Problem(seqlen_q=n, seqlen_k=n, heads=2, head_dim=d, dtype="float16")
        for d in (32, 64)
        for n in (128, 256)
    )
    plan = replace(GPU_PLAN, problems=problems)
    desk.choose(recorded("base", plan), recorded("other", plan, times=0.5))
    board = desk.board
    assert board.ratios.map.isVisible()
    assert [label for _, _, label in board.findings.grids[0].groups] == ["d 32, no mask", "d 64, no mask"]  # type: ignore[union-attr]
    assert board.legend.isVisible(), "beside the map nothing says which curve is whose"
    assert board.legend.shown == ("standard", "flash2")
    least = board.ratios.minimumSizeHint().height()
    press(desk, "compare.view")
    desk.drawn()
    assert board.ratios.lines.isVisible()
    assert board.legend.isVisible()
    assert board.ratios.minimumSizeHint().height() < least, "lines need less height than the map"


def test_heat_map_and_samples_are_made_only_once_they_are_shown(desk: Desk) -> None:
    assert desk.board.findChildren(HeatPlot) == desk.board.findChildren(StripPlot) == []
    desk.choose(recorded("base"), recorded("other", times=1.2))
    assert desk.board.findChildren(HeatPlot) == []
    press(desk, "compare.view")
    desk.drawn()
    (drawn,) = desk.board.findChildren(HeatPlot)
    assert drawn.isVisible()
    assert drawn._place == desk.board.place != NO_PLACE
    (strips,) = desk.board.findChildren(StripPlot)
    assert strips.isVisible()


@pytest.mark.matrix
def test_a_cell_of_which_nothing_is_sure_is_faint_and_one_from_nothing_is_not(desk: Desk) -> None:
    cells = {("flash2", 512): rounds(1.0), ("flash3", 512): rounds(1.0), ("flash1", 512): rounds(1.0)}
    few = {**cells, ("flash2", 512): rounds(1.2), ("flash3", 512): rounds(1.2, count=4)}
    item = HeatItem(desk.page.theme)
    fills = [fill(item, compare(session(cells), [session(few)]), row) for row in range(2)]
    assert fills[0] == shades(desk.page.theme)[-1]
    assert fills[1] == shades(desk.page.theme)[16 + round(0.3 * 16)]
    none, some = (with_workspace(session(cells), held) for held in (0, 4096))
    assert fill(item, compare(none, [some], QUANTITIES["workspace_bytes"]), 0) == fills[0]


def fill(item: HeatItem, comparison: Comparison, row: int) -> QColor:
    """The colour of a kernel's cell in a map of a comparison, which has one problem."""
    (contrast,) = comparison.contrasts
    problems = {pair.base.problem: curve_of(pair.base) for pair in contrast.pairs}
    item.show_grid(grid_of(contrast, 0, problems), more_is_worse=True)
    canvas = QImage(10, 10 * len(contrast.pairs), QImage.Format.Format_RGB32)
    painter, option = QPainter(canvas), QStyleOptionGraphicsItem()
    painter.scale(10, 10)
    option.exposedRect = item.boundingRect()
    item.paint(painter, option)
    painter.end()
    return canvas.pixelColor(4, 10 * row + 4)


@pytest.mark.matrix
def test_as_much_of_a_curves_name_is_written_as_fits_over_its_columns(desk: Desk) -> None:
    problems = tuple(
        Problem(seqlen_q=n, seqlen_k=n, heads=2, head_dim=d, dtype="float16", causal=True, passes="backward")
        for d in (32, 64)
        for n in (128, 256)
    )
    plan = replace(GPU_PLAN, kernels=("flash2",), problems=problems)
    desk.choose(recorded("base", plan), recorded("other", plan, times=0.5))
    drawn = desk.board.ratios.map
    drawn.resize(1600, drawn.height())
    desk.drawn()
    assert list(drawn._axes["top"]._texts.values()) == ["d 32, backward, causal", "d 64, backward, causal"]
    drawn.resize(300, drawn.height())
    desk.drawn()
    short = drawn._axes["top"]._texts.values()
    assert all("…" in text and text.endswith("l") for text in short)
    assert len(set(short)) == len(problems) // 2
