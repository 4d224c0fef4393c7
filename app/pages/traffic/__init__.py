"""The Traffic page: what one run of each kernel moves to and from DRAM, over its time."""

from flashscope.app.pages.traffic.page import TrafficPage

__all__ = ["TrafficPage"]
