"""The Profile page and its parts."""

from app.pages.profile.page import ProfilePage

__all__ = ["ProfilePage"]
