"""What stands around a plot."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from app.fonts import load_fonts, ui_font
from app.plots import SWEEP_PLOTS
from app.plots.footprint import FOOTPRINT
from app.plots.metric import Metric
from app.plots.runtime import RUNTIME
from app.widgets.elided import ElidedLabel
from tests.app.profile.builders import make_plan, script
from tests.app.profile.conftest import Bench


@pytest.fixture
def window_font(qapp: QApplication) -> Iterator[None]:
    """The font that the window gives its pages."""
    load_fonts()
    before = qapp.font()
    qapp.setFont(ui_font())
    yield
    qapp.setFont(before)


@pytest.mark.usefixtures("window_font")
@pytest.mark.parametrize("metric", SWEEP_PLOTS, ids=lambda metric: metric.key)
def test_what_a_card_cannot_say_in_the_smallest_window_stands_in_its_tooltip(
    bench: Bench, metric: Metric
) -> None:
    bench.page.resize(1208, 651)  # in a window of 1280 x 720
    bench.sweep(script(make_plan(("standard", "flash2"), (512, 1024, 2048))))
    card = bench.page.plots.cards[metric.key]
    unit = next(label for label in card.findChildren(ElidedLabel) if label.full_text == metric.unit)
    whole = unit.text() == metric.unit
    assert whole or unit.toolTip() == metric.unit
    assert whole or metric not in {FOOTPRINT, RUNTIME}
    assert "log" not in metric.unit  # a key makes the axis linear
