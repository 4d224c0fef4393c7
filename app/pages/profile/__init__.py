"""The Profile page and its parts."""

from flashscope.app.pages.profile.page import ProfilePage

__all__ = ["ProfilePage"]
