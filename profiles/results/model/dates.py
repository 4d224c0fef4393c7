"""When sessions began: their dates are wall clocks of machines in any time zone."""

from datetime import datetime


def moment(started_at: str) -> float:
    """Seconds since 1970; 0 where the clock of the session's machine cannot have been set.

    Args:
        started_at: ISO 8601, with an offset or of this machine's zone.
    """
    try:
        return datetime.fromisoformat(started_at).timestamp()
    except (ValueError, OverflowError):
        return 0.0
