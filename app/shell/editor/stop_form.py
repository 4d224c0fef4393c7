"""The fields of the chosen stop."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import get_args

from msgspec.structs import fields, replace
from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from flashscope.app.control.bundled import NAMES
from flashscope.app.look.zoom import keep
from flashscope.app.pages.registry import title_of
from flashscope.app.shell.editor.one_undo import OneUndo, line_field, show_line, show_text
from flashscope.app.shell.editor.sentence import SentenceField
from flashscope.app.stage.draft import WORDS, of_page
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import SHOWN_BY, PageKey, Stop
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.widgets.remark import remark, take_back
from flashscope.app.words.plain import cut_short
from flashscope.profiles.plan.seqlens import parse_seqlen

PAGES: Sequence[PageKey] = get_args(PageKey)
ON_SHOW, NONE = "What is on show then", "Needs none"
ANOTHER = "Another file …"
NO_SESSION: Sequence[PageKey] = ("stepper", "ladder")
AUTOMATIC = "Automatic"
GAP = 8
NOTES_PX = 70
N_PX, COMBO_PX = 120, 150
LARGEST_N = 1 << 30


class StopForm(QWidget):
    """What a stop says and shows, in fields.

    Signals:
        edited: The stop is to be this one, by an edit of this name (Stop, str).
        file_wanted: The user looks for a session that is not offered.

    Args:
        undo: Has the keys of undo in all fields.
    """

    edited = Signal(object, str)
    file_wanted = Signal()

    def __init__(self, undo: OneUndo) -> None:
        super().__init__()
        self._stop: Stop | None = None
        self._sessions: Mapping[str, str] = {}  # names by what a stop says
        self.number = PlainLabel()
        self.number.setProperty("role", "caption")
        self.title = line_field("Title of the stop, for the speaker", "For the speaker", self._title)
        self.page, self.session = DropDown(), DropDown()
        self.page.setAccessibleName("View that the stop shows")
        for key in PAGES:
            self.page.addItem(title_of(key), key)
        self.page.activated.connect(self._choose_page)
        self.session.setAccessibleName("Session that the stop shows")
        self.session.activated.connect(self._choose_session)
        self.seqlen = line_field("N of the crosshair", AUTOMATIC, self._seqlen)
        self.shows = PlainLabel(wordWrap=True)
        self.shows.setProperty("role", "dim")
        self.shows.setAccessibleName("What else the stop shows")
        take = "Take the view, session, N, kernels and quantities from what is on show in the main window"
        self.take = does(text_button("Take from what is on show", take, lambda: None), "editor.take")
        self.sentence = SentenceField()
        self.sentence.typed.connect(lambda text: self._change("sentence", sentence=text))
        self.notes = QPlainTextEdit()
        self.notes.setAccessibleName("Notes for the speaker")
        self.notes.setPlaceholderText("What only the speaker sees (N on the stage)")
        self.notes.textChanged.connect(lambda: self._change("notes", notes=self.notes.toPlainText()))
        undo.watch(self.title, self.seqlen, self.sentence.text, self.notes)
        self._lay_out()

    def _lay_out(self) -> None:
        keep(self.notes, self.notes.setMinimumHeight, NOTES_PX)
        keep(self.seqlen, self.seqlen.setFixedWidth, N_PX)
        for box in (self.page, self.session):
            box.setMinimumContentsLength(1)
            keep(box, box.setMinimumWidth, COMBO_PX)
        self.shows.setMinimumWidth(1)
        title, session = _named("Title", self.title), _named("Session", self.session)
        where = Lines((_named("View", self.page), session, _named("N", self.seqlen)), (session,), GAP)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        for part in (self.number, title, where, Lines((self.shows, self.take), (self.shows,), GAP)):
            column.addWidget(part)
        column.addWidget(_named("Sentence", self.sentence))
        column.addWidget(_named("Notes", self.notes), 1)

    def offer_sessions(self, files: Iterable[tuple[str, str]]) -> None:
        """Offer these sessions beside the bundled ones: what a stop says of each, and its name."""
        self._sessions = {"": ON_SHOW} | NAMES | dict(files)

    def show_stop(self, stop: Stop, scene: Scene, number: str) -> None:
        """Show a stop, and its sentence as it is now."""
        self._stop = stop
        self.number.setText(number)
        show_line(self.title, stop.title)
        self.page.setCurrentIndex(self.page.findData(stop.page))
        self._show_session(stop)
        shown = "seqlen" in _shown(stop)
        self.seqlen.setEnabled(shown)
        self.seqlen.setPlaceholderText(AUTOMATIC if shown else "")
        if not self.seqlen.hasFocus() or not self.seqlen.isModified():
            show_line(self.seqlen, "" if stop.seqlen is None else str(stop.seqlen))
        self.shows.setText(shows(stop))
        self.sentence.show_sentence(stop.sentence, scene)
        show_text(self.notes, stop.notes)

    def _show_session(self, stop: Stop) -> None:
        with QSignalBlocker(self.session):
            self.session.clear()
            known = (
                self._sessions
                if stop.session in self._sessions
                else {**self._sessions, stop.session: Path(stop.session).stem}
            )
            for said, name in known.items():
                self.session.addItem(cut_short(name), said)
            self.session.addItem(ANOTHER)
            self.session.setCurrentIndex(self.session.findData(stop.session))
            self.session.setEnabled(stop.page not in NO_SESSION)
            if not (self.session.isEnabled() or stop.session):
                self.session.setItemText(self.session.currentIndex(), NONE)

    def _title(self, text: str) -> None:
        self._change("title", title=text)

    def _seqlen(self, text: str) -> None:
        """Another N; what is none is told, and the one before stays."""
        take_back(self.seqlen)
        try:
            wanted = parse_seqlen(text.strip()) if text.strip() else None
        except ValueError:
            wanted = 0
        if wanted is None or 0 < wanted <= LARGEST_N:
            self._change("seqlen", seqlen=wanted)
        else:
            remark(self.seqlen, f"‘{text.strip()[:20]}’ is no N; write 4096 or 4k.", lasting=True)

    def _choose_page(self, place: int) -> None:
        if self._stop is not None:
            self.edited.emit(of_page(self._stop, self.page.itemData(place)), "")

    def _choose_session(self, place: int) -> None:
        if self.session.itemText(place) == ANOTHER and self.session.itemData(place) is None:
            self.file_wanted.emit()
        else:
            self._change("", session=self.session.itemData(place))

    def _change(self, mark: str, **changed: object) -> None:
        if self._stop is not None:
            self.edited.emit(replace(self._stop, **changed), mark)


def shows(stop: Stop) -> str:
    """What a stop shows beside view, session and N, in a line; words where that is nothing."""
    apart = {"page", "session", "seqlen", *WORDS}
    looks = {one.name: getattr(stop, one.name) for one in fields(stop) if one.name not in apart}
    told = [f"{name} {_text(value)}" for name, value in looks.items() if value not in ("", (), None)]
    return f"Shows {' · '.join(told)}" if told else "Shows everything of it."


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _shown(stop: Stop) -> set[str]:
    return {name for name, pages in SHOWN_BY.items() if stop.page in pages}


def _named(words: str, field: QWidget) -> QWidget:
    """A field under its name."""
    both, label = QWidget(), PlainLabel(words)
    label.setProperty("role", "unit")
    label.setBuddy(field)
    column = QVBoxLayout(both)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(2)
    column.addWidget(label)
    column.addWidget(field, 1)
    return both
