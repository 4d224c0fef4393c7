"""What a field refuses or changes while one types is told beside it, in words."""

import ast
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollArea

from flashscope import app
from flashscope.app.pages.profile.form.fields import Decimal, Whole
from flashscope.app.widgets.number_fields import NumberField
from flashscope.app.widgets.remark import Remark
from flashscope.kernels.workload.block_pattern import BlockPattern
from flashscope.profiles.plan.choice import choices_of
from flashscope.profiles.plan.request import Request
from tests.app.bench import Bench
from tests.app.remarks import remark_on
from tests.matrix import chosen

NUMBERS = [
    d.name
    for d in choices_of(Request)
    if d.kind in {int, float} and d.name not in {"kv_heads", "block_size", "page_size"}
]
LARGEST = 2**31 - 1


def field_of(bench: Bench, name: str) -> NumberField:
    field = bench.page.form.inputs[name]
    assert isinstance(field, Whole | Decimal)
    return begin(field)


def begin(field: NumberField) -> NumberField:
    """Go into a field, as the Tab key does."""
    area = next(area for area in field.window().findChildren(QScrollArea) if area.isAncestorOf(field))
    area.ensureWidgetVisible(field)
    field.setFocus()
    field.selectAll()
    return field


@chosen("name", NUMBERS, {"heads"})
def test_a_digit_too_many_is_refused_in_words_that_say_the_range_and_the_unit(
    bench: Bench, name: str
) -> None:
    field = field_of(bench, name)
    QTest.keyClicks(field, "9" * 12)
    refused = remark_on(field)
    assert refused.startswith("‘99")
    assert f"to {field.maximum():.10g}{field.suffix()}" in refused
    assert f"from {field.minimum():.10g}" in refused
    field.stepUp()
    assert not remark_on(field)


@chosen("name", ["heads", "batch", "repeats"], {"heads"})
def test_a_number_below_the_range_is_told_while_it_stands_there_and_when_it_goes(
    bench: Bench, name: str
) -> None:
    field = field_of(bench, name)
    field.setValue(7)
    begin(field)
    QTest.keyClicks(field, "0")
    told = remark_on(field)
    assert told.startswith("‘0’ is not a whole number from")
    assert told.endswith(": it stays 7.")
    bench.page.form.dtype.setFocus()
    assert field.cleanText() == "7"
    assert remark_on(field) == told
    begin(field)
    QTest.keyClicks(field, "12")
    assert not remark_on(field)


def test_what_is_pasted_is_refused_in_words_as_what_is_typed(bench: Bench) -> None:
    field = field_of(bench, "time_cap_s")
    for pasted in ("ten", "1,5", "0.0001", "-1"):
        begin(field)
        QGuiApplication.clipboard().setText(pasted)
        QTest.keyClick(field, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        assert (
            remark_on(field) == f"‘{pasted}’ is not a number from 0.001 to 1000000 s with at most 3 decimals."
        ), pasted


@pytest.mark.matrix
def test_an_empty_field_is_told_when_it_is_left_and_not_while_another_number_is_typed(bench: Bench) -> None:
    field = field_of(bench, "heads")
    QTest.keyClick(field, Qt.Key.Key_Delete)
    assert not remark_on(field)
    bench.page.form.dtype.setFocus()
    assert remark_on(field).startswith("Nothing is not a whole number from 1")


@pytest.mark.matrix
def test_a_side_of_a_window_says_what_its_least_number_means(bench: Bench) -> None:
    bench.page.form.masking.kind.setCurrentText("window")
    field = begin(bench.page.form.masking.left)
    QTest.keyClicks(field, "--")
    assert f"from -1 (all) to {LARGEST}" in remark_on(field)


@pytest.mark.matrix
def test_heads_of_k_and_v_that_no_longer_divide_say_so_and_come_back_when_they_do(bench: Bench) -> None:
    form = bench.page.form
    form.heads.setValue(8)
    form.kv_heads.choose(4)
    field = field_of(bench, "heads")
    QTest.keyClicks(field, "1")
    assert remark_on(form.kv_heads) == "4 does not divide 1: as many as heads."
    QTest.keyClicks(field, "2")
    assert form.request().kv_heads == 4
    assert not remark_on(form.kv_heads)


@pytest.mark.matrix
def test_the_words_are_on_the_page_and_leave_it_with_the_field(bench: Bench) -> None:
    form = bench.page.form
    form.show_request(Request.of("cpu", blocks=BlockPattern(local=1)))
    for name in NUMBERS:
        field = field_of(bench, name)
        QTest.keyClicks(field, "9" * 12)
        (shown,) = field.window().findChildren(Remark)
        ground = shown.ground
        assert ground.visibleRegion().boundingRect().contains(shown.geometry()), name
        assert not shown.geometry().intersects(QRect(field.mapTo(ground, QPoint(0, 0)), field.size())), name
        assert not shown.isHidden()
    form.hide()
    assert not shown.isVisible()


@pytest.mark.matrix
def test_no_number_is_asked_for_but_in_a_field_that_says_what_it_refuses() -> None:
    source = Path(app.__file__).parent
    users = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.alias) and node.name in {"QSpinBox", "QDoubleSpinBox"}
    }
    assert users == {"widgets/number_fields.py"}
