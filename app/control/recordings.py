"""The files that sweeps are recorded in, each by a thread of its own."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.running.driver import OpenRecording
from flashscope.profiles.running.recording import BackgroundRecording, EventRecorder, FileNote
from flashscope.profiles.store import Recorder, new_session_path
from flashscope.profiles.wire.events import PlanResumed, PlanStarted

OpenRecorder = Callable[[Path], EventRecorder]


def new_recorder(path: Path) -> Recorder:
    """Records in a new file of this name, or of one with a number where the name is taken."""
    return Recorder(path, numbered=True)


class Recordings:
    """Begins the recording of a sweep once that has begun.

    Args:
        folder: Where new files are made.
        opener: Makes what writes a file of a name.
        told: Hears what becomes of the files, in their threads.
    """

    def __init__(self, folder: Path, opener: OpenRecorder, told: Callable[[FileNote], None]) -> None:
        self._folder, self._opener, self._told = folder, opener, told

    def named(self, backend: Backend, stem: str = "") -> OpenRecording:
        """In a new file of this name; empty: one made of the start and the backend."""

        def begin(event: PlanStarted | PlanResumed) -> BackgroundRecording:
            path = new_session_path(self._folder, backend, datetime.fromisoformat(event.started_at))
            return self._begin(path.with_stem(stem or path.stem))

        return begin

    def into(self, path: Path) -> OpenRecording:
        """In this file."""
        return lambda _event: self._begin(path)

    def _begin(self, path: Path) -> BackgroundRecording:
        return BackgroundRecording(self._opener(path), self._told)
