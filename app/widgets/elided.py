"""A label that gives way: too long a text ends in an ellipsis and stands whole in the tool tip."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget


class ElidedLabel(QLabel):
    """One line of text, as wide as there is room.

    Args:
        text: The text.
        mode: Where the ellipsis stands.
        parent: Its owner.
        whole: Never shorten it.
        padding: Pixels that the stylesheet takes on the left and right.

    Attributes:
        full_text: The text before it was shortened.
    """

    def __init__(
        self,
        text: str = "",
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        parent: QWidget | None = None,
        *,
        whole: bool = False,
        padding: int = 2,
    ) -> None:
        super().__init__(parent)
        self._whole, self._padding = whole, padding
        self.full_text = ""
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.set_text(text)

    def set_text(self, text: str) -> None:
        """Show another text; only its first line."""
        if text != self.full_text:
            self.full_text = text
            self.setAccessibleName(text)
            self._elide()
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Room for the whole line."""
        width = self.fontMetrics().horizontalAdvance(self._line()) + self._padding
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Room for nothing but the ellipsis; for all of it when the text is to stay whole."""
        if self._whole:
            return self.sizeHint()
        return QSize(
            self.fontMetrics().horizontalAdvance("…") + self._padding, super().minimumSizeHint().height()
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the text to the new width."""
        super().resizeEvent(event)
        self._elide()

    def _line(self) -> str:
        return self.full_text.partition("\n")[0]

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self._line(), self._mode, self.width() - self._padding + 2)
        self.setText(shown)
        self.setToolTip(self.full_text if shown != self.full_text else "")
