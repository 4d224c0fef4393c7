"""A line that says what a view shows of something in another view, with the way back."""

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QHBoxLayout, QWidget

from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import PlainLabel, button_text, set_tip


class OriginLine(QWidget):
    """Hidden until something is shown of another view.

    Attributes:
        back: Leads there.
        words: What is shown, and what was changed for it.

    Args:
        go_back: What the button does.
        action: The key of the action that does the same.
        tools: What can be done with what is shown, behind the words.
    """

    def __init__(self, go_back: Callable[[], object], action: str, tools: Sequence[QWidget] = ()) -> None:
        super().__init__()
        self.back = does(text_button("Back", "Back", go_back), action)
        self.words = PlainLabel(wordWrap=True)
        self.words.setProperty("role", "dim")
        self.words.setMinimumWidth(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.back)
        row.addWidget(self.words, 1)
        for tool in tools:
            row.addWidget(tool)
        self.hide()

    def tell(self, title: str, words: str) -> None:
        """Say what is shown of the view of this title."""
        text = f"Back to {title}"
        self.back.setText(button_text(text))
        self.back.setAccessibleName(text)
        set_tip(self.back, f"Show again what was there before: {title}")
        self.words.setText(words)
        self.words.setAccessibleName(words)
        self.show()
