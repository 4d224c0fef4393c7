"""The glossary on screen: a dialog that is searched, and the tips of what stands for a term."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QTableView, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.look.theme import DARK
from flashscope.app.pages.planner.form import PlannerForm
from flashscope.app.pages.profile.crosshair_panel import LegendRow
from flashscope.app.pages.profile.form import SweepForm
from flashscope.app.pages.stepper.options_bar import OptionsBar
from flashscope.app.pages.stepper.own_problem import OwnProblem
from flashscope.app.plots.sweep.legend import KernelButton
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.frame.glossary_sheet import GlossarySheet
from flashscope.app.widgets.plain import escaped, plain_tip
from flashscope.app.widgets.row_table import RowsModel
from flashscope.app.widgets.term_label import TermLabel
from flashscope.app.words.glossary import GLOSSARY, line_of, lines_in


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    """The same for all."""
    return shared_window


def opened(window: MainWindow, qtbot: QtBot, term: str = "") -> GlossarySheet:
    sheet = GlossarySheet(window, term)
    qtbot.addWidget(sheet)
    with qtbot.waitExposed(sheet):
        sheet.show()
    return sheet


@pytest.mark.matrix
def test_the_help_menu_opens_the_glossary(window: MainWindow) -> None:
    action = window.registry.find("glossary")
    assert action is not None
    action.trigger()
    sheet = window.findChild(GlossarySheet)
    assert sheet is not None
    assert sheet.isVisible()
    sheet.reject()


@pytest.mark.matrix
def test_the_glossary_tells_every_term(window: MainWindow, qtbot: QtBot) -> None:
    told = opened(window, qtbot).text.text()
    assert all(escaped(term.name) in told and escaped(term.line) in told for term in GLOSSARY)


@pytest.mark.matrix
def test_terms_stand_in_the_boldest_weight_that_there_is(window: MainWindow, qtbot: QtBot) -> None:
    document = QTextDocument()
    document.setHtml(opened(window, qtbot, "drift").text.text())
    terms = [document.find(term).charFormat().font().weight() for term in ("drift check", "in turns")]
    assert terms == [QFont.Weight.DemiBold] * 2


@pytest.mark.matrix  # it takes a second or more
def test_what_is_typed_leaves_the_terms_that_have_it_and_return_does_not_close_them(
    window: MainWindow, qtbot: QtBot
) -> None:
    sheet = opened(window, qtbot)
    QTest.keyClicks(sheet.query, "drift check")
    QTest.keyClick(sheet.query, Qt.Key.Key_Return)
    assert escaped(line_of("drift check")) in sheet.text.text()
    assert escaped(line_of("roofline")) not in sheet.text.text()
    assert sheet.isVisible()


@pytest.mark.matrix
def test_the_glossary_says_that_nothing_was_found(window: MainWindow, qtbot: QtBot) -> None:
    sheet = opened(window, qtbot)
    QTest.keyClicks(sheet.query, "<zzz>")
    assert sheet.text.text() == "Nothing found for “&lt;zzz&gt;”."


def test_a_term_that_is_looked_up_stands_first_and_typing_takes_its_place(
    window: MainWindow, qtbot: QtBot
) -> None:
    sheet = opened(window, qtbot, "LSE")
    assert sheet.text.text().index(escaped(line_of("LSE"))) < 200
    QTest.keyClicks(sheet.query, "GQA")
    assert sheet.query.text() == "GQA"


@pytest.mark.parametrize(
    ("kind", "some"),
    [
        (SweepForm, {"head dim", "kv heads", "cap / point", "cache", "mask"}),
        (PlannerForm, {"model", "layers", "context", "held at once"}),
        (OwnProblem, {"Tile rows Br", "Seed"}),
    ],
)
def test_every_name_and_caption_of_a_form_says_what_it_means(
    window: MainWindow, kind: type[QWidget], some: set[str]
) -> None:
    form = window.findChild(kind)
    assert form is not None
    names = [label for label in form.findChildren(QLabel) if label.buddy() is not None]
    captions = [label for label in form.findChildren(QLabel) if label.property("role") == "caption"]
    assert some <= {label.text() for label in names}
    for label in (*names, *captions):
        assert label.toolTip() == plain_tip(line_of(label.text())) != "", label.text()


def test_every_label_that_is_made_for_terms_tells_them_and_changes_its_tip_with_its_words(
    window: MainWindow,
) -> None:
    for label in window.findChildren(TermLabel):
        assert label.toolTip() == plain_tip(lines_in(label.text()))
    label = TermLabel("roofline")
    label.setText("from a file")
    assert label.toolTip() == ""


def test_a_heading_that_is_a_term_says_what_it_means_unless_it_says_more(window: MainWindow) -> None:
    told: dict[str, str] = {}
    for model in [view.model() for view in window.findChildren(QTableView)]:
        for column in range(model.columnCount()) if isinstance(model, RowsModel) else ():
            title = str(model.headerData(column, Qt.Orientation.Horizontal))
            tip = model.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
            assert tip or not line_of(title), title
            told[title] = str(tip)
    for term in ("verdict", "ratio", "95% interval", "kernel", "bound by", "longest context"):
        assert told[term] == plain_tip(line_of(term))


def test_the_options_of_the_stepper_say_what_they_mean(window: MainWindow) -> None:
    (options,) = window.findChildren(OptionsBar)
    assert options.notation.toolTip() == plain_tip(line_of("slides’ β"))
    for place in range(options.order.count()):
        told = options.order.itemData(place, Qt.ItemDataRole.ToolTipRole)
        assert told == plain_tip(line_of(options.order.itemText(place)))


def test_the_name_of_a_kernel_in_a_legend_says_what_the_kernel_is(window: MainWindow) -> None:
    row, button = LegendRow("flash2", DARK, 20, 0, window).button, KernelButton("flash2")
    for named in (row, button):
        assert named.toolTip().startswith(plain_tip(line_of("flash2")))
