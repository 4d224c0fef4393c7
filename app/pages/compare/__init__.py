"""The Compare page: a baseline and up to five other sessions."""

from app.pages.compare.page import ComparePage

__all__ = ["ComparePage"]
