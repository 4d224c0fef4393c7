"""The Roofline page."""

from flashscope.app.pages.roofline.page import RooflinePage

__all__ = ["RooflinePage"]
