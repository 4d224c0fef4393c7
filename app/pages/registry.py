"""The places of the window, in the order of the rail, and the views of each; Ctrl+1 leads to the first.

A view is a page, or one of the forms that a page takes. A page is its module and its view here.
"""

from dataclasses import dataclass
from importlib import import_module

from flashscope.app.pages.base import Page
from flashscope.app.widgets.frame.rail import RailEntry

START = "start"
SHOWING = "profile"  # the view that shows the session on show


@dataclass(frozen=True)
class ViewEntry:
    """One tab of a place.

    Attributes:
        key: Stable name, that of the page where it has one form; stories and actions know it by this.
        title: One or two words.
        page: The page whose form it is; empty: the page of its own key.
        keys: Portable key sequences that bring it to the front, wherever one is.
        own_keys: Those that do so while its page is in front, or one of those beside.
        beside: Pages of the same place whose own keys leave these alone.
        follows: Whether the page is told of every sweep that has ended, and is made for that.
    """

    key: str
    title: str
    page: str = ""
    keys: str = ""
    own_keys: str = ""
    beside: tuple[str, ...] = ()
    follows: bool = False

    @property
    def page_key(self) -> str:
        """The key of the page that is shown."""
        return self.page or self.key


@dataclass(frozen=True)
class PlaceEntry(RailEntry):
    """One button of the rail.

    Attributes:
        views: Its tabs; one alone has no tab.
    """

    views: tuple[ViewEntry, ...] = ()


_OF_A_SESSION = ("traffic", "roofline", "ranks")
PLACES = (
    PlaceEntry("home", "Home", "mdi6.home-outline", (ViewEntry(START, "Home", keys="Ctrl+0"),)),
    PlaceEntry(
        "measure",
        "Measure",
        "mdi6.chart-line",
        (
            ViewEntry("profile", "Curves"),
            ViewEntry("traffic", "Traffic", keys="Ctrl+6"),
            ViewEntry("roofline", "Roofline & Why", keys="Ctrl+7"),
            ViewEntry("ranks", "Ranks"),
            ViewEntry("telemetry", "Telemetry", "profile", own_keys="T", beside=_OF_A_SESSION),
            ViewEntry("results", "Results", "profile", own_keys="R", beside=_OF_A_SESSION),
            ViewEntry("notes", "Notes", "profile", own_keys="N", beside=_OF_A_SESSION),
        ),
    ),
    PlaceEntry(
        "inside",
        "Inside",
        "fa6s.table-cells",
        (
            ViewEntry("stepper", "Stepper"),
            ViewEntry("timeline", "Timeline"),
            ViewEntry("ladder", "Source", keys="Ctrl+9"),
            ViewEntry("designer", "Designer"),
            ViewEntry("watch", "Watch"),
        ),
    ),
    PlaceEntry(
        "sessions",
        "Sessions",
        "mdi6.folder-table-outline",
        (
            ViewEntry("sessions", "Library"),
            ViewEntry("compare", "Compare", follows=True),
            ViewEntry("trend", "Over time", "sessions", own_keys="O"),
            ViewEntry("trash", "Trash", "sessions"),
        ),
    ),
    PlaceEntry(
        "learn",
        "Learn",
        "mdi6.school-outline",
        (
            ViewEntry("claims", "Claims", keys="Ctrl+8"),
            ViewEntry("planner", "Planner"),
            ViewEntry("audit", "Audit"),
        ),
    ),
)
VIEWS = {view.key: view for place in PLACES for view in place.views}
KEYS = tuple(dict.fromkeys(view.page_key for view in VIEWS.values()))
"""The keys of all pages."""


def page_class(key: str) -> type[Page]:
    """The class of a page, `ProfilePage` of `app.pages.profile`, loaded when it is asked for.

    The plots take half a second to load, and the start page has none.
    """
    found: type[Page] = getattr(import_module(f"flashscope.app.pages.{key}"), f"{key.title()}Page")
    return found


def place_of(view: str) -> PlaceEntry:
    """The place that has a view, by the view's key."""
    return next(place for place in PLACES if any(one.key == view for one in place.views))


def title_of(view: str) -> str:
    """What a view is called."""
    return VIEWS[view].title
