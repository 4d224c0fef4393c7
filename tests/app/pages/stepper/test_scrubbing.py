import pytest
from PySide6.QtWidgets import QApplication

from flashscope.app.plots.stepper.panel import Panel
from tests.app.pages.stepper.conftest import Bench


def test_a_step_paints_each_panel_at_most_once(
    bench: Bench, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = bench.show("random")
    page.seek(50)
    qapp.processEvents()
    painted: list[str] = []
    paint = Panel.paintEvent

    def counting(panel: Panel, event: object) -> None:
        painted.append(panel.accessibleName())
        paint(panel, event)  # type: ignore[arg-type]  # Qt hands it on

    monkeypatch.setattr(Panel, "paintEvent", counting)
    page.seek(53)
    page.seek(54)
    qapp.processEvents()
    assert len(painted) <= len(page.board.panels) + 1
