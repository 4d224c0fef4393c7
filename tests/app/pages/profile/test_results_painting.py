"""The table of results paints what has changed, and asks for no more than it paints."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QApplication, QStyledItemDelegate
from pytestqt.qtbot import QtBot

from flashscope.app.look.theme import DARK, LIGHT, Theme
from flashscope.app.pages.profile.results_model import ROWS_A_STEP, ResultColumn, ResultsModel
from flashscope.app.pages.profile.results_table import ResultsTable
from flashscope.app.widgets.row_table import Raw
from flashscope.profiles.results.model.curves import baselines
from flashscope.profiles.results.model.rows import LiveRows, PointRow
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import PointMeasured, PointStarted
from tests.profiles.sessions import make_plan, script, session_of

KERNELS, LENGTHS = ("standard", "flash2"), (512, 1024, 2048)
EVENTS = script(make_plan(KERNELS, LENGTHS))
ENDS = [place for place, event in enumerate(EVENTS) if isinstance(event, PointMeasured)]
Cell = tuple[int, int]


class Shown:
    """The table over a sweep that has come so far; what is painted is written down."""

    def __init__(self, ended: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.painted: list[Cell] = []
        self.asked: list[int] = []
        painted, data = ResultsModel.painted, ResultsModel.data

        def paint(model: ResultsModel, *cell: int) -> object:
            self.painted.append((cell[0], cell[1]))
            return painted(model, *cell)

        def ask(model: ResultsModel, index: QModelIndex, role: int = 0) -> object:
            self.asked.append(role)
            return data(model, index, role)

        monkeypatch.setattr(ResultsModel, "painted", paint)
        monkeypatch.setattr(ResultsModel, "data", ask)
        self.come = ENDS[ended - 1] + 1
        self.session: Session = session_of(EVENTS[: self.come])
        self._rows = LiveRows(self.session)
        self.table = ResultsTable(DARK)
        self.table.resize(1600, 300)
        self.table.show()
        self.show()

    def show(self) -> None:
        """Show the sweep as it is, and let it be painted."""
        rows = self._rows.current()
        for _ in self.table.show_rows_in_steps(rows, baselines(rows, KERNELS[0])):
            pass
        self.settle()

    def settle(self) -> None:
        for _ in range(5):
            QApplication.processEvents()

    def go_on(self, ended: int) -> set[int]:
        """Let so many points more start and end; which they are."""
        last = ENDS[ENDS.index(self.come - 1) + ended]
        events, self.come = EVENTS[self.come : last + 1], last + 1
        for event in events:
            self.session.apply(event)
        return {event.index for event in events if isinstance(event, PointMeasured | PointStarted)}

    @property
    def columns(self) -> list[int]:
        """Those in view."""
        table = self.table
        wide = table.viewport().width()
        return [
            k
            for k in range(len(table.results.columns))
            if not table.isColumnHidden(k) and table.columnViewportPosition(k) < wide
        ]


@pytest.fixture
def shown(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    made = Shown(3, monkeypatch)
    qtbot.addWidget(made.table)
    yield made
    made.table.close()


def test_rows_that_say_what_they_said_are_not_painted_again(shown: Shown) -> None:
    shown.painted.clear()
    shown.show()
    shown.table.show_points(set(shown.table.marked))
    shown.settle()
    assert shown.painted == []


def test_a_point_that_ends_has_its_own_row_painted_and_no_other(shown: Shown) -> None:
    shown.painted.clear()
    changed = shown.go_on(1)
    shown.show()
    assert max(changed) + 1 < len(shown.session.cells)
    assert with_next(changed) == {row for row, _ in shown.painted}


def with_next(rows: set[int]) -> set[int]:
    """These, and the row under them, of which Qt has a pixel painted, too."""
    return {*rows, max(rows) + 1}


def test_every_row_that_is_compared_with_a_point_is_painted_where_that_comes(shown: Shown) -> None:
    rows = shown._rows.current()
    compared = baselines(rows, KERNELS[0])
    problem = next(iter(compared))
    without = {one: row for one, row in compared.items() if one != problem}
    shown.painted.clear()
    for _ in shown.table.show_rows_in_steps(rows, without):
        pass
    shown.settle()
    of_problem = {place for place, row in enumerate(rows) if row.problem == problem}
    assert len(of_problem) == len(KERNELS)
    assert with_next(of_problem) == {row for row, _ in shown.painted}


def test_to_be_painted_a_cell_is_asked_for_once_and_never_role_by_role(shown: Shown) -> None:
    shown.painted.clear()
    shown.asked.clear()
    shown.table.viewport().repaint()
    assert sorted(shown.painted) == [
        (row, k) for row in range(len(shown.session.cells)) for k in shown.columns
    ]
    assert shown.asked == []


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("column", [-1, 0, 2])
def test_cells_look_as_what_the_model_says_of_them_role_by_role(
    shown: Shown, theme: Theme, column: int
) -> None:
    table = shown.table
    table.apply_theme(theme)
    table.sortByColumn(column, Qt.SortOrder.DescendingOrder)
    table.selectRow(1)
    shown.settle()
    own = table.grab().toImage()
    plain = QStyledItemDelegate(table)
    table.setItemDelegate(plain)
    shown.settle()
    assert table.grab().toImage() == own


def test_no_step_of_showing_many_rows_reads_all_of_a_column(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[PointRow] = []
    raw = ResultsModel._raw

    def reading(model: ResultsModel, row: PointRow, column: ResultColumn) -> Raw:
        read.append(row)
        return raw(model, row, column)

    monkeypatch.setattr(ResultsModel, "_raw", reading)
    session = session_of(script(make_plan(KERNELS, tuple(128 * (k + 1) for k in range(100)))))
    rows = LiveRows(session).current()
    table = ResultsTable(DARK)
    qtbot.addWidget(table)
    steps = table.show_rows_in_steps(rows, baselines(rows, KERNELS[0]))
    counts = [0, *(len(read) for _ in steps)]
    assert counts[-1] > len(rows)
    assert max(b - a for a, b in pairwise(counts)) <= ROWS_A_STEP < len(rows)
