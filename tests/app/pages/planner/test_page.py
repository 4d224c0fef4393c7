"""The Planner page: what it says without a session, from one, and when numbers are changed."""

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from flashscope.app.cli import main
from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.pages.planner import PlannerPage
from flashscope.app.pages.planner.columns import WIDTHS
from flashscope.app.plots.export.contents import csv_text
from flashscope.app.shell.main_window import MainWindow
from flashscope.installation import PROGRAM
from flashscope.profiles.plan.models import MODELS, find_model
from flashscope.profiles.results.planner.ledger import GIB, ledger
from tests.app.fakes import GPU_MACHINE, sweep
from tests.app.pages.planner.conftest import GPU_PLAN
from tests.app.remarks import remark_on
from tests.app.rig import Rig, Save
from tests.profiles.store import builders

GAP = ","


def cell(page: PlannerPage, row: int, title: str) -> str:
    listed = page.table.list
    column = next(k for k, one in enumerate(listed.columns) if one.title == title)
    return str(listed.data(listed.index(row, column)))


def put(page: PlannerPage, **numbers: Any) -> None:
    for name, number in numbers.items():
        page.form.inputs[name].choose(number)


def open_gpu_session(rig: Rig, save: Save, page: PlannerPage) -> Path:
    path = save(sweep(GPU_PLAN, GPU_MACHINE), "on a GPU")
    rig.open(path)
    return path


def test_without_a_gpu_or_a_session_it_plans_for_a_chosen_memory_and_forecasts_nothing(
    page: PlannerPage,
) -> None:
    assert page.sentence.text().startswith("Llama-3-8B, batch 1, bfloat16: in the 80.0 GiB of a device")
    assert cell(page, 0, "forecast, layer") == "-"
    assert "nothing to forecast from" in page.source.text()
    assert "find it here" in page.crossing.recorded.text()


@pytest.mark.matrix
def test_the_model_of_an_audit_on_show_is_planned_and_goes_with_its_session(
    rig: Rig, tmp_path: Path, save: Save, page: PlannerPage, qtbot: QtBot
) -> None:
    rig.open(builders.recorded(tmp_path / "audited.flashscope"))
    audit = builders.audit()
    assert page.sentence.text().startswith(f"{audit.model}, audited, batch 1")
    assert page.form.inputs["layers"].chosen() == audit.layers_in_all
    assert page.form.inputs["heads"].chosen() == audit.calls[0].call.q_shape[1]
    assert "have a window of 16; all are planned without one." in page.source.text()
    with qtbot.waitSignal(page.noticed) as told:
        page.copy_command()
    assert "plan --audit FILE" in str(told.args)
    open_gpu_session(rig, save, page)
    assert page.sentence.text().startswith("Llama-3-8B, ")
    assert page.form.models.count() == len(MODELS)


def test_a_session_brings_its_gpus_memory_and_forecasts_that_are_marked_as_such(
    rig: Rig, save: Save, page: PlannerPage
) -> None:
    open_gpu_session(rig, save, page)
    assert page.form.places.words == "Test GPU"
    assert "80.0 GiB of Test GPU" in page.sentence.text()
    told = cell(page, 2, "forecast, layer")
    assert told.startswith("≈ ")
    assert cell(page, 2, "forecast's error").startswith("± ")
    assert cell(page, 3, "forecast, layer") == "-"  # flash3 was not measured
    tip = page.table.list.columns[9].tip
    assert tip is not None
    assert tip(page.table.list.row_at(2)).startswith("Forecast, not measured")
    assert tip(page.table.list.row_at(3)) == "No forecast: no measured point of flash3."


def test_the_tables_figures_are_the_ledgers(page: PlannerPage) -> None:
    assert page.found is not None
    for row, one in enumerate(page.found.prospects):
        held = ledger(page.form.model(), page.form.setting(), one.kernel, 8192)
        index = page.table.list.index(row, 5)
        assert page.table.list.data(index, Qt.ItemDataRole.UserRole) == held.total


@pytest.mark.matrix
def test_every_model_fills_the_form_with_its_published_numbers(page: PlannerPage) -> None:
    for model in MODELS:
        page.form.show_model(model)
        assert page.form.model() == model
        assert page.sentence.text().startswith(model.name)


@pytest.mark.matrix
def test_a_changed_number_is_said_and_choosing_the_model_again_takes_it_back(page: PlannerPage) -> None:
    put(page, layers=16)
    assert page.sentence.text().startswith("Llama-3-8B, changed, batch 1")
    page.form.models.activated.emit(page.form.models.currentIndex())
    assert page.form.model() == find_model("Llama-3-8B")
    assert page.sentence.text().startswith("Llama-3-8B, batch 1")


