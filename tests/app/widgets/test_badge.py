"""The provenance badge: a text in a pill."""

import numpy as np
import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.appearance import Appearance
from flashscope.app.look.theme import DARK
from flashscope.app.look.zoom import px
from flashscope.app.widgets.badge import Badge
from flashscope.app.words.results.provenance import Provenance
from tests.app.pixels import pixels

EDGE_PX = 5  # with the border and some of the padding


@pytest.mark.parametrize("percent", [100, 125, 150, 175, 200])
def test_the_text_is_whole_and_in_the_middle_at_the_width_that_the_badge_asks_for(
    qtbot: QtBot, percent: int
) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    appearance, badge = Appearance(app), Badge()
    qtbot.addWidget(badge)
    appearance.dress(badge)
    appearance.zoom(percent)
    appearance.use(DARK)
    badge.apply_theme(DARK)
    badge.show_provenance(Provenance("live", "cpu"))
    asked = badge.sizeHint()
    (left, width, right), (_, whole, _) = (_ink(badge, size) for size in (asked, asked + QSize(px(60), 0)))
    assert width == whole
    assert abs(left - right) <= px(2)
    appearance.zoom(100)
    appearance.finish()


def _ink(badge: Badge, size: QSize) -> tuple[int, int, int]:
    """Pixels left of the text, of the text, and right of it."""
    badge.resize(size)
    drawn = pixels(badge.grab().toImage())
    edge, high = px(EDGE_PX), drawn.shape[0]
    inner = drawn[high // 4 : -high // 4, edge:-edge]
    inked = np.flatnonzero((inner != inner[0, 0]).any(axis=0))
    return int(inked[0]), int(inked[-1] - inked[0]), int(inner.shape[1] - 1 - inked[-1])
