"""The pages of the window, in the order of the rail; Ctrl+1 brings the first to the front, Ctrl+9 the ninth.

A page is its module and its entry here.
"""

from dataclasses import dataclass
from importlib import import_module

from flashscope.app.pages.base import Page
from flashscope.app.widgets.rail import RailEntry

START = "start"
SHOWING = "profile"  # the page that shows the session on show


@dataclass(frozen=True)
class PageEntry(RailEntry):
    """One page of the rail.

    Attributes:
        follows: Whether the page is made when a sweep begins, to follow all of it.
    """

    follows: bool = False


PAGES = (
    PageEntry("profile", "Profile", "mdi6.chart-line", follows=True),
    PageEntry("stepper", "Stepper", "fa6s.table-cells"),
    PageEntry("compare", "Compare", "mdi6.compare-horizontal", follows=True),
    PageEntry("sessions", "Sessions", "mdi6.folder-table-outline"),
    PageEntry("planner", "Planner", "mdi6.ruler"),
    PageEntry("traffic", "Traffic", "mdi6.chart-areaspline"),
    PageEntry("roofline", "Roofline", "mdi6.chart-bell-curve-cumulative"),
    PageEntry("claims", "Claims", "mdi6.scale-balance"),
    PageEntry("ladder", "Ladder", "mdi6.ladder"),
)
KEYS = (START, *(page.key for page in PAGES))


def page_class(key: str) -> type[Page]:
    """The class of a page, `ProfilePage` of `app.pages.profile`, loaded when it is asked for.

    The plots take half a second to load, and the start page has none.
    """
    found: type[Page] = getattr(import_module(f"flashscope.app.pages.{key}"), f"{key.title()}Page")
    return found


def title_of(key: str) -> str:
    """One word for a page."""
    return next((page.title for page in PAGES if page.key == key), "Start")
