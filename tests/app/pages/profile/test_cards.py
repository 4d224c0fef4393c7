"""What stands around a plot."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel

from flashscope.app.look.fonts import ui_font
from flashscope.app.pages.profile.four_plots import CELLS
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.words.kinds import unit_text
from flashscope.profiles.results.model.curves import curve_by_problem
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import FOOTPRINT, RUNTIME
from flashscope.profiles.wire.measurement import Figure
from tests.app.bench import Bench, column_of
from tests.matrix import chosen
from tests.profiles.sessions import make_plan, script


@pytest.fixture
def window_font(qapp: QApplication) -> Iterator[None]:
    """The font that the window gives its pages."""
    before = qapp.font()
    qapp.setFont(ui_font())
    yield
    qapp.setFont(before)


@pytest.mark.matrix
@pytest.mark.usefixtures("window_font")
@chosen("quantity", CELLS, CELLS[:1])
def test_what_a_card_cannot_say_in_the_smallest_window_stands_in_its_tooltip(
    bench: Bench, quantity: Quantity
) -> None:
    bench.page.resize(1208, 651)  # in a window of 1280 x 720
    bench.sweep(script(make_plan(("standard", "flash2"), (512, 1024, 2048))))
    card = bench.page.plots.cards[quantity.key]
    said = unit_text(quantity, "standard" if quantity.relative else None)
    unit = next(label for label in card.findChildren(ElidedLabel) if label.text() == said)
    whole = QLabel.text(unit) == said
    assert whole or said in unit.toolTip()
    assert whole or quantity not in {FOOTPRINT, RUNTIME}
    assert "log" not in said  # a key makes the axis linear


@pytest.mark.matrix
def test_a_cell_without_a_figure_says_why_in_its_tool_tip(bench: Bench) -> None:
    bench.sweep(script(make_plan(("flash2",), (512,))))
    session = bench.controller.session
    assert session is not None
    known = session.points[0].measurement
    assert known is not None
    missing = Figure(missing="NotSupported: no such counter")
    session.points[0].measurement = replace(known, figures={**known.figures, "host_ms": missing})
    model = bench.page.bottom.table.results
    model.set_rows(rows(session), {}, curve_by_problem(rows(session)))
    cell = model.index(0, column_of(bench, "host time"))
    assert cell.data() == "–"
    assert cell.data(Qt.ItemDataRole.ToolTipRole) == "NotSupported: no such counter"
