"""What of a sweep from elsewhere is other here, on top of the form."""

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.widgets.plain import PlainLabel

TITLE = "Changed for this machine"


class Changes(QWidget):
    """A title and a line a sentence; nothing while there is none.

    Attributes:
        sentences: What is told.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sentences: tuple[str, ...] = ()
        title = PlainLabel(TITLE)
        title.setProperty("role", "warn")
        self._text = PlainLabel()
        self._text.setProperty("role", "unit")
        self._text.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 10)
        column.setSpacing(2)
        column.addWidget(title)
        column.addWidget(self._text)
        self.hide()

    def tell(self, sentences: Sequence[str]) -> None:
        """Tell these."""
        self.sentences = tuple(sentences)
        self._text.setText("\n".join(f"· {sentence}" for sentence in sentences))
        self.setVisible(bool(sentences))
