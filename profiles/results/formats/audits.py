"""Audits as JSON has them: what was recorded, and what switching gains by the points that replay it."""

from collections.abc import Sequence

import msgspec

from flashscope.kernels.workload.audit import ModelAudit
from flashscope.profiles.results.compare.switching import Switching, switchings_of
from flashscope.profiles.results.model.rows import PointRow


class AuditDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An audit in JSON, and what follows from it and the session's points."""

    audit: ModelAudit
    switching: tuple[Switching, ...]


def audit_document(audit: ModelAudit, rows: Sequence[PointRow]) -> AuditDocument:
    """An audit with what follows from it."""
    return AuditDocument(audit=audit, switching=tuple(switchings_of(audit, rows)))
