"""A session in formats that other programs read: CSV with a header of metadata, and one JSON document."""

import csv
import io
from typing import Any

import msgspec

from profiles.drift import drift_text, drifts
from profiles.plan import Plan
from profiles.session import Session
from profiles.summary import PointRow, rows


def to_csv(session: Session) -> str:
    """One line a point; lines starting with # before it say what was measured where. Missing is empty."""
    text = io.StringIO()
    for name, value in metadata(session).items():
        text.write(f"# {name}: {' '.join(str(value).split())}\n")
    table = csv.DictWriter(text, PointRow.__struct_fields__, lineterminator="\n")
    table.writeheader()
    table.writerows(_line(row) for row in rows(session))
    return text.getvalue()


def to_json(session: Session, path: str | None = None) -> bytes:
    """`{"session": {...}, "points": [PointRow, ...], "drift": [...]}` as one line; missing and NaN are null.

    Args:
        session: What to write.
        path: The session's file, None when it has none.
    """
    device = session.machine.device(session.backend)
    document: dict[str, Any] = {
        "session": {
            "id": session.id,
            "name": session.name,
            "note": session.note,
            "file": path,
            "started_at": session.started_at,
            "outcome": session.outcome,
            "backend": session.backend,
            "device": device,
            "machine": session.machine,
            "plan": session.plan,
            "readings": len(session.readings),
            "traces": len(session.traces),
        },
        "points": rows(session),
        "drift": [drift._asdict() | {"ratio": drift.ratio} for drift in drifts(session)],
    }
    return msgspec.json.encode(document)


def _line(row: PointRow) -> dict[str, object]:
    """A row for CSV: a window as the command line takes it."""
    window = row.window and f"{row.window[0]},{row.window[1]}"
    return msgspec.structs.asdict(row) | {"window": window}


def metadata(session: Session) -> dict[str, object]:
    """What was measured where and how: the header of every CSV, of a session and of one plot."""
    machine = session.machine
    device = machine.device(session.backend)
    return {
        "session": session.id,
        "name": session.name,
        "note": session.note,
        "started at": session.started_at,
        "outcome": session.outcome or "unfinished",
        "device": device.name if device else session.backend,
        "driver": machine.driver or "none",
        "CUDA": machine.cuda or "none",
        "system": machine.system,
        "python": machine.python,
        "BLAS threads": machine.blas_threads or "unknown",
        "packages": ", ".join(f"{name} {version}" for name, version in machine.packages.items()),
        "protocol": _protocol(session.plan),
        "drift check": drift_text(session) or "none",
        "units": "runtime in ms, footprint and predicted in bytes, throughput in TFLOP/s",
    }


def _protocol(plan: Plan) -> str:
    protocol = plan.protocol
    cache = "cold cache" if protocol.cold else "warm cache"
    turns = "kernels in turns" if protocol.interleave else "kernel after kernel"
    order = ", shuffled" if protocol.shuffle else ""
    runs = f"{protocol.warmup} warm-up runs, {protocol.repeats} repeats"
    return f"{runs}, {cache}, {turns}{order}, seed {plan.seed}"
