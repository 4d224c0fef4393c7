"""A session in formats that other programs read: CSV with a header of metadata, and one JSON document."""

import csv
import io
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import asdict

from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.formats.audits import audit_document
from flashscope.profiles.results.formats.cells import cell, comment
from flashscope.profiles.results.formats.json_groups import (
    clocks_of,
    energy_of,
    ledger_of,
    rejected_of,
    traffic_of,
)
from flashscope.profiles.results.formats.landscapes import landscape_document
from flashscope.profiles.results.formats.ranks import ranks_documents, ranks_lines
from flashscope.profiles.results.model.bookmarks import on_moments, on_points
from flashscope.profiles.results.model.curves import baselines
from flashscope.profiles.results.model.drift import Drift, drift_text, drifts
from flashscope.profiles.results.model.efficiency import efficiency_document
from flashscope.profiles.results.model.parts import SessionPart, part_text, parts, warnings
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.registry import QUANTITIES, favoured_baseline
from flashscope.profiles.results.theory.why import whys
from flashscope.profiles.wire.measurement import Figure

FIRST = (
    "kernel",
    "backend",
    "seqlen",
    "seqlen_k",
    "batch",
    "heads",
    "head_dim",
    "dtype",
    "causal",
    "status",
    "reason",
    "predicted_bytes",
    "runtime_ms_median",
    "runtime_ms_q1",
    "runtime_ms_q3",
    "samples",
    "cold",
    "tflops",
    "footprint_bytes",
    "allocator_peak_bytes",
    "max_abs_error",
    "error_bound",
    "note",
    "kv_heads",
    "window",
    "kept_share",
    "block_mask",
    "dense_tflops",
)
"""The first columns of a point, in the order in which programs that read our files know them."""


def to_csv(session: Session, provenance: str = "") -> str:
    """One line a point; lines starting with # before it say what was measured where. Missing is empty.

    Of a session that has no points: one line a pass on several ranks.

    Args:
        session: What to write.
        provenance: Where its figures come from in words, as a recording or measured now; empty: not told.
    """
    text = io.StringIO()
    told = {"provenance": provenance} if provenance else {}
    for name, value in (metadata(session) | told).items():
        text.write(comment(name, value))
    notes = on_points(session.bookmarks)
    points = [export_columns(row, baseline, notes) for row, baseline in rows_with_baselines(session)]
    if not points:
        csv.writer(text, lineterminator="\n").writerows(ranks_lines(session.ranks))
        return text.getvalue()
    table = csv.DictWriter(text, points[0], lineterminator="\n")
    table.writeheader()
    table.writerows(_line(point) for point in points)
    return text.getvalue()


def to_json(session: Session, path: str | None = None, provenance: str = "") -> bytes:
    """`{"session": {}, "points": [], "ceilings": [], "drift": [], "parts": [], "efficiency": {}}`.

    Missing and NaN are null.

    Beside its columns a point has `ledger`, `traffic` by tier, `energy`, `clocks` and `rejected` (samples by
    reason), each figure with source and spread, or null and why it is missing; `figures`: every quantity's
    figure alike, also of those that are not known here; and `why`: what explains its runtime.

    Args:
        session: What to write.
        path: The session's file, None when it has none.
        provenance: Where its figures come from in words, as a recording or measured now; empty: not told.
    """
    notes = on_points(session.bookmarks)
    document: dict[str, Any] = {
        "session": described(session, path, provenance),
        "points": [
            export_columns(row, baseline, notes) | _in_full(row, baseline) | {"why": reason}
            for (row, baseline), reason in zip(rows_with_baselines(session), whys(session), strict=True)
        ],
        "ceilings": [{"part": part} | asdict(known) for part, known in sorted(session.ceilings.items())],
        "drift": list(map(_drift, drifts(session))),
        "parts": list(map(_part, parts(session))),
        "efficiency": efficiency_document(session),
        "landscapes": list(map(landscape_document, session.landscapes)),
        "audits": [audit_document(audit, rows(session)) for audit in session.audits],
        "ranks": ranks_documents(session.ranks),
    }
    return msgspec.json.encode(document)


def described(session: Session, path: str | None = None, provenance: str = "") -> dict[str, Any]:
    """Who measured what, where and how, as JSON has it; the arguments are those of `to_json`."""
    return {
        "id": session.id,
        "name": session.name,
        "note": session.note,
        "tags": session.tags,
        "bookmarks": session.bookmarks,
        "file": path and path.encode(errors="surrogateescape").decode(errors="replace"),
        "started_at": session.started_at,
        "outcome": session.outcome,
        "backend": session.backend,
        "device": session.machine.device(session.backend),
        "machine": session.machine,
        "plan": session.plan,
        "readings": len(session.readings),
        "traces": len(session.traces),
        "backward_traces": len(session.backward_traces),
        "timelines": len(session.timelines),
        "stall_profiles": len(session.stalls),
        "altered": session.altered,
        "baseline": favoured_baseline(session.plan.kernels),
        "provenance": provenance,
        "devices": [
            _device(session, part, number)
            for part in range(1, len(session.resumed) + 2)
            for number in range(len(session.machines(part)))
        ],
    }


