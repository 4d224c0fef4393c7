"""The last run like one: the same kernels and problems, on the same device."""

from collections.abc import Iterator
from pathlib import Path

from flashscope.profiles.results.compare.pairing import Regime
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import SessionFileError, SessionInfo, list_sessions, loading


def last_like(session: Session, folder: Path) -> SessionInfo | None:
    """The newest other session in the folder that did the same on the same device; None: there is none.

    Reads every file's head, and the plans of those that may be meant: not for the window's thread.
    """
    return next((info for info in _candidates(session, folder) if _alike(session, info.path)), None)


def _candidates(session: Session, folder: Path) -> Iterator[SessionInfo]:
    device = session.machine.device(session.backend)
    meant = session.backend, device.name if device else "", {*session.plan.kernels}
    for info in list_sessions(folder):
        if not info.error and info.id != session.id and (info.backend, info.device, {*info.kernels}) == meant:
            yield info


def _alike(session: Session, path: Path) -> bool:
    """Whether the same problems are in it, and points that were done."""
    try:
        with loading(path) as (other, _readings):
            same = {*other.plan.problems} == {*session.plan.problems} and Regime.of(other) == Regime.of(
                session
            )
            return same and any(state.status == "done" for state in other.cells)
    except (SessionFileError, OSError):
        return False
