"""A window on its Planner page."""

import pytest

from flashscope.app.pages.planner import PlannerPage
from flashscope.app.shell.main_window import MainWindow
from tests.app.pages.compare.conftest import GPU_PLAN
from tests.app.rig import Rig

__all__ = ["GPU_PLAN"]


@pytest.fixture
def page(rig: Rig, window: MainWindow) -> PlannerPage:
    found = window.pages["planner"]
    assert isinstance(found, PlannerPage)
    window.show_page("planner")
    return found
