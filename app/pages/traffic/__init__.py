"""The Traffic page and its parts."""

from app.pages.traffic.page import TrafficPage

__all__ = ["TrafficPage"]
