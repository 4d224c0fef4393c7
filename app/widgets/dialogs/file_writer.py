"""Writes something into a file that the user chooses."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PySide6.QtWidgets import QFileDialog, QWidget

from flashscope.app.control.chores import Chores
from flashscope.app.widgets.dialogs.saving import write_chosen
from flashscope.profiles.store import write_atomically


class WrittenKind(NamedTuple):
    """What is written.

    Attributes:
        asked: The title of the dialog that asks for the file.
        title: What files of this kind are called.
        suffix: How their names end.
        hint: What is to be done with one, a clause; empty: nothing.
    """

    asked: str
    title: str
    suffix: str
    hint: str = ""


class FileWriter:
    """Asks where to, and writes in the background.

    Args:
        parent: The page.
        chores: Does it; tells what fails.
        done: Told what was written.
        kind: What that is.
    """

    def __init__(
        self, parent: QWidget, chores: Chores, done: Callable[[str], None], kind: WrittenKind
    ) -> None:
        self._parent, self._chores, self._done, self._kind = parent, chores, done, kind

    def ask(self, name: str, made: Callable[[], bytes]) -> None:
        """Ask for a file, of this name without its ending, and write what is made in the background."""
        kind = self._kind
        chosen, _ = QFileDialog.getSaveFileName(
            self._parent, kind.asked, f"{name}{kind.suffix}", f"{kind.title} (*{kind.suffix})"
        )
        if chosen:
            self.write(Path(chosen), made)

    def write(self, path: Path, made: Callable[[], bytes]) -> None:
        """Write into this file what is made in the background."""

        def act() -> Path:
            content = made()
            return write_chosen(
                path, (self._kind.suffix,), lambda file: write_atomically(file, content, replace=True)
            )

        hint = self._kind.hint and f": {self._kind.hint}"
        self._chores.do(act, lambda target: self._done(f"Wrote {target.name}{hint}."))
