"""The Claims page: what five documents claim of attention, and what came of testing it."""

from flashscope.app.pages.claims.page import ClaimsPage

__all__ = ["ClaimsPage"]
