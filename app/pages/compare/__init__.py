"""The Compare page: a baseline and up to five other sessions."""

from flashscope.app.pages.compare.page import ComparePage

__all__ = ["ComparePage"]
