"""The table of pairs: sorted, filtered and copied."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from flashscope.app.pages.compare.list_model import ListColumn, ListModel
from flashscope.app.pages.compare.table import ListTable
from flashscope.app.pages.compare.tables import NOT_IN, PAIR_WIDTHS, PROBLEM
from flashscope.app.shell.shots import grab_whole
from tests.app.pages.compare.conftest import GPU_PLAN, Desk, recorded


def test_rows_are_copied_as_they_are_read(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2))
    desk.board.choose(0)
    heading, row = desk.board.tables.pairs.copied().splitlines()
    assert heading == "kernel\tN\tbaseline\there\tratio\t95% interval\tverdict"
    assert row.startswith("standard\t256\t1.00 ms\t1.20 ms\t1.200\t")
    assert row.endswith("\t▼ slower")


def test_a_filter_leaves_the_pairs_of_one_verdict(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2))
    tables = desk.board.tables
    assert [tables.verdicts.itemText(k) for k in range(2)] == ["All verdicts (6)", "slower (6)"]
    tables.verdicts.setCurrentIndex(1)
    tables._filter()
    assert tables.pairs.list.rowCount() == 6


def test_rows_sort_by_raw_values_and_those_without_one_stay_last(qtbot: QtBot) -> None:
    model: ListModel[float | None] = ListModel([ListColumn("x", lambda row: row, lambda row: f"{row} ms")])
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_rows([10.0, None, 9.0, 100.0])
    model.sort(0)
    assert [model.row_at(row) for row in range(4)] == [9.0, 10.0, 100.0, None]
    model.sort(0, Qt.SortOrder.DescendingOrder)
    assert [model.row_at(row) for row in range(4)] == [100.0, 10.0, 9.0, None]
    model.set_filter(lambda row: row is not None and row > 9)
    assert model.where(0) == 1
    assert model.where(1) is None


def test_of_two_sessions_a_point_alone_names_the_one_that_has_it_and_of_more_both(desk: Desk) -> None:
    other = replace(GPU_PLAN, problems=tuple(replace(one, head_dim=32) for one in GPU_PLAN.problems))
    paths = [recorded("base"), recorded("other", other), recorded("third", other)]
    table = desk.board.tables.alone
    for taken, hidden in ((2, True), (3, False)):
        desk.choose(*paths[:taken])
        assert not table.isColumnHidden(0)
        assert table.isColumnHidden(NOT_IN) is hidden


def test_names_that_begin_alike_are_told_apart_where_they_have_no_room(desk: Desk) -> None:
    other = replace(GPU_PLAN, problems=tuple(replace(one, head_dim=32) for one in GPU_PLAN.problems))
    names = ["2026-11-28-155949-cpu", "2026-11-28-155951-cpu"]
    desk.choose(*(recorded(name, plan) for name, plan in zip(names, (GPU_PLAN, other), strict=True)))
    table, read = desk.board.tables.alone, set()
    for row in range(table.list.rowCount()):
        index, option = table.list.index(row, 0), QStyleOptionViewItem()
        delegate = table.itemDelegateForIndex(index)
        assert isinstance(delegate, QStyledItemDelegate)
        delegate.initStyleOption(option, index)
        narrow = option.fontMetrics.horizontalAdvance(option.text) * 2 // 3
        read.add(option.fontMetrics.elidedText(option.text, option.textElideMode, narrow))
    assert len(read) == len(names)
    assert all("…" in one for one in read)


@pytest.mark.matrix
def test_sorted_and_filtered_tables_take_other_problems(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2))
    desk.board.tables.pairs.sortByColumn(PROBLEM, Qt.SortOrder.DescendingOrder)
    verdicts = desk.board.tables.verdicts
    verdicts.setCurrentIndex(verdicts.count() - 1)
    verdicts.activated.emit(verdicts.count() - 1)
    fewer = replace(GPU_PLAN, problems=tuple(replace(one, head_dim=32) for one in GPU_PLAN.problems[:1]))
    desk.choose(recorded("base of 32", fewer), recorded("other of 32", fewer, times=1.2))
    findings = desk.board.findings
    assert findings is not None
    assert desk.board.tables.pairs.list.rowCount() == len(findings.pairs) > 0


@pytest.mark.matrix
def test_columns_have_their_widths_again_after_a_stage(desk: Desk, qtbot: QtBot) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2))
    desk.window.resize(1280, 720)
    grab_whole(desk.window)  # laid out, so that the columns have their shares of the room
    table = desk.board.tables.pairs
    table.setColumnWidth(len(PAIR_WIDTHS) - 1, 130)
    header = table.horizontalHeader()
    before = [header.sectionSize(k) for k in range(len(PAIR_WIDTHS))]  # the last one takes what is left
    desk.window.stage.enter()
    qtbot.waitUntil(lambda: not desk.window.stage.loading.on)
    desk.window.stage.leave()
    qtbot.waitUntil(lambda: not desk.window.stage.loading.on)
    desk.drawn()
    grab_whole(desk.window)
    after = [header.sectionSize(k) for k in range(len(PAIR_WIDTHS))]
    assert after[-1] == before[-1] == 130, "what the user has made it"
    assert after == pytest.approx(before, abs=2)  # shares of the room, to a pixel or two


def test_where_a_little_room_lacks_columns_of_words_give_way_so_that_none_is_out_of_sight(
    qtbot: QtBot,
) -> None:
    words: ListColumn[int] = ListColumn("words", float, str)
    figures: ListColumn[int] = ListColumn("figures", float, str, right=True)
    table = ListTable("Rows", [words, figures, words], (150, 150, 150), spread=True)
    qtbot.addWidget(table)
    table.list.set_rows([*range(40)])
    table.resize(450, 100)
    table.show()
    assert table.viewport().width() < 450, "the vertical scroll bar has some of it"
    assert table.horizontalScrollBar().maximum() == 0
    assert table.columnWidth(1) == 150


def test_a_row_that_is_shown_scrolls_no_column_out_of_sight(qtbot: QtBot) -> None:
    column: ListColumn[int] = ListColumn("x", float, str)
    table = ListTable("Rows", [column, column], (300, 300))
    qtbot.addWidget(table)
    table.resize(200, 100)
    table.list.set_rows([*range(40)])
    table.show()
    assert table.horizontalScrollBar().maximum() > 0
    table.show_number(30)
    assert table.verticalScrollBar().value() > 0
    assert table.horizontalScrollBar().value() == 0
