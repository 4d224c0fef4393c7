"""What the Compare page says before there are two sessions."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import PlainLabel
from flashscope.profiles.results.compare import MOST_OTHERS

WORDS = (
    f"Choose a baseline and up to {MOST_OTHERS} other sessions. Points pair by kernel, problem and protocol;"
    " each pair gets a ratio with its interval and a verdict, and what differs around them is said first.\n\n"
    "Tick several rows of the Library and press Compare, drop session files here, or open them."
    " Runs of one plan are one side."
)
ONE_MORE = "Choose one more session to compare with."


class EmptyState(QWidget):
    """Words and buttons.

    Signals:
        opening_wanted: Let the user choose files.
        sessions_wanted: Show the library.
        bundled_wanted: Compare the recordings that come with the program.
    """

    opening_wanted = Signal()
    sessions_wanted = Signal()
    bundled_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        heading = PlainLabel("What changed between two runs?", alignment=Qt.AlignmentFlag.AlignCenter)
        heading.setProperty("role", "heading")
        self.words = PlainLabel(WORDS, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.words.setProperty("role", "dim")
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.addStretch(2)
        for part in (heading, self.words):
            column.addWidget(part)
        bundled = "Compare two bundled recordings"
        for text, name, signal, role, key in (
            (
                "Open sessions …",
                "Open session files to compare",
                self.opening_wanted,
                "primary",
                "compare.open",
            ),
            (
                "Choose in the Library",
                "Show Library",
                self.sessions_wanted,
                "",
                "page.sessions",
            ),
            (bundled, bundled, self.bundled_wanted, "", ""),
        ):
            button = does(text_button(text, name, signal.emit, role), key)
            column.addWidget(button, alignment=Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)

    @guarded(bool)
    def hasHeightForWidth(self) -> bool:
        """No: its words would make the whole page as high as it would like to be."""
        return False

    def show_count(self, count: int) -> None:
        """Say how many are missing."""
        self.words.setText(ONE_MORE if count == 1 else WORDS)
