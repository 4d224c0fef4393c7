"""A comparison as one JSON document. The structs are its schema: `comparison.schema.json` is made of them.

Missing is null, and then `reason` says why. Ratios are the other session's value over the baseline's.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from flashscope.kernels.workload.problem import Backend, Passes
from flashscope.profiles.results.compare.audited import audit_contrast
from flashscope.profiles.results.compare.audited_document import AuditsSaid, audits_said
from flashscope.profiles.results.compare.model import (
    Comparison,
    Contrast,
    Difference,
    Lone,
    Pair,
    PairVerdict,
    Reach,
)
from flashscope.profiles.results.compare.regressions import Regressions
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import PointStatus
from flashscope.profiles.wire.measurement import Figure

SCHEMA = Path(__file__).with_name("comparison.schema.json")


class ComparisonSaid(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every object of the document."""


class SessionSaid(ComparisonSaid, frozen=True, kw_only=True):
    """One of the sessions."""

    id: str
    name: str
    file: str | None
    started_at: str
    backend: Backend
    device: str | None


class PointSaid(ComparisonSaid, frozen=True, kw_only=True):
    """Which point is meant; fields as in `show --json`."""

    kernel: str
    seqlen: int
    seqlen_k: int
    batch: int
    heads: int
    kv_heads: int
    head_dim: int
    dtype: str
    causal: bool
    window: tuple[int, int] | None
    block_mask: str
    scale: float | None
    seed: int
    passes: Passes = msgspec.field(name="pass")
    deterministic: bool
    query_lengths: tuple[int, ...] | None
    key_lengths: tuple[int, ...] | None
    page_size: int | None
    softcap: float | None
    sinks: bool
    alibi: bool
    head_dim_v: int | None


class PairSaid(PointSaid, frozen=True, kw_only=True):
    """One pair, see `Pair`; `base` and `other` are the quantity's values."""

    base_status: PointStatus
    other_status: PointStatus
    base: float | None
    other: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    verdict: PairVerdict | None
    better: bool | None
    threshold: float | None
    detectable: float | None
    p: float | None
    ratio_in_cycles: float | None
    by_clock: bool
    reason: str


class LoneSaid(PointSaid, frozen=True, kw_only=True):
    """A point without a partner, the nearest on the other side, and what differs between them."""

    status: PointStatus
    nearest: PointSaid | None
    reason: str


class DifferenceSaid(ComparisonSaid, frozen=True, kw_only=True):
    """One circumstance that differs, see `Difference`."""

    key: str
    title: str
    base: str
    other: str
    explains: Reach
    kernels: tuple[str, ...]
    sentence: str


class ContrastSaid(ComparisonSaid, frozen=True, kw_only=True):
    """The baseline and one other session; `audits` is null where neither has any."""

    session: SessionSaid
    runs: tuple[SessionSaid, ...]
    summary: str
    circumstances: tuple[DifferenceSaid, ...]
    pairs: tuple[PairSaid, ...]
    base_only: tuple[LoneSaid, ...]
    other_only: tuple[LoneSaid, ...]
    audits: AuditsSaid | None


class RegressionsSaid(ComparisonSaid, frozen=True, kw_only=True):
    """What `--fail-on-regression` found, see `Regressions`; points that are undecided fail, too."""

    share: float
    worse: int
    broken: int
    missing: int
    unjudged: int
    inconclusive: int
    undecided: int


class ComparisonDocument(ComparisonSaid, frozen=True, kw_only=True):
    """The whole.

    `caution` says why the rounds can decide nothing, `regressions` is null where they were not asked for.
    """

    format: Literal[1] = 1
    quantity: str
    unit: str
    base: SessionSaid
    base_runs: tuple[SessionSaid, ...]
    caution: str
    comparisons: tuple[ContrastSaid, ...]
    regressions: RegressionsSaid | None


def comparison_schema() -> dict[str, Any]:
    """The document's JSON schema (2020-12)."""
    made = msgspec.json.schema(ComparisonDocument)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Comparison", **made}


