"""How often what is on the page is painted and laid out, in counts, which no neighbour changes."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from math import log10
from typing import Any

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from flashscope.app.pages.profile.crosshair_panel import CrosshairPanel
from flashscope.app.pages.profile.headline_bar import HeadlineBar
from flashscope.app.pages.profile.results_table import ResultsTable
from flashscope.app.plots.sweep.kernel_curves import KernelCurves
from flashscope.app.plots.sweep.sweep_plot import SweepPlot
from flashscope.profiles.wire.events import PointProgress, PointStarted
from tests.app.bench import Bench
from tests.app.mouse import wheel
from tests.app.pages.profile.failing import EVENTS, KERNELS
from tests.profiles.sessions import make_plan, script

OTHERS = ("flash1", "flash3", "simt", "standard")


class Seen(QObject):
    """Counts events of one kind by the widget that they are for."""

    def __init__(self, kind: QEvent.Type) -> None:
        super().__init__()
        self._kind = kind
        self.counts = Counter[QObject]()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.counts[watched] += event.type() == self._kind
        return False


@contextmanager
def counted(kind: QEvent.Type, *widgets: QObject) -> Iterator[Counter[QObject]]:
    """How many events of a kind come for each of these."""
    seen = Seen(kind)
    for widget in widgets:
        widget.installEventFilter(seen)
    yield seen.counts
    for widget in widgets:
        widget.removeEventFilter(seen)


@pytest.fixture
def wide(bench: Bench) -> Bench:
    """A page with all four plots beside their panel, painted."""
    bench.page.resize(1400, 1000)
    bench.sweep(EVENTS)
    bench.settle()
    return bench


def plots_of(bench: Bench) -> list[SweepPlot]:
    return [card.plot for card in bench.page.plots.cells]


def test_a_plot_of_another_size_is_painted_once(wide: Bench) -> None:
    viewports = [plot.viewport() for plot in plots_of(wide)]
    before = [viewport.width() for viewport in viewports]
    with counted(QEvent.Type.Paint, *viewports) as painted:
        wide.page.resize(1360, 1000)
        wide.settle()
    assert all(viewport.width() < width for viewport, width in zip(viewports, before, strict=True))
    assert painted == dict.fromkeys(viewports, 1)


@pytest.mark.matrix  # it takes a second
def test_a_notch_of_the_wheel_paints_each_plot_once_and_measures_no_curve(
    wide: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    plots = plots_of(wide)
    viewports = [plot.viewport() for plot in plots]
    wheel(plots[1], 1)  # a part is on show from now on, which a button tells
    wide.settle()
    asked: list[object] = []
    for kind in (pg.PlotCurveItem, pg.ScatterPlotItem):

        def bounds(item: Any, *place: Any, measure: Any = kind.dataBounds, **options: Any) -> Any:
            asked.append(item)
            return measure(item, *place, **options)

        monkeypatch.setattr(kind, "dataBounds", bounds)
    before = [plot.viewRange()[0] for plot in plots]
    with counted(QEvent.Type.Paint, *viewports) as painted:
        wheel(plots[1], 1)
        wide.settle()
    assert all(plot.viewRange()[0] != view for plot, view in zip(plots, before, strict=True))
    assert painted == dict.fromkeys(viewports, 1)
    rails = {plot.rail.scatter for plot in plots}  # the pointer asks what it is on there
    assert set(asked) <= rails


@pytest.mark.matrix
def test_a_notch_of_the_wheel_over_the_telemetry_paints_ruler_and_lanes_once(wide: Bench) -> None:
    wide.page.show_view("telemetry")
    wide.settle()
    strip = wide.page.bottom.strip
    plots = [strip.ruler, *(lane for lane in strip.lanes.values() if lane.isVisible())]
    assert len(plots) > 2
    viewports, before = [plot.viewport() for plot in plots], [plot.viewRange()[0] for plot in plots]
    wheel(plots[1], 1)
    wide.settle()
    with counted(QEvent.Type.Paint, *viewports) as painted:
        wheel(plots[1], 1)
        wide.settle()
    assert all(plot.viewRange()[0] != view for plot, view in zip(plots, before, strict=True))
    assert painted == dict.fromkeys(viewports, 1)


@pytest.mark.matrix  # it takes a second
def test_how_far_a_point_has_come_draws_no_curve_row_or_sentence_anew(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = script(make_plan(KERNELS, (512, 1024)))
    begun = next(place for place, event in enumerate(events) if isinstance(event, PointStarted))
    bench.sweep(events[: begun + 1])
    bench.settle()
    drawn: list[str] = []

    def noting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def note(*arguments: Any, **options: Any) -> Any:
            drawn.append(name)
            return method(*arguments, **options)

        return note

    for owner, name in (
        (KernelCurves, "set_series"),
        (ResultsTable, "show_rows_in_steps"),
        (HeadlineBar, "say"),
        (CrosshairPanel, "show_figures"),
    ):
        monkeypatch.setattr(owner, name, noting(name, getattr(owner, name)))
    plot = bench.page.plots.cards["runtime"].plot
    for last_ms in (3.0, 4.0):
        bench.tell([PointProgress(index=0, phase="measure", done=3, total=10, last_ms=last_ms)])
        bench.settle()
        assert plot._flight.getData()[1].tolist() == pytest.approx([log10(last_ms)])
    assert drawn == []
    bench.tell(events[begun + 1 :])
    bench.settle()
    assert set(drawn) == {"set_series", "show_rows_in_steps", "say", "show_figures"}


@pytest.mark.matrix
def test_a_panel_of_other_kernels_takes_another_height_once_and_at_the_end(bench: Bench) -> None:
    bench.page.resize(700, 640)
    bench.sweep(EVENTS)
    bench.settle()
    panel, plots = bench.page.plots.panel, plots_of(bench)
    assert list(panel.kernels) == list(KERNELS)
    card = plots[0].parentWidget()
    assert card is not None
    assert panel.y() > card.y()
    shown = [plot for plot in plots if plot.isVisible()]
    with counted(QEvent.Type.Resize, panel, *plots) as resized:
        for _step in panel.set_kernels(OTHERS):
            QApplication.processEvents()
            assert list(panel.kernels) == list(OTHERS) or not resized.total()
        bench.settle()
    assert list(panel.kernels) == list(OTHERS)
    assert shown
    assert resized == dict.fromkeys((panel, *shown), 1)


@pytest.mark.matrix
def test_rows_of_the_panel_that_were_made_before_it_is_begun_anew_are_not_made_again(bench: Bench) -> None:
    panel = bench.page.plots.panel
    bench.drawn()
    for _step in islice(panel.set_kernels(OTHERS), 2):
        pass
    made = dict(panel._made)
    assert list(made) == ["flash1", "flash3"]
    list(panel.set_kernels(("flash3", "flash2")))
    assert panel._rows["flash3"] is made["flash3"]
    assert panel.kernels == ("flash3", "flash2")
    assert made["flash1"].button.isHidden()


@pytest.mark.matrix
def test_plots_have_their_new_size_before_one_is_painted_where_the_telemetry_goes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = script(make_plan(("standard", "flash2"), (512, 1024)))
    bench.page.run()
    bench.tell(events[:4])
    bench.settle()
    cells = bench.page.plots.cells
    low = cells[0].height()
    assert bench.page.bottom.isVisible()
    monkeypatch.setattr(type(bench.controller), "moving", property(lambda _: False))
    bench.page.place_parts()
    assert not any(cell.updatesEnabled() for cell in cells)
    assert cells[0].height() > low


@pytest.mark.matrix
def test_the_turn_that_ends_a_sweep_gives_no_plot_another_size_that_comes_in_the_next(bench: Bench) -> None:
    events = script(make_plan(("standard", "flash2"), (512, 1024)))
    bench.page.run()
    bench.tell(events[:-1])
    bench.settle()
    cells, turns = bench.page.plots.cells, bench.page._turns
    standing = (True, cells[0].height(), True)
    seen = []
    bench.controller.events_arrived.connect(
        lambda _: seen.append(
            (bench.page.bottom.isVisible(), cells[0].height(), cells[0].updatesEnabled(), turns.idle)
        )
    )
    bench.tell(events[-1:])
    assert not bench.controller.running
    assert seen == [(*standing, False)]
    assert not bench.page.bottom.isVisible()
    assert cells[0].height() > standing[1]
