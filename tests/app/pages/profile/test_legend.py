"""The panel beside the plots: its legend, its figures, its room."""

import pytest
from PySide6.QtWidgets import QApplication

from flashscope.app.look.fonts import ui_font
from flashscope.app.look.kernel_marks import KERNEL_MARKS
from flashscope.app.widgets.frame.reading_order import reading_order
from flashscope.kernels.catalogue.registry import KERNELS as KNOWN
from tests.app.bench import Bench
from tests.app.pages.profile.failing import EVENTS, KERNELS


@pytest.mark.matrix
def test_another_baseline_divides_by_it(bench: Bench) -> None:
    bench.sweep(EVENTS)
    panel = bench.page.plots.panel
    bench.page.plots.context.baseline_chosen.emit("flash2")
    bench.page.plots.move_cursor(512)
    bench.drawn()
    assert panel.figure("flash2", "speed-up") == "1.00×"
    assert bench.page.plots.cards["speed-up"].title == "Speed-up over flash2"


def test_a_name_in_the_legend_hides_its_curves_and_keeps_its_figures(bench: Bench) -> None:
    bench.sweep(EVENTS)
    plots = bench.page.plots
    plots.move_cursor(512)
    before = plots.panel.figure("standard", "runtime")
    plots.panel.button("standard").click()
    bench.drawn()
    for card in plots.cards.values():
        assert not card.plot._curves["standard"].curve.isVisible()
        assert card.plot._curves["flash2"].curve.isVisible()
        export = card.make_export()
        assert export is not None
        assert list(export.kernels) == ["flash2"]
    assert plots.panel.figure("standard", "runtime") == before
    assert plots.panel.figure("flash2", "speed-up") != "–"  # the baseline is hidden, not gone
    plots.panel.button("standard").click()
    bench.drawn()
    assert all(card.plot._curves["standard"].curve.isVisible() for card in plots.cards.values())


@pytest.mark.matrix
def test_without_room_beside_the_plots_the_panel_goes_under_them_and_the_form_can_make_room(
    bench: Bench,
) -> None:
    bench.sweep(EVENTS)
    bench.page.open_form(True)
    plots = bench.page.plots
    lowest = max(card.geometry().bottom() for card in plots.cards.values())
    assert plots.panel.y() < lowest
    bench.page.resize(900, 900)
    bench.qtbot.waitUntil(lambda: plots.panel.y() > max(c.geometry().bottom() for c in plots.cards.values()))
    assert plots.panel.width() == plots.width()
    next(action for action in bench.page.actions_offered() if action.key == "profile.form").trigger()
    assert not bench.page.form.isVisible()
    bench.qtbot.waitUntil(lambda: plots.panel.x() > plots.cards["runtime"].geometry().right())


@pytest.mark.matrix
def test_tab_goes_from_the_plots_through_the_legend_in_its_order(bench: Bench) -> None:
    bench.sweep(EVENTS)
    panel = bench.page.plots.panel
    bench.drawn()
    QApplication.processEvents()
    stops = [one for one in reading_order(bench.page) if panel.isAncestorOf(one)]
    assert stops == [panel.inside, *(panel.button(kernel) for kernel in KERNELS)]


@pytest.mark.matrix
@pytest.mark.parametrize("names", [tuple(spec.name for spec in KNOWN), tuple(KERNEL_MARKS)])
def test_every_figure_and_name_beside_the_plots_is_whole(bench: Bench, names: tuple[str, ...]) -> None:
    bench.page.setFont(ui_font())
    panel = bench.page.plots.panel
    bench.drawn()  # a turn to come would draw other kernels' figures
    list(panel.set_kernels(names))
    for name in names:
        panel.show_figures(name, ["72.7 GiB", "0.652 ms", "0.142×", "1234"])
    QApplication.processEvents()
    assert panel.button(names[-1]).isVisible()
    bench.page.grab()
    for name in names:
        row = panel._rows[name]
        for label in row.values:
            assert label.width() >= label.fontMetrics().horizontalAdvance(label.text()), (name, label.text())
        room = row.button.width() - row.button.iconSize().width() - 12
        assert room >= row.button.fontMetrics().horizontalAdvance(name), name


@pytest.mark.matrix
def test_where_kernels_stand_beside_each_other_figures_are_named_and_stand_by_their_own_kernel(
    bench: Bench,
) -> None:
    panel = bench.page.plots.panel
    bench.page.resize(1200, 640)
    bench.sweep(EVENTS)
    bench.drawn()
    panel.stand(2, 2)
    QApplication.processEvents()
    first = panel._rows["standard"]
    left, right = panel.button("standard").geometry(), panel.button("flash2").geometry()
    value = first.values[1].geometry()
    assert value.left() - left.right() < right.left() - value.right()
    assert panel._title.text().endswith(": footprint, runtime")
    panel.stand(1, 4)
    assert ":" not in panel._title.text()


@pytest.mark.matrix
def test_names_come_in_the_same_turn_as_their_figures(bench: Bench) -> None:
    bench.sweep(EVENTS)
    panel = bench.page.plots.panel
    assert panel.kernels
    assert not [name for name in panel.kernels if panel.button(name).isHidden()]
