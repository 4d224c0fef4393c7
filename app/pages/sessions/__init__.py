"""The page of saved sessions."""

from flashscope.app.pages.sessions.page import SessionsPage

__all__ = ["SessionsPage"]
