"""Where a point in flight stands so far: from its newest sample, before there is a median."""

from profiles.session import PointState


def in_flight_value(metric: str, state: PointState) -> float | None:
    """A provisional value of a metric for a point in flight, None when nothing is known yet.

    Args:
        metric: Key of the metric.
        state: The point.
    """
    last_ms = state.last_ms
    if metric == "footprint":
        return float(state.predicted_bytes)
    if not last_ms:
        return None
    if metric == "runtime":
        return last_ms
    return state.point.problem.flops / last_ms / 1e9 if metric == "throughput" else None
