"""The page Roofline & Why: what the device reaches, and what binds a point."""

from flashscope.app.pages.roofline.page import RooflinePage

__all__ = ["RooflinePage"]
