"""Names at the ends of curves can be read whatever is drawn there."""

from collections.abc import Sequence

import numpy as np
import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from flashscope.app.look.theme import THEMES, Theme
from flashscope.app.look.zoom import ZOOM
from flashscope.app.plots.sweep.end_labels import EndLabels, Written, _passes
from flashscope.app.plots.sweep.kernel_curves import Ending
from flashscope.app.plots.sweep.sweep_card import SweepCard
from flashscope.app.plots.sweep.sweep_plot import SweepPlot
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.quantities.registry import FOOTPRINT
from tests.profiles.sessions import make_plan, script, session_of

KERNELS = ("standard", "flash2")
LENGTHS = (512, 1024, 2048, 4096)


@pytest.fixture(autouse=True)
def at_100(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ZOOM, "factor", 1.0)


def begun(theme: Theme) -> SweepCard:
    """The footprint of a sweep that has come half of its way: its models go on behind the curves' ends."""
    events = script(make_plan(KERNELS, LENGTHS))
    ended = [k for k, event in enumerate(events) if type(event).__name__ == "PointMeasured"]
    session = session_of(events[: ended[len(KERNELS) * 2 - 1] + 1])
    card = SweepCard(FOOTPRINT, theme)
    card.resize(700, 420)
    card.show()
    QApplication.processEvents()
    card.show_rows(session, rows(session), "standard")
    QApplication.processEvents()
    return card


def names(card: SweepCard) -> list[QImage]:
    """What stands where each name is, and nothing of the rest of the plot."""
    picture, view = card.plot.grab().toImage(), card.plot.getViewBox()
    boxes = [view.mapRectToScene(one.box).toAlignedRect() for one in card.plot.labels.written]
    return [picture.copy(box.adjusted(1, 1, -1, -1)) for box in boxes]


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_no_model_that_goes_on_behind_a_curves_end_strikes_its_name_through(
    qapp: QApplication, theme: Theme
) -> None:
    assert qapp
    card = begun(theme)
    labels = card.plot.labels
    models = labels.pixels(one.model for one in labels._endings)
    assert len(labels.written) == len(KERNELS)
    assert any(_passes(model, one.box) for model in models for one in labels.written)
    struck = names(card)
    for kernel in KERNELS:
        model = card.plot._curves[kernel]._model
        assert model is not None
        model.hide()
    assert struck == names(card)
    card.close()


def test_curves_that_lie_on_each_other_are_named_in_one_line_that_counts_those_it_has_no_room_for(
    qapp: QApplication,
) -> None:
    plot = SweepPlot(FOOTPRINT, THEMES["dark"])
    plot.resize(520, 300)
    plot.show()
    qapp.processEvents()
    plot.getViewBox().setRange(xRange=(0, 1.5), yRange=(0, 1), padding=0)
    kernels = ("flash3", "standard", *(f"flash3-{letter}" for letter in "abcdefghij"))
    ends = [Ending(kernel, np.array([[0.0, 0.1], [1.0, 0.1]])) for kernel in kernels]
    plot.labels.show_endings(ends, "flash3", alone=False)
    written = plot.labels.written
    named = [kernel for one in written for kernel in (one.kernel, *one.beside)]
    assert sorted(named) == sorted(kernels)
    assert ("flash3", ()) in [(one.kernel, one.beside) for one in written]
    assert all(plot.labels.boundingRect().contains(one.box) for one in written)
    (shared,) = [one for one in written if one.beside]
    assert [*plot.labels._parts(shared)][-1][0] == f" +{len(shared.beside) - shared.told}"


def test_names_are_placed_once_when_they_are_painted_however_much_moved_until_then(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert qapp
    card = begun(THEMES["dark"])
    placed: list[EndLabels] = []
    place = EndLabels._placed

    def placing(labels: EndLabels) -> Sequence[Written]:
        placed.append(labels)
        return place(labels)

    monkeypatch.setattr(EndLabels, "_placed", placing)
    before = [one.box for one in card.plot.labels.written]
    card.resize(800, 500)
    card.draw()
    card.plot.autorange()
    assert placed == []
    names(card)
    assert placed == [card.plot.labels]
    assert [one.box for one in card.plot.labels.written] != before
    card.close()