def comparison_document(
    comparison: Comparison,
    unit: str,
    files: Sequence[Sequence[str | None]],
    regressions: Regressions | None = None,
) -> ComparisonDocument:
    """The comparison as its document.

    Args:
        comparison: What to write.
        unit: Of the quantity's values.
        files: The files of each side's runs, the baseline's first; None: a run has none.
        regressions: What was found of those, None where they were not asked for.
    """
    others = zip(comparison.contrasts, files[1:], strict=True)
    return ComparisonDocument(
        quantity=comparison.quantity.key,
        unit=unit,
        base=_session(comparison.base, files[0][0]),
        base_runs=_runs(comparison.contrasts[0].base_runs, files[0]),
        caution=comparison.caution,
        comparisons=tuple(_contrast(one, runs) for one, runs in others),
        regressions=regressions and RegressionsSaid(**regressions._asdict()),
    )


def _session(session: Session, file: str | None) -> SessionSaid:
    device = session.machine.device(session.backend)
    return SessionSaid(
        id=session.id,
        name=session.name,
        file=file and file.encode(errors="surrogateescape").decode(errors="replace"),
        started_at=session.started_at,
        backend=session.backend,
        device=device.name if device else None,
    )


def _runs(runs: Sequence[Session], files: Sequence[str | None]) -> tuple[SessionSaid, ...]:
    return tuple(_session(run, file) for run, file in zip(runs, files, strict=True))


def _contrast(contrast: Contrast, files: Sequence[str | None]) -> ContrastSaid:
    return ContrastSaid(
        session=_session(contrast.other, files[0]),
        runs=_runs(contrast.other_runs, files),
        summary=contrast.summary,
        circumstances=tuple(map(_difference, contrast.differences)),
        pairs=tuple(map(_pair, contrast.pairs)),
        base_only=tuple(map(_lone, contrast.base_only)),
        other_only=tuple(map(_lone, contrast.other_only)),
        audits=audits_said(audit_contrast(contrast.base, contrast.other)),
    )


def _difference(one: Difference) -> DifferenceSaid:
    return DifferenceSaid(
        key=one.key,
        title=one.title,
        base=one.base,
        other=one.other,
        explains=one.reach,
        kernels=one.kernels,
        sentence=one.sentence,
    )


def _point(row: PointRow) -> dict[str, Any]:
    problem = row.problem
    return {
        "kernel": row.kernel,
        "seqlen": problem.seqlen_q,
        "seqlen_k": problem.seqlen_k,
        "batch": problem.batch,
        "heads": problem.heads,
        "kv_heads": problem.key_heads,
        "head_dim": problem.head_dim,
        "dtype": problem.dtype,
        "causal": problem.causal,
        "window": problem.window,
        "block_mask": row.block_mask,
        "scale": problem.scale,
        "seed": problem.seed,
        "passes": problem.passes,
        **row.asked,
    }


def _pair(pair: Pair) -> PairSaid:
    return PairSaid(
        **_point(pair.base),
        base_status=pair.base.status,
        other_status=pair.other.status,
        base=_value(pair.base_figure),
        other=_value(pair.other_figure),
        ratio=pair.ratio,
        ratio_low=pair.ratio_low,
        ratio_high=pair.ratio_high,
        verdict=pair.verdict,
        better=pair.better,
        threshold=pair.threshold,
        detectable=pair.detectable,
        p=pair.p,
        ratio_in_cycles=pair.cycles,
        by_clock=pair.by_clock,
        reason=pair.reason,
    )


def _value(figure: Figure | None) -> float | None:
    """A value that JSON can hold."""
    known = None if figure is None else figure.value
    return known if known is not None and math.isfinite(known) else None


def _lone(lone: Lone) -> LoneSaid:
    return LoneSaid(
        **_point(lone.row),
        status=lone.row.status,
        nearest=None if lone.nearest is None else PointSaid(**_point(lone.nearest)),
        reason=lone.reason,
    )
