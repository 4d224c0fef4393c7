"""The page that shows when and where each stage of a kernel ran."""

from flashscope.app.pages.timeline.page import TimelinePage

__all__ = ["TimelinePage"]
