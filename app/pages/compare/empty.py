"""What the Compare page says before there are two sessions."""

from collections.abc import Sequence

from PySide6.QtCore import Signal

from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.empty_view import EmptyView
from flashscope.app.widgets.keyed import does
from flashscope.profiles.results.compare import MOST_OTHERS

WORDS = (
    f"Choose a baseline and up to {MOST_OTHERS} other sessions. Points pair by kernel, problem and protocol;"
    " each pair gets a ratio with its interval and a verdict, and what differs around them is said first.\n\n"
    "Tick several rows of the Library and press Compare, drop session files here, or open them."
    " Runs of one plan are one side."
)
BUNDLED = "Compare two bundled recordings"
NO_POINTS = "None of these sessions has a point to compare. Open one to see what it holds:"
ONE_MORE = "Choose one more session to compare with."


class EmptyState(EmptyView):
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
        super().__init__("What changed between two runs?", WORDS)
        opening, library, bundled = self.opening_wanted, self.sessions_wanted, self.bundled_wanted
        for text, name, signal, role, key in (
            ("Open sessions …", "Open session files to compare", opening, "primary", "compare.open"),
            ("Choose in the Library", "Show Library", library, "", "page.sessions"),
            (BUNDLED, BUNDLED, bundled, "", ""),
        ):
            self.add(does(text_button(text, name, signal.emit, role), key))

    def show_none(self, sessions: Sequence[tuple[str, str]]) -> None:
        """Say that none of these has a point, and what each holds instead: its name and that."""
        told = "\n".join(f"{name}: {held}" for name, held in sessions)
        self.words.setText(f"{NO_POINTS}\n\n{told}")

    def show_count(self, count: int) -> None:
        """Say how many are missing."""
        self.words.setText(ONE_MORE if count == 1 else WORDS)
