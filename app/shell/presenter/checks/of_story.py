"""Whether a story can be told: its files, its sentences, its marked lines, and what it runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from flashscope.app.pages.ladder.source_diff import known_label, read
from flashscope.app.shell.presenter.checks.scenes import scene_at
from flashscope.app.stage.blanks import unfilled
from flashscope.app.stage.live import Unrunnable, plan_here
from flashscope.app.stage.marking import marked_lines
from flashscope.app.stage.story import Stop, Story
from flashscope.kernels.workload.errors import KernelError
from flashscope.profiles.plan.machine import Machine, ProbeFinding
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import SessionFileError, load

UNNAMED = "stepper", "ladder", "designer", "planner"  # what needs no session


def story_findings(story: Story, machine: Machine | None) -> list[ProbeFinding]:
    """What was found of a story, each with a remedy where something is wrong; takes seconds.

    Args:
        story: What is to be presented.
        machine: Where; None: nobody knows yet what it can run.
    """
    sessions, lost = _sessions(story)
    found = [*lost] or [_right("Files", f"{len(sessions)} read")]
    wrong = list(_sentences(story, sessions))
    found += wrong or [_right("Sentences", f"all of {len(story.stops)} stops can be filled")]
    found += _marks(story)
    return found + list(_runs(story, machine))


def _right(name: str, detail: str) -> ProbeFinding:
    return ProbeFinding(name=name, ok=True, detail=detail)


def _sessions(story: Story) -> tuple[dict[Path, Session], list[ProbeFinding]]:
    """Those that can be read, and what is to be said of the others."""
    sessions, lost = {}, []
    for path in dict.fromkeys(path for stop in story.stops for path in _files(story, stop)):
        session = _loaded(path)
        if isinstance(session, ProbeFinding):
            lost.append(session)
        else:
            sessions[path] = session
    return sessions, lost


def _loaded(path: Path) -> Session | ProbeFinding:
    try:
        return load(path)
    except (SessionFileError, OSError) as error:
        remedy = "Put the file back, or name another one in the story."
        return ProbeFinding(name="Files", ok=False, detail=f"{path.name}: {error}", remedy=remedy)


def _files(story: Story, stop: Stop) -> Sequence[Path]:
    named = (story.session_of(stop), story.fallback_of(stop), *story.beside_of(stop))
    return [path for path in named if path is not None]


def _sentences(story: Story, sessions: dict[Path, Session]) -> Iterator[ProbeFinding]:
    """Those that would say why they cannot be filled."""
    on_show: Session | None = None
    for number, stop in enumerate(story.stops, 1):
        path = story.fallback_of(stop) if stop.run else story.session_of(stop)
        on_show = sessions.get(path) if path is not None else on_show
        if not stop.sentence:
            continue
        try:
            why = unfilled(stop.sentence, scene_at(stop, on_show))
        except (SessionFileError, KernelError) as error:
            why = str(error)
        if why:
            unnamed = on_show is None and stop.page not in UNNAMED and path is None
            remedy = "Name a session." if unnamed else "Change its blanks, kernels or N."
            yield ProbeFinding(name="Sentences", ok=False, detail=f"stop {number}: {why}", remedy=remedy)


def _marks(story: Story) -> Iterator[ProbeFinding]:
    """Stops whose marked lines are in no source."""
    for number, stop in enumerate(story.stops, 1):
        if not stop.marked or not stop.kernels:
            continue
        source = read(stop.kernels[-1], known_label(stop.curve))
        if isinstance(source, str) or not marked_lines(source.sources[1], stop.marked):
            why = source if isinstance(source, str) else f"no line holds {' or '.join(stop.marked)}"
            yield ProbeFinding(
                name="Marked lines",
                ok=False,
                detail=f"stop {number}: {why}",
                remedy=f"Look it up: main.py source {stop.kernels[-1]}",
            )


def _runs(story: Story, machine: Machine | None) -> Iterator[ProbeFinding]:
    """What stops run here, or what is shown in its place."""
    for number, stop in enumerate(story.stops, 1):
        if not stop.run:
            continue
        if machine is None:
            unknown = f"stop {number}: it is not known yet what runs here"
            yield ProbeFinding(name="Runs", ok=False, detail=unknown, remedy="Check again in a while.")
            continue
        try:
            plan = plan_here(stop.run, machine)
        except Unrunnable as error:
            remedy = f"Present where it runs, or be content with the recording {stop.fallback}."
            yield ProbeFinding(name="Runs", ok=False, detail=f"stop {number}: {error}", remedy=remedy)
        else:
            device = machine.device(plan.backend)
            name = device.name if device is not None else plan.backend
            told = f"stop {number}: {', '.join(plan.kernels)} on {name}, else the recording {stop.fallback}"
            yield _right("Runs", told)
