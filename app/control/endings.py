"""Why sweeps do not begin or end well, in words."""

from flashscope.profiles.results.model.session import Session
from flashscope.profiles.running.recording import FileTrouble, RunRecording
from flashscope.profiles.wire.events import PlanFinished

SWEEPING = "A sweep is running already; cancel it first, or wait for its end."
REPLAYING = "A replay is on show; leave it (Esc, Esc) before a sweep is run or resumed."
FAILED = "The sweep failed."
NO_FILE = "The file of the sweep belongs to another one."
CATCHES_UP = "The sweep goes on, and the file catches up once it can be written."


def trouble(note: FileTrouble) -> tuple[str, str]:
    """What is wrong with a sweep's file, and the details."""
    text = f"{note.text} {CATCHES_UP}" if note.passing else note.text
    return text, f"{type(note.error).__name__}: {note.error}\n{note.path}"


def why_not_begun(event: PlanFinished, sweep: Session | None, recording: RunRecording | None) -> str:
    """Why a sweep that has ended measured nothing and the next would not either; empty: no reason."""
    if recording is not None and recording.refused:
        return NO_FILE
    began = sweep is not None and sweep.ended_points
    return event.reason or FAILED if event.outcome == "failed" and not began else ""
