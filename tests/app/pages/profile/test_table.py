"""The table of results."""

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.figures.spans import spans_of
from flashscope.app.look.theme import DARK
from flashscope.app.pages.profile.results_model import RAW
from flashscope.app.words.results.efficiency import efficiency_short
from flashscope.app.words.units import ms_text
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import RUNTIME
from flashscope.profiles.store import load
from flashscope.profiles.wire.events import PointChecked
from flashscope.profiles.wire.measurement import Figure
from tests.app.bench import Bench, column_of, marked, selected
from tests.app.pages.profile.failing import EVENTS, KERNELS, LENGTHS
from tests.app.pixels import pixels
from tests.matrix import chosen
from tests.profiles.sessions import make_plan, script, turns_of


@pytest.mark.matrix
@pytest.mark.parametrize("name", ["h200-peers", "h200-traffic"])
def test_every_text_of_the_table_has_room(bench: Bench, name: str) -> None:
    path = next(path for path in bundled_sessions() if path.stem == name)
    bench.controller._shown._show(load(path), "saved", None)
    bench.page.show_view("results")
    bench.drawn()
    table = bench.page.bottom.table
    assert [text for text, k, px in room_needed(bench) if table.columnWidth(k) < px] == []


def room_needed(bench: Bench) -> list[tuple[str, int, int]]:
    """Each text of the table but the reasons, its column, and the pixels that its cell asks for."""
    table, option = bench.page.bottom.table, QStyleOptionViewItem()
    table.initViewItemOption(option)
    columns = [k for k in range(table.proxy.columnCount() - 1) if not table.isColumnHidden(k)]
    cells = [table.proxy.index(row, k) for row in range(table.proxy.rowCount()) for k in columns]
    hint = table.itemDelegate().sizeHint
    return [(str(cell.data()), cell.column(), hint(option, cell).width()) for cell in cells]


@chosen("order", Qt.SortOrder, {Qt.SortOrder.DescendingOrder})
def test_the_mark_of_sorting_covers_no_heading(bench: Bench, order: Qt.SortOrder) -> None:
    bench.sweep(EVENTS)
    bench.page.show_view("results")
    bench.drawn()
    table, column = bench.page.bottom.table, column_of(bench, "runtime")
    header = table.horizontalHeader()
    before = pixels(header.grab().toImage())
    table.sortByColumn(column, order)
    after = pixels(header.grab().toImage())
    left = header.sectionViewportPosition(column)
    section = np.s_[:-2, left : left + header.sectionSize(column)]  # but for the line below
    text = before[section] != before[1, left + 1]
    assert text.any()
    assert (before[section] != after[section]).any()
    assert (before[section] == after[section])[text].all()


@pytest.mark.matrix
def test_readout_table_and_session_say_the_same(bench: Bench) -> None:
    bench.sweep(EVENTS)
    session = bench.controller.session
    assert session is not None
    bench.page.plots.move_cursor(512)
    panel = bench.page.plots.panel
    model = bench.page.bottom.table.results
    column = column_of(bench, "runtime")
    for place, row in enumerate(rows(session)):
        median = value_of(RUNTIME, row)
        assert model.index(place, column).data(RAW) == median
        if row.seqlen == 512 and median is not None:
            assert panel.figure(row.kernel, "runtime") == ms_text(median)
            assert model.index(place, column).data() == ms_text(median)


@pytest.mark.matrix
def test_table_and_crosshair_follow_each_other(bench: Bench) -> None:
    bench.sweep(EVENTS)
    table = bench.page.bottom.table
    table.selectRow(0)
    chosen = selected(bench.page)[0].point.index
    assert bench.page.plots.seqlen == 512
    bench.page.plots.step_cursor(1)
    assert {row.seqlen for row in marked(bench.page)} == {1024}
    assert [row.point.index for row in selected(bench.page)] == [chosen]


