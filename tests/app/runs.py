"""Runs of one plan as files, as `sweep --runs` makes them: in a few milliseconds."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.run_mark import run_marks
from flashscope.profiles.store import Recorder, sessions_dir
from flashscope.profiles.wire.events import Event, PlanStarted, PointMeasured
from tests.app.fakes import CPU_MACHINE, PLAN, sweep

SPREAD = 0.01  # between one run and the next


def save_runs(
    name: str,
    count: int = 3,
    *,
    plan: Plan = PLAN,
    slower: float = 1.0,
    folder: Path | None = None,
    day: int = 21,
) -> list[Path]:
    """So many runs of one plan, a minute apart; returns their files, NAME-1 and so on.

    Args:
        name: Theirs.
        count: How many.
        plan: What they measured.
        slower: How many times as long their points take as those of a sweep of the fakes.
        folder: Where they go; None: among the user's sessions.
        day: Of November 2026, on which they were made.
    """
    files = []
    for mark in run_marks(count):
        first, *rest = sweep(plan, CPU_MACHINE)
        assert isinstance(first, PlanStarted)
        told = replace(
            first,
            run_mark=mark,
            session_id=f"{mark.run:04x}{mark.family[4:]}",
            started_at=f"2026-11-{day}T10:{mark.run:02}:00+00:00",
        )
        path = (folder or sessions_dir()) / f"{name}-{mark.run}.flashscope"
        write(path, [told, *(_slower(event, slower * (1 + SPREAD * mark.run)) for event in rest)])
        files.append(path)
    return files


def write(path: Path, events: Sequence[Event]) -> None:
    """Record these events in a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(path)
    for event in events:
        recorder.record(event)
    recorder.close()


def _slower(event: Event, times: float) -> Event:
    if not isinstance(event, PointMeasured):
        return event
    return replace(event, samples=tuple(replace(one, ms=one.ms * times) for one in event.samples))
