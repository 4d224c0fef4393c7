"""The glossary: what the words on screen mean, searched as one types."""

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from flashscope.app.look.zoom import px
from flashscope.app.widgets.buttons import DialogButtons
from flashscope.app.widgets.plain import FormulaLabel, escaped, strong
from flashscope.app.words.glossary import Meaning, found
from flashscope.app.words.matching import nothing_found

SIZE = 640, 560  # pixels at 100 %


class GlossarySheet(QDialog):
    """All terms, or those in which the query stands.

    Args:
        parent: The window.
        term: What is looked up at first.
    """

    def __init__(self, parent: QWidget, term: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle("Glossary")
        self.query = QLineEdit(placeholderText="Type a word", clearButtonEnabled=True)
        self.query.setAccessibleName("Term")
        self.text = FormulaLabel()
        self.text.setWordWrap(True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._scroll = QScrollArea(widgetResizable=True)
        self._scroll.setWidget(self.text)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setAccessibleName("Terms found")
        close = QDialogButtonBox.StandardButton.Close
        buttons = DialogButtons(close)
        buttons.button(close).setAutoDefault(False)  # Return belongs to the query
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.query)
        column.addWidget(self._scroll, 1)
        column.addWidget(buttons)
        self.resize(min(px(SIZE[0]), parent.width()), min(px(SIZE[1]), parent.height()))
        self.query.textChanged.connect(self._show_found)
        self.query.setText(term)
        self.query.selectAll()
        self._show_found(term)

    def _show_found(self, query: str) -> None:
        terms = found(query)
        self.text.setText(_table(terms) if terms else escaped(nothing_found(query)))
        self._scroll.verticalScrollBar().setValue(0)


def _table(terms: Iterable[Meaning]) -> str:
    """A line a term: its name, and what it means."""
    lines = "".join(
        f'<tr><td width="30%">{strong(escaped(term.name))}</td><td>{escaped(term.line)}</td></tr>'
        for term in terms
    )
    return f'<table width="100%" cellspacing="0" cellpadding="4">{lines}</table>'
