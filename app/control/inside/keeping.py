"""What was recorded here beside sweeps, such as traces, and is kept in the session on show."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.control.edits import Edits, FileEdit
from flashscope.app.control.on_show import OnShow
from flashscope.app.control.steps import check_changeable
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store.blobs.places import PLACES, Keepable
from flashscope.profiles.store.keeping import drop, keep


class Keeping(QObject):
    """Writes into the session on show what is recorded in it from then on.

    Signals:
        kept: The session on show has other traces, timelines, stall profiles or landscapes now.

    Args:
        shown: What is on show; also its owner.
        edits: What changes files.
    """

    kept = Signal()

    def __init__(self, shown: OnShow, edits: Edits) -> None:
        super().__init__(shown)
        self._shown, self._edits = shown, edits
        edits.touched.connect(self._take_steps)

    @property
    def why_not(self) -> str:
        """Why the session on show takes nothing, in one sentence; empty: it does."""
        if self._shown.session is None or self._shown.path is None:
            return "No session with a file is on show: open one, or run a sweep."
        if self._shown.path.parent == BUNDLED:
            return "A recording that comes with Flashscope stays as it is: duplicate it in the Library."
        return ""

    def keep(self, values: Sequence[Keepable]) -> None:
        """Write these, all of a kind, into the session on show; it can be undone."""
        session, path = self._shown.session, self._shown.path
        if values and session is not None and path is not None and not self.why_not:
            steps = [KeptValue(path, value, session.id) for value in values]
            noun = PLACES[type(values[0])].noun
            self._edits.do(f"Kept {len(steps)} {noun}{'s' * (len(steps) != 1)} in {path.name}", steps)

    def _take_steps(self, steps: Sequence[FileEdit]) -> None:
        """Let the session on show have what its file has."""
        mine = [one for one in steps if isinstance(one, KeptValue) and one.path == self._shown.path]
        playback, session = self._shown.playback, self._shown.session
        sessions = [session, playback.recorded] if playback else [session]
        for step in mine:
            for one in (each for each in sessions if each is not None):
                step.show_in(one)
        if mine:
            self.kept.emit()


@dataclass
class KeptValue:
    """A trace, timeline, stall profile or landscape in a session's file.

    Attributes:
        path: The file.
        value: What is kept.
        meant: Id of the session that is meant.
        number: The value's in the file, 0 while it is not there.
    """

    path: Path
    value: Keepable
    meant: str
    number: int = 0

    def forth(self) -> None:
        """Write it into the file."""
        check_changeable(self.path)
        self.number = keep(self.path, self.value, self.meant)

    def back(self) -> None:
        """Take it out of the file again."""
        drop(self.path, type(self.value), self.number, self.meant)
        self.number = 0

    def show_in(self, session: Session) -> None:
        """Let a session that was read from the file have it, or have it no more."""
        there: list[Keepable] = getattr(session, PLACES[type(self.value)].held)
        others = [one for one in there if one is not self.value]
        there[:] = [*others, self.value] if self.number else others
