"""Makes what records the controller's runs: each in a file of its own, or in that of the session resumed."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.running.recording import BackgroundRecording, EventRecorder, FileNote
from flashscope.profiles.store import Recorder, new_session_path
from flashscope.profiles.wire.events import PlanResumed, PlanStarted

OpenRecorder = Callable[[Path], EventRecorder]


def new_recorder(path: Path) -> Recorder:
    """Records in a new file of this name, or of one with a number where the name is taken."""
    return Recorder(path, numbered=True)


class Recordings:
    """Knows where files are made.

    Args:
        folder: Where.
        opener: Makes what writes one.
        tell: Takes what becomes of files, on other threads.

    Attributes:
        folder: Where.
    """

    def __init__(self, folder: Path, opener: OpenRecorder, tell: Callable[[FileNote], None]) -> None:
        self.folder, self._opener, self._tell = folder, opener, tell

    def anew(self, backend: Backend, stem: str, event: PlanStarted | PlanResumed) -> BackgroundRecording:
        """In a file of this name; empty: one made of the start and the backend."""
        path = self._dated(backend, event)
        return self.within(path.with_stem(stem or path.stem), event)

    def version(self, backend: Backend, name: str, event: PlanStarted | PlanResumed) -> BackgroundRecording:
        """Of a version of a watched kernel, in whose name the file's ends."""
        path = self._dated(backend, event)
        return self.within(path.with_stem(f"{path.stem}-{name}"), event)

    def within(self, path: Path, _event: PlanStarted | PlanResumed) -> BackgroundRecording:
        """In this file."""
        return BackgroundRecording(self._opener(path), self._tell)

    def _dated(self, backend: Backend, event: PlanStarted | PlanResumed) -> Path:
        return new_session_path(self.folder, backend, datetime.fromisoformat(event.started_at))
