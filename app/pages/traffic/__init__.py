"""The Traffic page and its parts."""

from flashscope.app.pages.traffic.page import TrafficPage

__all__ = ["TrafficPage"]
