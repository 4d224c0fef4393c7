"""How far a sweep is, in words: what runs, how many points, how long still."""

from app.plots.units import bytes_text, seqlen_full
from profiles.events import Reading
from profiles.session import Session

NS = 1_000_000_000


def job_text(session: Session) -> str:
    """The point in flight: kernel, N and the step of its phase; empty between points."""
    state = session.running
    if state is None:
        return ""
    step = f" {state.done} of {state.total}" if state.total else ""
    phase = f" · {state.phase}{step}" if state.phase else ""
    return f"{state.point.kernel} · N = {seqlen_full(state.point.problem.seqlen_q)}{phase}"


def seconds_left(session: Session) -> float | None:
    """Estimated seconds to the end: the newest point of each kernel stands for its points to come.

    None until a point has run. Points that never ran (will not fit, unsupported) take no time.
    """
    newest: dict[str, float] = {}
    for state in session.points:
        if state.started_ns is not None and state.ended_ns is not None:
            newest[state.point.kernel] = (state.ended_ns - state.started_ns) / NS
    if not newest:
        return None
    typical = max(newest.values())
    return sum(
        newest.get(s.point.kernel, typical) for s in session.points if s.status in {"pending", "running"}
    )


def clock_text(seconds: float) -> str:
    """Minutes and seconds, hours in front when there are any."""
    whole = max(0, round(seconds))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def device_text(reading: Reading) -> str:
    """Clock, temperature and throttling of one reading; what is not known is left out."""
    parts = []
    if reading.sm_clock_mhz is not None:
        parts.append(f"SM {reading.sm_clock_mhz:.0f} MHz")
    if reading.temperature_c is not None:
        parts.append(f"{reading.temperature_c:.0f} °C")
    if reading.throttle is not None:
        parts.append(f"throttled: {', '.join(reading.throttle)}" if reading.throttle else "no throttling")
    return " · ".join(parts)


def memory_text(reading: Reading, total: int | None) -> str:
    """Memory in use of how much; empty when it is not known."""
    if reading.memory_used is None:
        return ""
    return bytes_text(reading.memory_used) + (f" of {bytes_text(total)}" if total else "")
