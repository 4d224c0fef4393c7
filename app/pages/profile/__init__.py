"""The page of a session over N: Curves, Telemetry, Results and Notes, and the form of a sweep beside them."""

from flashscope.app.pages.profile.page import ProfilePage

__all__ = ["ProfilePage"]
