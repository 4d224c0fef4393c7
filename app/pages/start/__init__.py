"""The first page of the window."""

from flashscope.app.pages.start.page import StartPage

__all__ = ["StartPage"]
