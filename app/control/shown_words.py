"""What the user says of the session on show: its name, note, tags and bookmarks follow those of its file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.control.steps import Said
from profiles.store.words import Field, Words

if TYPE_CHECKING:
    from app.control.controller import Controller
    from app.control.edits import Step


class ShownWords(QObject):
    """Keeps the session on show as its file is.

    Signals:
        changed: It has other words.
    """

    changed = Signal()

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self._controller = controller
        controller.edits.touched.connect(self._take_steps)

    def take(self, path: Path, words: Mapping[Field, Words]) -> bool:
        """A file has these words now; returns whether others were on show."""
        session = self._controller.session
        playback = self._controller.playback
        if session is None or path != self._controller.path:
            return False
        others = {field: said for field, said in words.items() if getattr(session, field) != said}
        for one in (session, playback.recorded) if playback else (session,):
            for field, said in others.items():
                setattr(one, field, said)
        if others:
            self.changed.emit()
        return bool(others)

    def _take_steps(self, steps: list[Step]) -> None:
        for step in steps:
            if isinstance(step, Said) and step.now is not None:
                self.take(step.path, {step.field: step.now})
