"""The sentence over the plots, and under it, where it takes one line, what a user should know of it."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from flashscope.app.control.bundled import NAMES, recording_like
from flashscope.app.look.zoom import keep
from flashscope.app.pages.instead import LeadButton, instead_text
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.fitted import FittedLabel
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.results.headline import headline_text, needs_recording, note_text
from flashscope.profiles.results.findings.headline import Headline
from flashscope.profiles.results.model.session import Session

HEIGHT_PX = 42  # at least: the plots under it stay where they are while a sentence takes up to two lines
UNDER_PX = 4  # to the plots
EMPTY = "Run the sweep: what it shows is said here."


class HeadlineBar(QWidget):
    """Says what is on show.

    Signals:
        file_chosen: Open the recording of a GPU that comes with the program (Path).
    """

    file_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.sentence = FittedLabel()
        self.note = ElidedLabel()
        self.note.setProperty("role", "dim")
        self._recording: Path | None = None
        self.link = text_button("See a GPU recording", "See a GPU recording", self._open)
        self.lead = LeadButton()
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(self.sentence, 1)
        column.addWidget(self.note)
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 0, 0, UNDER_PX)
        row.addLayout(column, 1)
        row.addWidget(self.link)
        row.addWidget(self.lead)
        self._least = 0
        self.sentence.fitted.connect(self._show_note)
        keep(self, self._stand_at_least, HEIGHT_PX)
        self.say(None)

    def say(self, headline: Headline | None, session: Session | None = None) -> None:
        """Say this of a session; None: nothing yet, what would fill it, or where else something is."""
        self.note.setText(note_text(headline))
        empty = EMPTY if session is None else instead_text(session)
        self.sentence.setText(empty or headline_text(headline))
        self._offer(recording_like(headline.problem) if headline and needs_recording(headline) else None)
        self.lead.follow(session)

    def _offer(self, recording: Path | None) -> None:
        """Offer this recording; None: none."""
        self._recording = recording
        self.link.setVisible(recording is not None)
        if recording is not None:
            self.link.setAccessibleName(f"Open {NAMES[recording.stem]}")
            set_tip(self.link, f"Opens {NAMES[recording.stem]}, which is measured on a GPU.")

    def _stand_at_least(self, height: int) -> None:
        self._least = height
        self._make_room()

    def _make_room(self) -> None:
        """Be as high as a sentence in several lines is, which a narrow or much zoomed window breaks."""
        needed = self.sentence.heightForWidth(self.sentence.width()) if self.sentence.wordWrap() else 0
        self.setFixedHeight(max(self._least, needed + UNDER_PX))

    def _show_note(self, broken: bool) -> None:
        """Leave the note's room to a sentence in several lines, whose tip then says it, too."""
        self._make_room()
        self.note.setVisible(bool(self.note.text()) and not broken)
        set_tip(self.sentence, f"{self.sentence.text()} {self.note.text()}".strip())

    def _open(self) -> None:
        self.file_chosen.emit(self._recording)
