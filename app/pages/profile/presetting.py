"""Keeps, uses, renames and deletes the presets of the form; all of that can be undone."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from flashscope.app.control.edits import Edits
from flashscope.app.control.presets import LONGEST_NAME, Presets, PresetsError, made_preset
from flashscope.app.pages.profile.form import SweepForm
from flashscope.app.widgets.dialogs.line import LineDialog
from flashscope.app.words.plain import cut_short

NO_NAME = "A preset needs a name."
UNREADABLE = "The presets before could not be read; they are in {}."


class Presetting(QObject):
    """Asks for names, and makes the changes.

    Args:
        presets: The user's own.
        edits: Remembers what was changed.
        form: What is kept.

    Signals:
        failed: Something cannot be done: a sentence, and details (str, str).
    """

    failed = Signal(str, str)

    def __init__(self, presets: Presets, edits: Edits, form: SweepForm) -> None:
        super().__init__(form)
        self._presets, self._edits, self._form = presets, edits, form

    def save(self) -> None:
        """Ask for a name, and keep what the form says under it; a preset of that name is replaced."""
        name = self._ask("Save as a preset", "")
        if name is None:
            return
        request, before = self._form.request(), self._presets.find(name)
        if self._form.chips.error or not request.kernels or not request.seqlens:
            self.failed.emit(f"This cannot be kept: {self._form.blocked_reason}", "")
            return
        self._change(
            f"Preset {name} {'replaced' if before else 'saved'}",
            lambda: self._presets.keep(made_preset(name, request, self._form.runs.chosen())),
            lambda: self._presets.keep(before) if before else self._presets.drop(name),
        )

    def rename(self, before: str) -> None:
        """Ask for another name of this one."""
        name = self._ask("Rename the preset", before)
        if name is not None and name != cut_short(before):
            self._change(
                f"Preset {before} renamed {name}",
                lambda: self._presets.rename(before, name),
                lambda: self._presets.rename(name, before),
            )

    def delete(self, name: str) -> None:
        """Forget this one."""
        preset = self._presets.find(name)
        if preset is not None:
            self._change(
                f"Preset {preset.name} deleted",
                lambda: self._presets.drop(name),
                lambda: self._presets.keep(preset),
            )

    def _ask(self, title: str, known: str) -> str | None:
        """The name that the user gives; None: none, which is said unless the question was cancelled."""
        window: QWidget = self._form.window()
        answer, accepted = LineDialog.ask(
            window, title, "Name of the preset", text=cut_short(known), most=LONGEST_NAME
        )
        name = cut_short(" ".join(answer.split()), LONGEST_NAME)
        if accepted and not name:
            self.failed.emit(NO_NAME, "")
        return name if accepted and name else None

    def _change(self, words: str, forth: Callable[[], str], back: Callable[[], str]) -> None:
        """Make a change, and remember how it is taken back."""
        try:
            aside = forth()
        except PresetsError as error:
            self.failed.emit(str(error), "")
            return
        self._edits.note(words, lambda: _why_not(forth), lambda: _why_not(back))
        if aside:
            self.failed.emit(UNREADABLE.format(aside), "")


def _why_not(change: Callable[[], str]) -> str:
    try:
        change()
    except PresetsError as error:
        return str(error)
    return ""
