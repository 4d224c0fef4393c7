"""Where a session keeps what it holds as one value each, and in what form."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

from flashscope.kernels.workload.audit import ModelAudit
from flashscope.kernels.workload.backward_trace import BackwardTrace
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.kernels.workload.stalls import StallProfile
from flashscope.kernels.workload.timeline import StageTimeline
from flashscope.kernels.workload.trace import Trace
from flashscope.profiles.store.blobs.audits import decode_audit
from flashscope.profiles.store.blobs.backward_traces import decode_backward_trace
from flashscope.profiles.store.blobs.landscapes import decode_landscape
from flashscope.profiles.store.blobs.packing import unpacked
from flashscope.profiles.store.blobs.ranks import decode_ranks
from flashscope.profiles.store.blobs.stalls import decode_stalls
from flashscope.profiles.store.blobs.timelines import decode_timeline
from flashscope.profiles.store.blobs.traces import decode_trace
from flashscope.profiles.store.schema import (
    MAX_AUDITS,
    MAX_LANDSCAPES,
    MAX_RANKS,
    MAX_STALLS,
    MAX_TIMELINES,
    MAX_TRACES,
    MAX_UNPACKED_BYTES,
)
from flashscope.profiles.wire.ranks import RanksResult

Keepable: TypeAlias = (
    Trace | StageTimeline | StallProfile | CutLandscape | ModelAudit | BackwardTrace | RanksResult
)


class ValuePlace(NamedTuple):
    """Where values of a kind stand.

    Attributes:
        noun: What one is called.
        table: Its table.
        column: Its column there.
        held: Where a Session has them.
        most: As many as a session takes.
        decode: Makes it of its bytes, unpacked; a ValueError says what is wrong with them.
    """

    noun: str
    table: str
    column: str
    held: str
    most: int
    decode: Callable[[bytes], Any]


PLACES: dict[type[Keepable], ValuePlace] = {
    Trace: ValuePlace("trace", "traces", "trace", "traces", MAX_TRACES, decode_trace),
    StageTimeline: ValuePlace(
        "timeline", "timelines", "timeline", "timelines", MAX_TIMELINES, decode_timeline
    ),
    StallProfile: ValuePlace(
        "stall profile", "stall_profiles", "profile", "stalls", MAX_STALLS, decode_stalls
    ),
    CutLandscape: ValuePlace(
        "landscape", "landscapes", "landscape", "landscapes", MAX_LANDSCAPES, decode_landscape
    ),
    ModelAudit: ValuePlace("audit", "audits", "audit", "audits", MAX_AUDITS, decode_audit),
    BackwardTrace: ValuePlace(
        "backward trace",
        "backward_traces",
        "trace",
        "backward_traces",
        MAX_TRACES,
        decode_backward_trace,
    ),
    RanksResult: ValuePlace("result of ranks", "ranks", "result", "ranks", MAX_RANKS, decode_ranks),
}


def room_for(connection: sqlite3.Connection, blob: bytes) -> bool:
    """Whether a session with one more value is one that is opened again, all of them unpacked."""
    taken = len(unpacked(blob))
    for place in PLACES.values():
        for (held,) in connection.execute(f"SELECT {place.column} FROM {place.table}"):  # noqa: S608 - our names
            with suppress(ValueError):  # it was altered, and is left out when it is read
                taken += len(unpacked(held))
    return taken <= MAX_UNPACKED_BYTES


def held_in(connection: sqlite3.Connection) -> dict[str, int]:
    """How many values of each kind that it has a session has, by their places in a Session."""
    counts = {
        place.held: connection.execute(f"SELECT count(*) FROM {place.table}").fetchone()[0]  # noqa: S608 - our names
        for place in PLACES.values()
    }
    return {kind: count for kind, count in counts.items() if count}
