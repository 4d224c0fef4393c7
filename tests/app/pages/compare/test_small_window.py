"""At 1280 x 720 both plots of a comparison can be read, whatever stands above them."""

import pytest

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.plots.compare.strand_plot import StrandPlot
from flashscope.app.shell.shots import grab_whole
from tests.app.pages.compare.conftest import Desk, press, recorded

READABLE_PX = 150
MANY = ("h100-peers", "h200-peers", "h200-standard-flash2", "h200-traffic")


def drawn_px(plot: StrandPlot) -> int:
    """How high the curves themselves have it, without their axes."""
    return int(plot.getViewBox().height())


@pytest.mark.matrix
@pytest.mark.parametrize("sessions", [MANY[:2], MANY])
def test_of_nineteen_kernels_ratios_and_curves_can_be_read(desk: Desk, sessions: tuple[str, ...]) -> None:
    desk.window.resize(1280, 720)
    for _ in range(2):
        press(desk, "compare.view")  # lines are chosen before a heat map asks for its room
    desk.choose(*[BUNDLED / f"{name}.flashscope" for name in sessions])
    board = desk.board
    assert board.ratios.view == "lines"
    assert len(board.legend.shown) == 19
    assert drawn_px(board.ratios.lines) >= READABLE_PX
    assert drawn_px(board.curves.plot) >= READABLE_PX


def test_one_legend_names_the_kernels_of_both_plots_once(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2))
    board = desk.board
    assert board.legend.shown == ("standard", "flash2")
    assert board.legend.geometry().bottom() <= board.ratios.mapTo(board, board.ratios.rect().topLeft()).y()


@pytest.mark.matrix
@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
@pytest.mark.parametrize("sessions", [MANY[:2], MANY])
def test_verdicts_are_whole_in_the_table_of_pairs(
    desk: Desk, size: tuple[int, int], sessions: tuple[str, ...]
) -> None:
    desk.window.resize(*size)
    desk.choose(*[BUNDLED / f"{name}.flashscope" for name in sessions])
    grab_whole(desk.window)
    table = desk.board.tables.pairs
    last, rows = table.model().columnCount() - 1, range(table.model().rowCount())
    widest = max(table.sizeHintForIndex(table.model().index(row, last)).width() for row in rows)
    assert table.horizontalHeader().sectionSize(last) >= widest


@pytest.mark.matrix
def test_where_there_is_room_the_name_of_a_session_gets_its_share(desk: Desk) -> None:
    desk.window.resize(1280, 720)
    desk.choose(*[BUNDLED / f"{name}.flashscope" for name in MANY])
    grab_whole(desk.window)
    table = desk.board.tables.pairs
    narrow = table.columnWidth(0)
    desk.window.resize(1920, 1080)
    grab_whole(desk.window)
    assert table.columnWidth(0) > 1.3 * narrow
    assert table.horizontalScrollBar().maximum() == 0


@pytest.mark.matrix
def test_a_curve_with_room_for_no_letter_of_its_name_has_none_in_the_map(desk: Desk) -> None:
    desk.window.resize(1280, 720)
    desk.choose(*[BUNDLED / f"{name}.flashscope" for name in (*MANY, "h200-thin")])
    plot = desk.board.ratios.map
    assert plot.isVisible()
    names = plot.getAxis("top")._texts.values()
    assert names
    assert all(len(name.replace("…", "")) > 1 for name in names)


@pytest.mark.matrix
def test_a_single_session_asks_for_no_more_room_once_two_were_compared(desk: Desk) -> None:
    desk.window.resize(1280, 720)
    both = [BUNDLED / f"{name}.flashscope" for name in MANY[:2]]
    asked = []
    for sides in (both[:1], both, both[:1]):
        desk.choose(*sides)
        grab_whole(desk.window)
        asked.append(desk.page.minimumSizeHint().height())
    assert asked[0] < asked[1]
    assert asked[2] == asked[0]
