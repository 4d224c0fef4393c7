"""A drop-down whose entries say what they mean."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from flashscope.app.widgets.term_label import tell_terms
from flashscope.app.widgets.wheel import ChoiceBox


class DropDown(ChoiceBox):
    """A box of which an entry that is a term says what it means."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model().rowsInserted.connect(lambda *_: tell_terms(self))


def choice_of(name: str, entries: Sequence[tuple[str, object]]) -> DropDown:
    """A box of these texts, each with what it stands for, and its name for a screen reader."""
    box = DropDown()
    box.setAccessibleName(name)
    for text, data in entries:
        box.addItem(text, data)
    return box
