"""At 3840 x 2160 and 200 % no text of any view is cut off, and none in a plot stands on another."""

from itertools import combinations

import pytest
from pyqtgraph import TextItem
from PySide6.QtCore import QRectF
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import alike_recordings, bundled_sessions
from flashscope.app.pages.compare import ComparePage
from flashscope.app.pages.registry import VIEWS
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.plots.style import Plot
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from tests.app.rest import come_to_rest
from tests.app.rig import Rig
from tests.app.shell.layout.test_fits import is_cut, texts
from tests.app.stepper.builders import random_trace

MARGIN = 4  # that a text item has around its text


def boxes(plot: Plot) -> dict[str, QRectF]:
    """Where texts stand in a plot, in the scene, by what they say."""
    items = [item for item in plot.scene().items() if isinstance(item, TextItem) and item.isVisible()]
    found = {item.toPlainText(): item.mapRectToScene(item.boundingRect()) for item in items}
    return {text: box.adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN) for text, box in found.items() if text}


@pytest.mark.matrix
@pytest.mark.parametrize("size", [(3840, 2160), (1280, 720)])
@pytest.mark.parametrize("place", [1, 2])
def test_at_200_percent_texts_are_whole_and_apart_in_every_view(
    window: MainWindow, rig: Rig, qtbot: QtBot, size: tuple[int, int], place: int
) -> None:
    rig.open(bundled_sessions()[place])
    compare, stepper = window.pages["compare"], window.pages["stepper"]
    assert isinstance(compare, ComparePage)
    assert isinstance(stepper, StepperPage)
    with qtbot.waitSignal(compare.lineup.found):
        compare.choose(alike_recordings()[:3])
    stepper.show_trace(random_trace())
    window.resize(*size)
    window.appearance.zoom(200)
    window.appearance.finish()
    wrong = []
    try:
        for key in VIEWS:
            window.show_page(key)
            come_to_rest(window.page)
            grab_whole(window)
            wrong += [
                f"{key}: {one.accessibleName() or one!r} is cut" for one in texts(window) if is_cut(one)
            ]
            for plot in window.page.findChildren(Plot):
                found = boxes(plot) if plot.isVisible() else {}
                pairs = combinations(found.items(), 2)
                wrong += [f"{key}: {a} on {b}" for (a, one), (b, other) in pairs if one.intersects(other)]
    finally:
        window.appearance.zoom(100)
        window.appearance.finish()
    assert not wrong, "\n".join(wrong)
