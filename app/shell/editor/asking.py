"""What the editor asks: for a file, and what becomes of what is not saved."""

from enum import Enum
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from flashscope.app.stage.story import ENDING
from flashscope.app.widgets.dialogs.question import answered, confirmed
from flashscope.app.widgets.dialogs.saving import target_of
from flashscope.profiles.store import SUFFIX

STORIES_FILTER = f"Stories (*{ENDING})"
TITLE = "Story"


class Answer(Enum):
    """What becomes of edits that are not saved."""

    SAVE = "Save"
    DISCARD = "Discard"
    STAY = "Keep editing"


def ask_about_edits(window: QWidget, name: str) -> Answer:
    """Ask once; Esc and Return keep editing."""
    question = f"{name} has edits that are not saved: save them?"
    roles = {
        Answer.SAVE.value: QMessageBox.ButtonRole.AcceptRole,
        Answer.DISCARD.value: QMessageBox.ButtonRole.DestructiveRole,
    }
    return Answer(answered(window, TITLE, question, roles, stay=Answer.STAY.value))


def ask_to_replace(window: QWidget, name: str) -> bool:
    """Ask whether what another program wrote into the file may go."""
    question = f"{name} was changed by another program meanwhile: write over it?"
    role = QMessageBox.ButtonRole.DestructiveRole
    return confirmed(window, TITLE, question, go_on="Write over it", role=role, stay="Leave it")


def ask_for_story(window: QWidget, folder: Path) -> Path | None:
    """A story's file to open, None: none was chosen."""
    chosen, _filter = QFileDialog.getOpenFileName(window, "Edit a story", str(folder), STORIES_FILTER)
    return Path(chosen) if chosen else None


def ask_for_target(window: QWidget, title: str, proposed: Path, *, adding: bool = False) -> Path | None:
    """A story's file to write, None: none was chosen.

    Args:
        window: What the dialog stands over.
        title: What it says is done.
        proposed: The file that it begins with.
        adding: Whether a file that is there stays, so that nobody need be asked about it.

    Raises:
        FileExistsError: The ending was added, and there is a file of that name, of which nobody was asked.
    """
    options = QFileDialog.Option.DontConfirmOverwrite if adding else QFileDialog.Option(0)
    chosen, _filter = QFileDialog.getSaveFileName(
        window, title, str(proposed), STORIES_FILTER, options=options
    )
    if not chosen:
        return None
    return Path(chosen).with_suffix(ENDING) if adding else target_of(Path(chosen), (ENDING,))


def ask_for_session(window: QWidget, folder: Path) -> Path | None:
    """A session's file that a stop is to show, None: none was chosen."""
    kinds = f"Flashscope sessions (*{SUFFIX})"
    chosen, _filter = QFileDialog.getOpenFileName(window, "Session of the stop", str(folder), kinds)
    return Path(chosen) if chosen else None
