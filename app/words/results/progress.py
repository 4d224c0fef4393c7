"""How far a sweep is, in words: what runs, how many points, how long still."""

from collections.abc import Sequence
from math import log

from flashscope.app.words.devices.device_names import devices_text
from flashscope.app.words.results.holding import holding_text
from flashscope.app.words.units import bytes_text, temperature_text, thousands, whole_text
from flashscope.profiles.plan.problem_words import unusual_words
from flashscope.profiles.results.model.drift import drifts
from flashscope.profiles.results.model.session import NOT_ENDED, PointState, Session
from flashscope.profiles.wire.events import PointStatus, Reading

NS = 1_000_000_000
MOST_NAMED = 2
SURE_S = 5.0  # seconds below which an estimate tells no more than that little is left
SPELLED: dict[PointStatus, str] = {"will-not-fit": "will not fit", "oom": "out of memory"}


def job_text(session: Session) -> str:
    """What is in flight, on how many devices where they are several; empty between points of one."""
    states = session.in_flight
    repeated = repeat_text(session, states[0].point.index) if states else ""
    return " · ".join(filter(None, (devices_text(session), repeated, flight_text(states))))


def count_text(session: Session) -> str:
    """How many points have an outcome, and how many failed or were broken off."""
    if not session.points:
        return holding_text(session)
    told = f"{session.ended_points} of {session.plan.cells} points"
    others = (f"{count} {status_word(status)}" for status, count in session.not_done.items())
    return ", ".join([told, *others])


def status_word(status: PointStatus) -> str:
    """What became of a point, as it is shown."""
    return SPELLED.get(status, status)


def repeat_text(session: Session, index: int) -> str:
    """Why a point is measured once more; empty for those of the plan's kernels x problems."""
    if index < session.plan.cells:
        return ""
    return "drift check" if index < len(session.planned) else f"check of part {session.points[index].part}"


def flight_text(states: Sequence[PointState]) -> str:
    """Kernels, N and phase of the points in flight; empty when there are none.

    Points that take turns share N, and the phase of the first stands for all. Of several devices each is at
    an N of its own.
    """
    if not states:
        return ""
    if len({state.device for state in states}) > 1:
        lengths = dict.fromkeys(thousands(state.point.problem.seqlen) for state in states)
        return f"N = {', '.join(lengths)}"
    first, names = states[0], [state.point.kernel for state in states]
    kernels = " and ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} kernels in turns"
    step = f" {first.done} of {first.total}" if first.total else ""
    problem = first.point.problem
    at = ", ".join(filter(None, (f"N = {thousands(problem.seqlen)}", unusual_words(problem))))
    return f"{kernels} · {at} · {first.phase or 'prepare'}{step}"


def outcome_text(session: Session) -> str:
    """How a sweep ended, and the largest change that the drift check found; or that there was none.

    One whose cells all have an outcome is finished, even where its drift check was broken off.
    """
    if not session.plan.cells:
        return "No sweep"
    ended = session.outcome or "interrupted"
    repeated = session.planned[session.plan.cells :]
    measured = session.ended_points == session.plan.cells and ended != "finished"
    broken_off = measured and any(state.status in NOT_ENDED for state in repeated)
    text = f"Sweep finished, drift check {ended}" if broken_off else f"Sweep {ended}"
    worst = max(drifts(session), key=lambda drift: abs(log(drift.ratio)), default=None)
    return text if worst is None else f"{text} · drift {worst.ratio:.3f}×"


def elapsed_text(seconds: float) -> str:
    """Minutes and seconds, hours in front when there are any."""
    whole = max(0, round(seconds))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def left_text(seconds: float) -> str:
    """How long it still takes, as far as that is known; while something is left it is never nothing."""
    return f"about {elapsed_text(seconds)}" if seconds >= SURE_S else "a few seconds"


def device_state_text(reading: Reading) -> str:
    """Clock, temperature and throttling of one reading; what is not known is left out."""
    parts = []
    if reading.sm_clock_mhz is not None:
        parts.append(f"SM {whole_text(reading.sm_clock_mhz)} MHz")
    if reading.temperature_c is not None:
        parts.append(temperature_text(reading.temperature_c))
    if reading.throttle is not None:
        parts.append(f"throttled: {', '.join(reading.throttle)}" if reading.throttle else "no throttling")
    return " · ".join(parts)


def memory_text(reading: Reading, total: int | None) -> str:
    """Memory in use of how much; empty when it is not known."""
    if reading.memory_used is None:
        return ""
    return bytes_text(reading.memory_used) + (f" of {bytes_text(total)}" if total else "")
