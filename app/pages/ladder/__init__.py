"""The page Source: each kernel's source beside its predecessor's, and what it gained."""

from flashscope.app.pages.ladder.page import LadderPage

__all__ = ["LadderPage"]
