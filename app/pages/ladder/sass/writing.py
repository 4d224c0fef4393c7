"""Writes a source with its machine code into a file that the user chooses."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from flashscope.app.control.chores import Chores
from flashscope.app.widgets.dialogs.saving import write_chosen
from flashscope.profiles.store import write_atomically

SUFFIX = ".txt"


class SassWriter:
    """Asks where to, and writes in the background.

    Args:
        parent: The page.
        chores: Does it; tells what fails.
        done: Told what was written.
    """

    def __init__(self, parent: QWidget, chores: Chores, done: Callable[[str], None]) -> None:
        self._parent, self._chores, self._done = parent, chores, done

    def ask(self, kernel: str, text: str) -> None:
        """Ask for a file, and write this text; nothing where there is none."""
        if not text:
            return
        chosen, _ = QFileDialog.getSaveFileName(
            self._parent, "Save the machine code", f"{kernel}-sass{SUFFIX}", f"Text (*{SUFFIX})"
        )
        if chosen:
            self.write(text, Path(chosen))

    def write(self, text: str, path: Path) -> None:
        """Write a text into a file."""

        def act() -> Path:
            content = text.encode()
            return write_chosen(path, (SUFFIX,), lambda file: write_atomically(file, content, replace=True))

        self._chores.do(act, lambda target: self._done(f"Wrote {target.name}."))
