"""The Planner page: how long a context of a model fits, and what its attention would take."""

from flashscope.app.pages.planner.page import PlannerPage

__all__ = ["PlannerPage"]
