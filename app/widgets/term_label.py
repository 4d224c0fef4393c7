"""Words on screen that say what they mean: labels, and the entries of a box."""

import re
from html import unescape

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QLabel

from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import FormulaLabel, PlainLabel, plain_tip, set_tip
from flashscope.app.widgets.wheel import ChoiceBox
from flashscope.app.words.glossary import lines_in, with_line

_INDEX, _TAG = re.compile("<sub>.*?</sub>"), re.compile("<[^>]*>")


class TermLabel(PlainLabel):
    """A label whose tip is what the glossary says of the terms in its text; without any it has no tip."""

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(text)
        set_tip(self, lines_in(text))


class TermFormula(FormulaLabel):
    """The same of a formula, by its words; an index is none of them."""

    def __init__(self, html: str = "") -> None:
        super().__init__()
        self.setText(html)

    def setText(self, text: str) -> None:
        """Show another formula."""
        super().setText(text)
        set_tip(self, lines_in(unescape(_TAG.sub("", _INDEX.sub("", text)))))


class TermLine(ElidedLabel):
    """The same of one line, which is shortened where it has no room: the tip has all of it, too."""

    def _explain(self) -> None:
        shortened = QLabel.text(self) != self.text()
        set_tip(self, with_line(self.text(), self.text() if shortened else ""))


class TermBox(ChoiceBox):
    """A box whose tip says what the chosen entry means, and after that what is chosen here.

    Args:
        name: What a screen reader says.
        hint: What is chosen here; empty: the name says it.
    """

    def __init__(self, name: str, hint: str = "") -> None:
        super().__init__()
        self._hint = hint or name
        self.setAccessibleName(name)
        set_tip(self, self._hint)
        self.currentIndexChanged.connect(lambda _place: self._tell())

    def choose_quietly(self, index: int) -> None:
        """Choose an entry and tell nobody."""
        with QSignalBlocker(self):
            self.setCurrentIndex(index)
        self._tell()

    def _tell(self) -> None:
        set_tip(self, with_line(self.currentText(), self._hint))


def tell_terms(box: QComboBox) -> None:
    """Give every entry that has no tip of its own what the glossary says of it."""
    told = Qt.ItemDataRole.ToolTipRole
    with QSignalBlocker(box.model()):  # a box is laid out anew whenever an entry changes
        for place in range(box.count()):
            if not box.itemData(place, told):
                box.setItemData(place, plain_tip(lines_in(box.itemText(place))) or None, told)
