"""A label of one line: a text that is too long ends in an ellipsis, and the tool tip has all of it.

Where no more than a letter or two would have room there is nothing: they say nothing.
"""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget
from superqt import QElidingLabel

from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import keep, px
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.plain import cut_short

FEWEST = 4  # characters of a text that is shortened, with its ellipsis
ROUNDING_PX = 1  # Qt rounds the width of a text, and shortens what is a fraction too wide


class ElidedLabel(QElidingLabel):
    """superqt's label for one line of plain text, which asks for as much room as its whole text takes.

    Args:
        text: The text; several lines become one.
        parent: Its owner.
        mode: Where the ellipsis stands.
        padding: Pixels that the stylesheet takes on the left and right.
    """

    _shorter: Sequence[str] = ()

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        padding: int = 2,
    ) -> None:
        super().__init__(parent)
        self._padding = padding
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setElideMode(mode)
        keep(self, self.setEllipsesWidth, padding)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def set_texts(self, text: str, *shorter: str) -> None:
        """Show another text, or where it has no room one of the shorter ones, the longest first."""
        self._shorter = shorter
        self.setText(text)

    @guarded(str)
    def _elidedText(self) -> str:
        """The first of the texts that has room, else what of the last one has."""
        room, metrics = self.width() - px(self._padding) - ROUNDING_PX, self.fontMetrics()
        told = (self.text(), *map(cut_short, self._shorter))
        fitting = next((text for text in told if metrics.horizontalAdvance(text) <= room), told[-1])
        if fitting == self.text():
            shown = str(super()._elidedText())
        else:
            shown = metrics.elidedText(fitting, self.elideMode(), max(room, 0))
        return shown if len(shown) >= FEWEST or shown in told else ""

    def setText(self, text: str) -> None:
        """Show another text."""
        line = " ".join(cut_short(text).splitlines())
        if line != self.text():
            super().setText(line)
            self.setAccessibleName(line)
            self._explain()
            self.updateGeometry()

    @guarded(QSize)
    def sizeHint(self) -> QSize:
        """Room for the whole line: superqt asks for that of the shortened one, which could not grow again."""
        width = self.fontMetrics().horizontalAdvance(self.text()) + px(self._padding) + ROUNDING_PX
        return QSize(width, super().sizeHint().height())

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the text to the new width."""
        super().resizeEvent(event)
        self._explain()

    def _explain(self) -> None:
        shortened = QLabel.text(self) != self.text()
        set_tip(self, self.text() if shortened else "")
