"""The user's notes on points and moments of the session on show."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QListWidget, QVBoxLayout, QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.control.steps import WordsChanged
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.dialogs.note import NoteDialog
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.plain import cut_short
from flashscope.app.words.units import seqlen_text
from flashscope.profiles.results.model.bookmarks import Bookmark, moment_text
from flashscope.profiles.results.model.curves import telling_labels
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import Session

EMPTY = (
    "No notes yet. Choose a row of the results, or click at a moment of the telemetry, and add one here.\n"
    "They are kept in the session's file and stand in its exports."
)
NO_POINT = "Choose a row of the results first; the note is about its point."
NO_MOMENT = "Click at a moment of the telemetry first; the note is about it."
NO_FILE = "There is no saved session on show to write notes on; run a sweep or open a file first."
SHOWN_TEXT = 200  # characters of a note in the list


class NotesPanel(QWidget):
    """Lists the notes; they are added, edited and deleted here, each change undoable.

    Attributes:
        point: Index of the point that a new note would be about, None for none.
        at_s: The moment that a new note would be about, in seconds since the session began; None for none.

    Signals:
        point_chosen: A note on this point was chosen (int).
        moment_chosen: A note on this moment was chosen (float, seconds since the session began).
        noticed: Why nothing can be added, in one line (str).
    """

    point_chosen = Signal(int)
    moment_chosen = Signal(float)
    noticed = Signal(str)

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self._controller = controller
        self.point: int | None = None
        self.at_s: float | None = None
        self.list = QListWidget()
        self.list.setAccessibleName("Notes on points and moments")
        self.list.itemClicked.connect(lambda _item: self._go())
        self.list.itemActivated.connect(lambda _item: self._go())
        self.list.currentRowChanged.connect(lambda _row: self._enable())
        self.words = PlainLabel(EMPTY, wordWrap=True)
        self.words.setProperty("role", "dim")
        self._edit = text_button("Edit", "Edit the chosen note", self.edit)
        self._delete = text_button("Delete", "Delete the chosen note", self.delete)
        self._lay_out()
        controller.words.changed.connect(self.refresh)
        self.refresh()

    def show_session(self) -> None:
        """Another session is on show."""
        self.point = self.at_s = None
        self.refresh()

    def refresh(self) -> None:
        """List the notes as they are now."""
        session, kept = self._controller.session, self.list.currentRow()
        self.list.clear()
        if session is not None:
            self.list.addItems([bookmark_text(session, one) for one in session.bookmarks])
        self.list.setCurrentRow(min(kept, self.list.count() - 1))
        self.list.setVisible(self.list.count() > 0)
        self.words.setVisible(self.list.count() == 0)
        self._enable()

    def note_point(self) -> None:
        """Ask for a note on the chosen point."""
        self._add(NO_POINT, None if self.point is None else Bookmark(point=self.point))

    def note_moment(self) -> None:
        """Ask for a note on the chosen moment."""
        session = self._controller.session
        known = session is not None and self.at_s is not None
        t_ns = session.t0_ns + round(self.at_s * 1e9) if session and self.at_s is not None else 0
        self._add(NO_MOMENT, Bookmark(t_ns=t_ns) if known else None)

    def edit(self) -> None:
        """Ask for other words of the chosen note."""
        one = self._chosen()
        if one is not None:
            self._ask(one, lambda notes, new: tuple(new if note == one else note for note in notes))

    def delete(self) -> None:
        """Take the chosen note away; this can be undone."""
        one = self._chosen()
        if one is not None:
            self._change("Deleted a note", lambda notes: tuple(note for note in notes if note != one))

    def _add(self, missing: str, place: Bookmark | None) -> None:
        if self._controller.session is None or self._controller.path is None:
            self.noticed.emit(NO_FILE)
        elif place is None:
            self.noticed.emit(missing)
        else:
            self._ask(place, lambda notes, new: (*notes, new))

    def _ask(
        self, place: Bookmark, put: Callable[[tuple[Bookmark, ...], Bookmark], tuple[Bookmark, ...]]
    ) -> None:
        session = self._controller.session
        if session is None:
            return
        about = place_text(session, place)
        text, accepted = NoteDialog.ask(self, f"Note on {about}", place.text)
        if accepted:
            new = Bookmark(point=place.point, t_ns=place.t_ns, text=text)
            self._change(f"Noted {about}", lambda notes: put(notes, new))

    def _change(self, words: str, change: Callable[[tuple[Bookmark, ...]], tuple[Bookmark, ...]]) -> None:
        session, path = self._controller.session, self._controller.path
        if session is not None and path is not None:
            before = session.bookmarks
            step = WordsChanged(path, "bookmarks", before, change(before), session.id)
            self._controller.edits.do(words, [step])

    def _chosen(self) -> Bookmark | None:
        session, row = self._controller.session, self.list.currentRow()
        return session.bookmarks[row] if session is not None and 0 <= row < len(session.bookmarks) else None

    def _go(self) -> None:
        one, session = self._chosen(), self._controller.session
        if one is None or session is None:
            return
        if one.point is not None:
            self.point_chosen.emit(one.point)
        elif one.t_ns is not None:
            self.moment_chosen.emit((one.t_ns - session.t0_ns) / 1e9)

    def _enable(self) -> None:
        for button in (self._edit, self._delete):
            button.setEnabled(self._chosen() is not None)

    def _lay_out(self) -> None:
        point = text_button("Note on the point", "Note on the chosen point", self.note_point)
        does(point, "profile.note_point")
        moment = text_button("Note on the moment", "Note on the chosen moment", self.note_moment)
        does(moment, "profile.note_moment")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(Lines((point, moment, self._edit, self._delete), (), 8))
        column.addWidget(self.words)
        column.addWidget(self.list, 1)
        column.addStretch(0)


def bookmark_text(session: Session, one: Bookmark) -> str:
    """A note and what it is about, in one line."""
    words = cut_short(" ".join(one.text.split()), SHOWN_TEXT)
    return ": ".join(filter(None, (place_text(session, one), words)))


def place_text(session: Session, one: Bookmark) -> str:
    """What a note is about: `flash2 at N = 8k`, `at 12.345 s`."""
    if one.t_ns is not None:
        return moment_text(one.t_ns, session.t0_ns)
    measured = rows(session)
    if one.point is None or one.point >= len(measured):
        return "a point of the drift check"
    row = measured[one.point]
    place = f"{row.kernel} at N = {seqlen_text(row.seqlen)}"
    return ", ".join(filter(None, (place, telling_labels(measured)[row.problem])))
