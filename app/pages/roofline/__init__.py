"""The Roofline page."""

from app.pages.roofline.page import RooflinePage

__all__ = ["RooflinePage"]