def _device(session: Session, part: int, number: int) -> dict[str, Any]:
    """One of the devices of a part; points name it as what they were measured on."""
    machine = session.machines(part)[number]
    return {
        "part": part,
        "number": number,
        "device": machine.device(session.backend),
        "system": machine.system,
        "driver": machine.driver,
    }


def _drift(drift: Drift) -> dict[str, Any]:
    return drift._asdict() | {"ratio": drift.ratio, "beyond_noise": drift.beyond_noise}


def _part(part: SessionPart) -> dict[str, Any]:
    return part._asdict() | {
        "version": part.version,
        "drifts": list(map(_drift, part.drifts)),
        "warnings": part.warnings,
    }


def rows_with_baselines(session: Session) -> list[tuple[PointRow, PointRow | None]]:
    """Every point beside the baseline of its problem."""
    points = rows(session)
    known = baselines(points, favoured_baseline(session.plan.kernels))
    return [(row, known.get(row.problem)) for row in points]


def export_columns(row: PointRow, baseline: PointRow | None, notes: Mapping[int, str]) -> dict[str, Any]:
    """What a point shows in JSON, CSV and Parquet, the first columns in their order.

    Args:
        row: The point.
        baseline: What relative quantities compare with.
        notes: What the user says of points, by their index.
    """
    problem, measured = row.problem, row.measurement
    shown: dict[str, Any] = {
        "kernel": row.kernel,
        "backend": row.backend,
        "seqlen": problem.seqlen_q,
        "seqlen_k": problem.seqlen_k,
        "batch": problem.batch,
        "heads": problem.heads,
        "head_dim": problem.head_dim,
        "dtype": problem.dtype,
        "causal": problem.causal,
        "status": row.status,
        "reason": row.reason,
        "cold": measured.cold if measured else None,
        "note": row.note,
        "kv_heads": problem.key_heads,
        "window": problem.window,
        "block_mask": row.block_mask,
        "pass": problem.passes,
        **row.asked,
        "altered": row.altered,
        "part": row.part,
        "measured_on": row.device,
        "bookmark": notes.get(row.point.index),
        "trust": row.trust.word if row.trust else None,
        "trust_reasons": "; ".join(row.trust.reasons) if row.trust else "",
    }
    for quantity in QUANTITIES.values():
        figure = quantity.figure(row, baseline) or Figure()
        shown |= zip(quantity.names, (figure.value, figure.low, figure.high), strict=False)
    return {name: shown[name] for name in FIRST} | shown


def _in_full(row: PointRow, baseline: PointRow | None) -> dict[str, Any]:
    """What JSON alone has of a point."""
    return {
        "figures": _figures(row, baseline),
        "ledger": ledger_of(row),
        "traffic": traffic_of(row),
        "energy": energy_of(row),
        "clocks": clocks_of(row),
        "rejected": rejected_of(row),
    }


def _figures(row: PointRow, baseline: PointRow | None) -> dict[str, Figure]:
    """Every figure that there is of a point, by the key of its quantity."""
    figures = {key: quantity.figure(row, baseline) for key, quantity in QUANTITIES.items()}
    known = {key: figure for key, figure in figures.items() if figure is not None}
    return (row.measurement.figures if row.measurement else {}) | known


def _line(point: dict[str, Any]) -> dict[str, Any]:
    """A point for CSV: a window and lengths as numbers with commas."""
    return {
        name: cell(",".join(map(str, value)) if isinstance(value, tuple) else value)
        for name, value in point.items()
    }


def metadata(session: Session) -> dict[str, object]:
    """What was measured where and how: the header of every CSV, of a session and of one plot."""
    machine = session.machine
    device = machine.device(session.backend)
    return {
        "session": session.id,
        "name": session.name,
        "note": session.note,
        "tags": ", ".join(session.tags),
        "noted moments": "; ".join(on_moments(session.bookmarks, session.t0_ns)),
        "started at": session.started_at,
        "outcome": session.outcome or "unfinished",
        "device": device.name if device else session.backend,
        "driver": machine.driver or "none",
        "CUDA": machine.cuda or "none",
        "system": machine.system,
        "python": machine.python,
        "BLAS threads": machine.blas_threads or "unknown",
        "packages": ", ".join(f"{name} {version}" for name, version in machine.packages.items()),
        "protocol": protocol_text(session.plan),
        "drift check": drift_text(session) or "none",
        "altered": session.altered or "nothing",
        "parts": "; ".join(map(part_text, parts(session))) if session.resumed else "1",
        "warnings": " ".join(warnings(session)) or "none",
        "baseline": favoured_baseline(session.plan.kernels) or "none",
        "units": (
            "times in ms, memory in bytes, throughput in TFLOP/s, clocks in MHz, energy in mJ, power in W, "
            "temperature in °C, shares from 0 to 1"
        ),
    }


def protocol_text(plan: Plan) -> str:
    """How each point was measured, in words."""
    protocol = plan.protocol
    cache = "cold cache" if protocol.cold else "warm cache"
    turns = "kernels in turns" if protocol.interleave else "kernel after kernel"
    order = ", shuffled" if protocol.shuffle else ""
    runs = f"{protocol.warmup} warm-up runs, {protocol.repeats} repeats"
    runs += f", {protocol.sustain_s:g} s back to back" if protocol.sustain_s else ""
    runs += ", counters read afterwards" if protocol.counters else ""
    return f"{runs}, {cache}, {turns}{order}, seed {plan.seed}"
