"""The page of saved sessions: the Library, what developed over time, the trash."""

from flashscope.app.pages.sessions.page import SessionsPage

__all__ = ["SessionsPage"]
