"""A window on its Planner page."""

import pytest

from app.pages.planner import PlannerPage
from app.shell.main_window import MainWindow
from tests.app.compare.conftest import GPU_PLAN
from tests.app.shell.conftest import Rig, rig, save, window

__all__ = ["GPU_PLAN", "rig", "save", "window"]


@pytest.fixture
def page(rig: Rig, window: MainWindow) -> PlannerPage:
    found = window.pages["planner"]
    assert isinstance(found, PlannerPage)
    window.show_page("planner")
    return found
