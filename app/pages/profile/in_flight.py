"""Where a point in flight stands so far: from its newest sample, before there is a median."""

from collections.abc import Sequence

from msgspec.structs import replace

from flashscope.app.words.results.trust import trust_text
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import PointState
from flashscope.profiles.results.quantities.quantity import Quantity, value_of
from flashscope.profiles.wire.measurement import Measurement, Sample


def in_flight_value(quantity: Quantity, backend: Backend, state: PointState) -> float | None:
    """A provisional value of a quantity for a point in flight, None when nothing is known yet.

    Args:
        quantity: What is asked for; a quantity with a model has that until it is measured.
        backend: Where the point runs.
        state: The point.
    """
    row = PointRow.of(backend, state)
    value = value_of(quantity, _with_newest_sample(row, state.last_ms))
    return quantity.model(row) if value is None and quantity.model is not None else value


def _with_newest_sample(row: PointRow, last_ms: float | None) -> PointRow:
    """The row as if its newest sample were all there is."""
    if last_ms is None:
        return row
    measured = row.measurement or Measurement(timer="", cold=True)
    return row.with_measurement(replace(measured, samples=(Sample(last_ms),)))


def running(rows: Sequence[PointRow]) -> bool:
    """Whether the point in flight is one of these."""
    return any(row.status == "running" for row in rows)


def point_text(row: PointRow | None) -> str:
    """Why a point is not trusted, and which part of its session it was measured in, but for the first."""
    if row is None:
        return ""
    doubts = trust_text(row.trust) if row.done and row.trust and row.trust.word == "doubtful" else ""
    part = f"Measured in part {row.part} of the session" if (row.part or 1) > 1 else ""
    return "\n".join(filter(None, (doubts, part)))