@pytest.mark.matrix  # it takes a second
def test_rows_at_the_crosshair_have_a_bar_and_the_chosen_point_alone_is_solid(
    bench: Bench, qtbot: QtBot
) -> None:
    bench.sweep(EVENTS)
    bench.page.show_view("results")
    bench.drawn()
    table, accent = bench.page.bottom.table, QColor(DARK.accent)
    qtbot.waitUntil(lambda: table.viewport().height() > table.rowHeight(0) * table.proxy.rowCount())
    table.clearFocus()

    def inks(row: int) -> tuple[bool, bool]:
        """Whether a row has a bar, and whether it is solid."""
        drawn, y = table.viewport().grab().toImage(), table.rowViewportPosition(row) + 3
        return drawn.pixelColor(1, y) == accent, drawn.pixelColor(drawn.width() // 2, y) == accent

    places: dict[bool, list[int]] = {True: [], False: []}
    for row in range(table.proxy.rowCount()):
        places[table._point(table.proxy.index(row, 0)) in table.marked].append(row)
    assert {inks(row) for row in places[True]} == {(True, False)}
    assert {inks(row) for row in places[False]} == {(False, False)}
    table.selectRow(places[True][1])
    assert [inks(row)[1] for row in places[True]] == [False, True]


@pytest.mark.matrix
def test_the_table_sorts_by_value_with_absent_cells_last(bench: Bench) -> None:
    bench.sweep(EVENTS)
    table = bench.page.bottom.table
    median = column_of(bench, "runtime")
    table.sortByColumn(median, Qt.SortOrder.AscendingOrder)
    raw = [table.proxy.index(row, median).data(RAW) for row in range(table.proxy.rowCount())]
    known = [value for value in raw if value is not None]
    assert known == sorted(known)
    assert raw[len(known) :] == [None] * (len(raw) - len(known))


@pytest.mark.matrix  # it takes a second
def test_the_results_model_passes_qt_s_own_model_tester(bench: Bench, qtmodeltester: object) -> None:
    bench.sweep(EVENTS)
    qtmodeltester.check(bench.page.bottom.table.results)  # type: ignore[attr-defined]  # the fixture is untyped


@pytest.mark.matrix
def test_the_point_in_flight_is_marked_until_it_ends(bench: Bench) -> None:
    plan = make_plan(KERNELS, LENGTHS)
    bench.sweep(script(plan, stop_before=2, in_flight=True))
    plot = bench.page.plots.cards["runtime"].plot
    assert plot._bands[0].isVisible()
    assert plot._flight.isVisible()
    assert bench.page.plots.panel.flight.text().startswith("standard · N = 1")


@pytest.mark.matrix
def test_kernels_that_take_turns_are_all_marked_in_flight(bench: Bench) -> None:
    plan = make_plan(KERNELS, LENGTHS)
    bench.sweep([*script(plan, stop_before=0), *turns_of(plan)])
    plot = bench.page.plots.cards["runtime"].plot
    assert plot._bands[0].isVisible()
    assert len(plot._flight.points()) == 2
    assert bench.page.plots.panel.flight.text().startswith(f"{KERNELS[0]} and {KERNELS[1]} · N = ")
    assert bench.controller.session is not None
    lane = bench.page.bottom.strip.lanes["memory_used"]
    lane._shades.draw(spans_of(bench.controller.session), (0.0, 2.0), (0.0, 1.0), DARK)
    stand = [[(bar.y(), bar.height()) for bar in bars] for _, bars in lane._shades.bars.fillings]
    assert stand == [[(0.0, 1.0), (0.5, 0.5)], [(0.0, 1.0), (0.0, 0.5)]]  # a check, then a band, of each


@pytest.mark.matrix
def test_the_results_tab_says_how_much_of_the_sweep_was_measuring(bench: Bench) -> None:
    spent = {"trial_launch_ms": Figure(value=0.5), "trial_check_ms": Figure(value=0.25)}
    told = (
        replace(one, measurement=replace(one.measurement, figures=one.measurement.figures | spent))
        if isinstance(one, PointChecked)
        else one
        for one in script(make_plan(KERNELS, LENGTHS))
    )
    bench.sweep(list(told))
    summary = bench.page.bottom.summary
    assert not summary.isVisible()
    bench.page.show_view("results")
    assert summary.isVisible()
    assert summary.text() == efficiency_short(bench.controller.session)  # type: ignore[arg-type]  # there is one
    assert summary.text().startswith("efficiency ")
    assert "by N" in summary.toolTip()
