"""The view of a kernel of the user's own that is measured at each save of its file."""

from flashscope.app.pages.watch.page import WatchPage

__all__ = ["WatchPage"]