@pytest.mark.matrix
def test_a_memory_that_is_typed_is_no_gpus_and_stays_when_a_session_is_opened(
    rig: Rig, save: Save, page: PlannerPage
) -> None:
    field = page.form.memory
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "24")
    assert page.form.places.words == "a device"
    assert "24.0 GiB of a device" in page.sentence.text()
    open_gpu_session(rig, save, page)
    page.window().show_page("planner")  # type: ignore[attr-defined]  # the main window
    assert "24.0 GiB of a device" in page.sentence.text()


def test_what_no_number_means_is_refused_beside_its_field(page: PlannerPage) -> None:
    field = page.form.inputs["layers"]
    field.setFocus()
    field.selectAll()  # type: ignore[union-attr]  # a number field
    QTest.keyClicks(field, "0")
    assert "not a whole number from 1 to 1000" in remark_on(field)


def test_the_two_limits_and_the_memory_are_drawn_where_the_sentence_says(page: PlannerPage) -> None:
    drawn = page.memory.plot.drawn
    assert drawn.capacity == 80 * GIB
    assert drawn.named == ("standard", "flash3")
    for kernel in drawn.named:
        assert f"{drawn.limits[kernel]:,}".replace(",", GAP) in page.sentence.text()


def test_the_export_holds_the_ledger_and_says_that_nothing_of_it_was_measured(page: PlannerPage) -> None:
    export = page.memory.make_export()
    assert export is not None
    text = csv_text(export)
    assert "nothing measured" in text
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for row in csv.DictReader(lines):
        tokens, held = int(row["context"]), int(row["held_bytes"])
        assert held == ledger(page.form.model(), page.form.setting(), row["kernel"], tokens).total


def test_the_copied_command_prints_what_the_page_shows(
    page: PlannerPage, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    put(page, batch=4, every_layer=True)
    page.copy_command()
    line = shlex.split(QGuiApplication.clipboard().text())
    assert main([*line[len(PROGRAM.split()) :], "--json"]) == 0
    found = json.loads(capfdbinary.readouterr().out)
    assert page.found is not None
    assert [one["longest_context"] for one in found["kernels"]] == [
        one.longest.tokens for one in page.found.prospects if one.longest
    ]


@pytest.mark.matrix
def test_a_changed_model_has_no_command_and_that_is_told(page: PlannerPage, qtbot: QtBot) -> None:
    put(page, layers=16)
    with qtbot.waitSignal(page.noticed) as told:
        page.copy_command()
    assert "no command" in str(told.args)


@pytest.mark.matrix
def test_numbers_that_do_not_go_together_are_refused_in_words(page: PlannerPage) -> None:
    put(page, batch=65_536, heads=4096, context=1 << 24)
    assert cell(page, 0, "in all") == "-"
    assert "does not run" in page.sentence.text()


@pytest.mark.matrix
def test_a_kernel_that_does_not_take_the_head_dim_says_so_in_its_row(page: PlannerPage) -> None:
    put(page, head_dim=48)
    assert cell(page, 3, "in all") == "-"
    tip = page.table.list.columns[0].tip
    assert tip is not None
    assert "head dims 64 to 256" in tip(page.table.list.row_at(3))
    assert page.memory.plot.drawn.named == ("standard", "flash2")


@pytest.mark.matrix
def test_a_gpu_whose_memory_a_file_does_not_know_is_no_place_to_plan_for(
    rig: Rig, save: Save, page: PlannerPage
) -> None:
    empty = replace(GPU_MACHINE.devices[0], memory_bytes=0)
    rig.open(save(sweep(GPU_PLAN, replace(GPU_MACHINE, devices=(empty,))), "of nowhere"))
    assert page.form.places.count() == 1
    assert page.form.places.words == "a device"


@pytest.mark.matrix
def test_a_session_of_gradients_alone_is_said_to_tell_nothing_of_the_forward_pass(
    rig: Rig, page: PlannerPage
) -> None:
    rig.open(next(path for path in bundled_sessions() if path.stem == "h200-backward"))
    assert page.source.text().startswith(
        "There is nothing in SAVED · GPU NVIDIA H200 · 2026-11-28 to forecast"
    )
    assert "forward pass" in page.crossing.recorded.text()


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("numbers", "told"),
    [({}, "of another shape"), ({"context": 1_100_000}, "× no"), ({"context": 9_999_999}, " PiB")],
)
def test_in_a_small_window_every_text_of_the_table_has_room(
    page: PlannerPage, window: MainWindow, rig: Rig, numbers: dict[str, int], told: str
) -> None:
    window.resize(1280, 720)
    rig.open(next(path for path in bundled_sessions() if path.stem == "h200-peers"))
    window.show_page("planner")
    put(page, **numbers)
    QApplication.processEvents()
    table, option = page.table, QStyleOptionViewItem()
    table.initViewItemOption(option)
    cells = [table.list.index(row, k) for row in range(table.list.rowCount()) for k in range(len(WIDTHS))]
    hint = table.itemDelegate().sizeHint
    short = [c.data() for c in cells if hint(option, c).width() > table.columnWidth(c.column())]
    assert any(told in str(cell.data()) for cell in cells)
    assert short == []
