"""How a session is named wherever one is meant."""

import re
from collections.abc import Sequence
from pathlib import Path

from flashscope.profiles.plan.run_mark import RunMark
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import SessionInfo

REFUSED = re.compile(r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\u200e\u200f\u202a-\u202e\u2066-\u2069]+')
MOST_BYTES = 120


def named(session: Session | SessionInfo, path: Path) -> str:
    """The user's name of a session, else its file's."""
    return session.name or path.stem


def side_called(runs: Sequence[Session], files: Sequence[Path]) -> str:
    """One side of a comparison: a session by its name, runs of one plan by their number and theirs."""
    names = [named(run, file) for run, file in zip(runs, files, strict=True)]
    if len(runs) == 1:
        return names[0]
    marks = [run.run_mark for run in runs]
    family = {mark.family if mark else "" for mark in marks}
    if len(family) == 1 and "" not in family:
        return f"{len(runs)} runs of {runs_named(names, marks)}"
    return f"{len(runs)} runs, the first {names[0]}"


def as_file_name(name: str) -> str:
    """A name as a file's, without an ending: what some file system refuses becomes a dash."""
    plain = REFUSED.sub("-", name).encode(errors="replace")[:MOST_BYTES].decode(errors="ignore").strip(" .-")
    return plain or "session"


def device_of(session: Session) -> str:
    """The name of the device that ran it."""
    device = session.machine.device(session.backend)
    return device.name if device else session.backend


def short_device(session: Session) -> str:
    """Its device without what every name of its maker has: GeForce RTX 4090, Intel Xeon Processor."""
    return re.sub(r"^NVIDIA |\((R|TM)\)", "", device_of(session))


def minute_of(session: Session | SessionInfo) -> str:
    """When it was measured, to the minute."""
    return session.started_at[:16].replace("T", " ")


def numbered(mark: RunMark) -> str:
    """Which of several runs a session is."""
    return f"run {mark.run} of {mark.of}"


def runs_named(names: Sequence[str], marks: Sequence[RunMark | None]) -> str:
    """What runs of one plan are called together: what their names share before their numbers, or the last's.

    Args:
        names: Of the runs, in their order.
        marks: Which run each is.
    """
    pairs = zip(names, marks, strict=True)
    stems = {name.removesuffix(f"-{mark.run}") if mark else name for name, mark in pairs}
    return stems.pop() if len(stems) == 1 else names[-1]
