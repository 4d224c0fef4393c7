"""What the user says of the session on show: its name, note, tags and bookmarks follow those of its file."""

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.edits import Edits, FileEdit
from flashscope.app.control.on_show import OnShow
from flashscope.app.control.steps import WordsChanged
from flashscope.profiles.store.words import Field, UserWords


class ShownWords(QObject):
    """Keeps the session on show as its file is.

    Signals:
        changed: It has other words.

    Args:
        shown: What is on show; also the owner of this object.
        edits: What changes files.
    """

    changed = Signal()

    def __init__(self, shown: OnShow, edits: Edits) -> None:
        super().__init__(shown)
        self._shown = shown
        edits.touched.connect(self._take_steps)

    def take(self, path: Path, words: Mapping[Field, UserWords]) -> bool:
        """A file has these words now; returns whether others were on show."""
        session, playback = self._shown.session, self._shown.playback
        if session is None or path != self._shown.path:
            return False
        others = {field: said for field, said in words.items() if getattr(session, field) != said}
        for one in (session, playback.recorded) if playback else (session,):
            for field, said in others.items():
                setattr(one, field, said)
        if others:
            self.changed.emit()
        return bool(others)

    def _take_steps(self, steps: list[FileEdit]) -> None:
        for step in steps:
            if isinstance(step, WordsChanged) and step.now is not None:
                self.take(step.path, {step.field: step.now})
