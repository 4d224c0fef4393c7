"""What the user has changed, undone and done again; what was refused, offered for a copy."""

from functools import partial
from pathlib import Path

from flashscope.app.control.actions import Action
from flashscope.app.control.controller import Controller
from flashscope.app.control.steps import Duplicated
from flashscope.app.widgets.frame.error_line import ErrorLine


class EditActions:
    """The actions of the Edit menu.

    Args:
        controller: Has the changes.
        errors: Tells what was changed, or why not.
    """

    def __init__(self, controller: Controller, errors: ErrorLine) -> None:
        self._controller, self._edits, self._errors = controller, controller.edits, errors
        self._edits.made.connect(errors.show_undo)
        self._edits.turned.connect(errors.show_notice)
        self._edits.withdrawn.connect(errors.withdraw)
        self._edits.failed.connect(controller.error_raised)
        self._edits.refused.connect(self._offer_copy)
        self._edits.replaced.connect(self._offer_reload)

    def offered(self) -> list[Action]:
        """Both actions."""
        return [
            Action("undo", "Undo the last change", self._edits.undo, "Edit", "Ctrl+Z"),
            Action(
                "redo",
                "Make the undone change again",
                self._edits.redo,
                "Edit",
                "Ctrl+Shift+Z; Ctrl+Y",
                also="redo",
            ),
        ]

    def _offer_copy(self, sentence: str, details: str, path: Path) -> None:
        """Tell why a file keeps what it has, and offer a copy that would not."""
        self._controller.error_raised.emit(sentence, details)
        self._errors.offer("Save a copy", partial(self._copy, path))

    def _offer_reload(self, sentence: str, details: str, path: Path) -> None:
        """Tell that a file holds another session, and offer to show that."""
        self._controller.error_raised.emit(sentence, details)
        self._errors.offer("Reload", partial(self._controller.open_session, path))

    def _copy(self, path: Path) -> None:
        step = Duplicated(path, self._controller.sessions_dir)
        self._edits.do("Saved a copy among your sessions", [step])
