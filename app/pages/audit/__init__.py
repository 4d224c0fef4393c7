"""The Audit page: which attention a model runs, and what another kernel would gain."""

from flashscope.app.pages.audit.page import AuditPage

__all__ = ["AuditPage"]
