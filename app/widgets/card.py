"""A surface with a title on the left and its unit on the right."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from flashscope.app.widgets.term_label import TermFormula, TermLabel


class Card(QFrame):
    """A raised surface; add content to `body`.

    Args:
        title: What it shows.
        unit: The words at the right of the title.
        parent: Its owner.
        label: What writes the two: words that say what they mean, or formulas.

    Attributes:
        body: The layout under the title line.
        header: The title line, for a widget more at its right end.
    """

    def __init__(
        self,
        title: str = "",
        unit: str = "",
        parent: QWidget | None = None,
        *,
        label: type[TermLabel | TermFormula] = TermLabel,
    ) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self._title = label(title)
        self._title.setProperty("role", "title")
        self._unit = label(unit)
        self._unit.setProperty("role", "unit")
        self._unit.setMinimumWidth(1)  # a long name makes no card wider
        self.header = QHBoxLayout()
        self.header.addWidget(self._title)
        self.header.addStretch(1)
        self.header.addWidget(self._unit, alignment=Qt.AlignmentFlag.AlignBaseline)
        self.body = QVBoxLayout()
        self.body.setSpacing(8)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(12, 8, 12, 10)
        outer.setSpacing(4)
        outer.addLayout(self.header)
        outer.addLayout(self.body, 1)
        self._hide_empty()

    def set_title(self, title: str) -> None:
        """Change the title."""
        self._title.setText(title)
        self._hide_empty()

    def set_unit(self, unit: str) -> None:
        """Change the words at the right of the title."""
        self._unit.setText(unit)
        self._hide_empty()

    def _hide_empty(self) -> None:
        for label in (self._title, self._unit):
            label.setVisible(bool(label.text()))
