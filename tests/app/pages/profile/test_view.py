"""What a plot shows of its axes: ranges, grids, zooms, and what an empty one says."""

import numpy as np
import pytest

from flashscope.app.pages.profile.four_plots import CELLS
from flashscope.app.words.kinds import words_of
from flashscope.profiles.results.quantities.registry import RUNTIME
from tests.app.bench import Bench
from tests.app.pages.profile.failing import EVENTS
from tests.matrix import chosen


def test_without_a_session_the_plots_say_what_to_do_and_show_the_model(bench: Bench) -> None:
    assert "Press Run" in bench.page.plots.cards["runtime"].plot._hint.toPlainText()
    assert bench.page.plots.cards["footprint"]._series
    bench.sweep(EVENTS)
    assert not bench.page.plots.cards["runtime"].plot._hint.isVisible()


@pytest.mark.matrix
@pytest.mark.parametrize("key", ["runtime", "speed-up"])
def test_what_an_empty_plot_says_stays_in_its_middle_when_other_lengths_are_chosen(
    bench: Bench, key: str
) -> None:
    plot = bench.page.plots.cards[key].plot
    before = plot.getViewBox().viewRect().center()
    bench.page.form.chips.set_seqlens((256, 1 << 24))
    bench.drawn()
    middle = plot.getViewBox().viewRect().center()
    assert middle.x() > before.x() + 1
    assert (plot._hint.pos().x(), plot._hint.pos().y()) == (middle.x(), middle.y())


@pytest.mark.matrix
@chosen("key", [quantity.key for quantity in CELLS], {"footprint", "speed-up"})
def test_log_grid_and_autorange_keep_every_value_in_view(bench: Bench, key: str) -> None:
    bench.sweep(EVENTS)
    plot = bench.page.plots.cards[key].plot
    for _ in range(2):
        bench.page.plots.four.toggle_log()
        bench.page.plots.four.toggle_grid()
        low, high = plot.viewRange()[1]
        values = plot._curves["flash2"].curve.getData()[1]
        assert low <= np.nanmin(values)
        assert np.nanmax(values) <= high
    assert plot.scale_name == words_of(plot.quantity).scale


@pytest.mark.matrix
def test_a_view_the_user_chose_stays_until_autorange(bench: Bench) -> None:
    bench.sweep(EVENTS)
    plot = bench.page.plots.cards[RUNTIME.key].plot
    fitted = plot.viewRange()
    plot.getViewBox().setRange(xRange=(9, 10), padding=0)
    plot.getViewBox().sigRangeChangedManually.emit([True, True])
    bench.page.refresh()
    assert plot.viewRange()[0] == pytest.approx([9, 10])
    bench.page.plots.four.autorange()
    assert plot.viewRange() == fitted


@pytest.mark.matrix
@chosen("logarithmic", [True, False], {True})
def test_zooming_out_ends_before_the_axis_has_no_numbers_left(bench: Bench, *, logarithmic: bool) -> None:
    bench.sweep(EVENTS)
    plot = bench.page.plots.cards[RUNTIME.key].plot
    if not logarithmic:
        plot.toggle_log()
    for _ in range(40):
        plot.getViewBox().scaleBy((10, 10))
    (left, right), (low, high) = plot.viewRange()
    assert right - left < 30
    places = [place for _, level in plot._y_axis.tickValues(low, high, 200) for place in level]
    assert all(plot._y_axis.tickStrings(places, 1.0, 1.0))
