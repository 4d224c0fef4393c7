"""The audits of two sessions beside each other in JSON, as part of the document of a comparison."""

from typing import Any

import msgspec

from flashscope.kernels.workload.audit import ModelPhase, Ran
from flashscope.profiles.results.compare.audited import AuditChange, AuditContrast, AuditSide


class AuditSaid(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of what the document says of audits."""


class AuditSideSaid(AuditSaid, frozen=True, kw_only=True):
    """What one session says of some calls of a step, or of the step, see `AuditSide`."""

    layers: tuple[str, ...]
    ran: tuple[Ran, ...]
    took_ms: tuple[float, ...]
    median_ms: float | None
    share: float | None


class AuditChangeSaid(AuditSaid, frozen=True, kw_only=True):
    """One line of the audits, see `AuditChange`; `implementation` is null unless it is a whole step."""

    model: str
    step: ModelPhase
    implementation: str | None
    kinds: int
    base: AuditSideSaid | None
    other: AuditSideSaid | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    faster: bool | None


class UnlikeSaid(AuditSaid, frozen=True, kw_only=True):
    """What tells two audits of one model apart: their times are not of the same work."""

    model: str
    key: str
    base: Any
    other: Any


class AuditsSaid(AuditSaid, frozen=True, kw_only=True):
    """How the audits differ, see `AuditContrast`."""

    changes: tuple[AuditChangeSaid, ...]
    unlike: tuple[UnlikeSaid, ...]
    base_only: tuple[str, ...]
    other_only: tuple[str, ...]


def audits_said(contrast: AuditContrast | None) -> AuditsSaid | None:
    """What became of audited models; None: neither session has an audit."""
    return contrast and AuditsSaid(
        changes=tuple(map(_change, contrast.lines)),
        unlike=tuple(
            UnlikeSaid(model=model, key=key, base=base, other=other)
            for model, key, base, other in contrast.unlike
        ),
        base_only=contrast.base_only,
        other_only=contrast.other_only,
    )


def _change(change: AuditChange) -> AuditChangeSaid:
    ratio = change.ratio
    return AuditChangeSaid(
        model=change.model,
        step=change.phase,
        implementation=change.implementation or None,
        kinds=change.kinds,
        base=_side(change.base),
        other=_side(change.other),
        ratio=None if ratio is None else ratio.value,
        ratio_low=None if ratio is None else ratio.low,
        ratio_high=None if ratio is None else ratio.high,
        faster=change.faster,
    )


def _side(side: AuditSide | None) -> AuditSideSaid | None:
    return side and AuditSideSaid(
        layers=side.layers, ran=side.ran, took_ms=side.took_ms, median_ms=side.ms, share=side.share
    )
