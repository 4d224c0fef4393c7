"""Home: ways to begin, recordings, recent sessions and stories."""

from flashscope.app.pages.start.page import StartPage

__all__ = ["StartPage"]
