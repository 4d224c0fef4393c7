"""A new quantity is one entry and one reader: everything that shows figures shows it."""

import csv
import io
import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app import cli
from flashscope.app.look.theme import DARK
from flashscope.app.pages.profile.plots_view import PlotsView
from flashscope.app.pages.profile.results_table import ResultsTable
from flashscope.app.words.one_unit import unit_of
from flashscope.app.words.units import ms_text
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.store import Recorder, load
from tests.profiles.heard import Heard, quick_plan
from tests.quantity import PROCESSOR_TIME


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session recorded with the reader in the worker."""
    heard = Heard("tests.quantity:KERNELS")
    try:
        heard.sweep(quick_plan("standard", "flash2", seqlens=(32, 64)))
    finally:
        heard.engine.close()
    recorder = Recorder(tmp_path_factory.mktemp("quantity") / "a.flashscope")
    for event in heard.events:
        recorder.record(event)
    recorder.close()
    return recorder.path


@pytest.fixture(autouse=True)
def entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quantity's entry in the registry."""
    monkeypatch.setitem(QUANTITIES, PROCESSOR_TIME.key, PROCESSOR_TIME)


@pytest.fixture
def session(file: Path) -> Session:
    """The session saved and opened again."""
    return load(file)


def values(session: Session) -> list[float]:
    figures = [PROCESSOR_TIME.figure(row) for row in rows(session)]
    return [figure.value for figure in figures if figure is not None and figure.value is not None]


def test_it_is_in_the_file_that_was_saved(session: Session) -> None:
    assert len(values(session)) == 4


def test_show_prints_it_as_json_as_csv_and_in_the_table(
    file: Path, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    def shown(*options: str) -> str:
        assert cli.main(["show", str(file), *options]) == 0
        return capsys.readouterr().out

    points = json.loads(shown("--json"))["points"]
    assert [point["processor_ms"] for point in points] == values(session)
    assert {point["figures"]["processor_ms"]["source"] for point in points} == {"process_time"}
    lines = [line for line in shown("--csv").splitlines() if not line.startswith("#")]
    table = csv.DictReader(io.StringIO("\n".join(lines)))
    assert [float(line["processor_ms"]) for line in table] == values(session)
    printed = shown()
    unit = unit_of(PROCESSOR_TIME, values(session))
    assert unit is not None
    assert f"processor time, {unit.name}" in printed
    assert all(unit.write(value) in printed for value in values(session))


def test_the_results_table_has_a_column_of_it(session: Session, qtbot: QtBot) -> None:
    table = ResultsTable(DARK)
    qtbot.addWidget(table)
    list(table.show_rows_in_steps(rows(session), {}))
    place = [column.title for column in table.results.columns].index("processor time")
    assert not table.isColumnHidden(place)
    texts = [table.results.index(row, place).data() for row in range(table.results.rowCount())]
    assert texts == [ms_text(value) for value in values(session)]


def test_a_plot_and_the_crosshair_show_it_when_it_is_chosen(session: Session, qtbot: QtBot) -> None:
    plots = PlotsView(DARK)
    qtbot.addWidget(plots)
    plots.show_rows(session, rows(session))
    plots.cells[0].quantity_chosen.emit(PROCESSOR_TIME.key)
    plots.move_cursor(64)
    *_, standard, flash2 = values(session)
    told = [plots.panel.figure(kernel, PROCESSOR_TIME.key) for kernel in ("standard", "flash2")]
    undoubted = [figure.removeprefix("! ") for figure in told]  # a busy machine's time may be in doubt
    assert undoubted == [ms_text(standard), ms_text(flash2)]
    drawn = {one.kernel: one.at(64) for one in plots.cards[PROCESSOR_TIME.key].plot._series}
    assert drawn == {"standard": standard, "flash2": flash2}
    export = plots.cards[PROCESSOR_TIME.key].make_export()
    assert export is not None
    assert "processor_ms" in export.columns
