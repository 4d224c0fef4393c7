"""The pages of the window, in the order of the rail; Ctrl+1 brings the first to the front."""

from importlib import import_module

from app.pages.base import Page
from app.widgets.rail import RailEntry

START = "start"
PAGES = (
    RailEntry("profile", "Profile", "mdi6.chart-line"),
    RailEntry("stepper", "Stepper", "fa6s.table-cells"),
    RailEntry("compare", "Compare", "mdi6.compare-horizontal"),
    RailEntry("sessions", "Sessions", "mdi6.folder-table-outline"),
    RailEntry("planner", "Planner", "mdi6.ruler"),
    RailEntry("traffic", "Traffic", "mdi6.chart-areaspline"),
    RailEntry("roofline", "Roofline", "mdi6.chart-bell-curve-cumulative"),
    RailEntry("claims", "Claims", "mdi6.scale-balance"),
    RailEntry("ladder", "Ladder", "mdi6.ladder"),
)
KEYS = (START, *(page.key for page in PAGES))


def page_class(key: str) -> type[Page]:
    """The class of a page, `ProfilePage` of `app.pages.profile`, loaded when it is asked for.

    The plots take half a second to load, and the start page has none.
    """
    found: type[Page] = getattr(import_module(f"app.pages.{key}"), f"{key.title()}Page")
    return found


def title_of(key: str) -> str:
    """One word for a page."""
    return next((page.title for page in PAGES if page.key == key), "Start")
