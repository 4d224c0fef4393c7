"""Names at the ends of curves can be read whatever is drawn there."""

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from flashscope.app.look.theme import THEMES, Theme
from flashscope.app.look.zoom import ZOOM
from flashscope.app.plots.sweep.end_labels import _passes
from flashscope.app.plots.sweep.sweep_card import SweepCard
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
    models = labels._in_view(one.model for one in labels._endings)
    assert len(labels.written) == len(KERNELS)
    assert any(_passes(model, one.box) for model in models for one in labels.written)
    struck = names(card)
    for kernel in KERNELS:
        model = card.plot._curves[kernel]._model
        assert model is not None
        model.hide()
    assert struck == names(card)
    card.close()
