"""The memory lanes in little room: nothing on the chip is left out unsaid, no text runs out of its lane."""

import re

import pytest
from PySide6.QtCore import QRectF

from flashscope.app.plots.stepper import held as chips
from flashscope.app.plots.stepper import memory_panel
from flashscope.app.plots.stepper import panel as panels
from flashscope.app.plots.stepper.panel import put, width_of
from flashscope.app.stepper.traffic import on_chip
from tests.app.pages.stepper.conftest import Bench
from tests.matrix import chosen


@chosen("width", [320, 420, 520, 640, 900], {320, 900})
def test_what_is_on_the_chip_is_drawn_or_counted(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    page = bench.show("random")
    panel = page.board.memory
    page.seek(len(page.story.timeline.steps) // 2 if page.story else 0)
    view = panel.view
    assert view is not None
    drawn: list[tuple[str, float, float]] = []

    def noting(painter: object, rect: QRectF, html: str, *rest: object) -> float:
        drawn.append((html, rect.left() + width_of(html, painter.font()), rect.right()))  # type: ignore[attr-defined]
        return put(painter, rect, html, *rest)  # type: ignore[arg-type]

    for module in (memory_panel, chips, panels):
        monkeypatch.setattr(module, "put", noting)
    panel.setParent(None)
    panel.resize(width, 120)
    panel.grab()
    held = [array.label for array in on_chip(view.recording, view.step)]
    texts = [html for html, _, _ in drawn]
    counted = [int(found[1]) for html in texts if (found := re.fullmatch(r"\+(\d+) more", html))]
    assert len(held) == sum(label in texts for label in held) + sum(counted)
    hbm = next(one for one in drawn if one[0].startswith("Q") and one[0] not in held)
    assert hbm[1] <= hbm[2]
    panel.deleteLater()
