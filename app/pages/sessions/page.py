"""The library of saved sessions: find, open, replay, rename, annotate, tag, copy, delete and restore them."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDesktopServices, QKeySequence
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QStackedWidget,
    QVBoxLayout,
)

from flashscope.app.control.actions import Action
from flashscope.app.control.bundled import BUNDLED
from flashscope.app.control.controller import Controller
from flashscope.app.control.edits import FileEdit
from flashscope.app.control.folder_watch import FolderWatch
from flashscope.app.control.guard import guarded
from flashscope.app.control.playback import SPEEDS
from flashscope.app.control.steps import Deleted, Duplicated, Restored, RunsJoined, WordsChanged
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.base import Page
from flashscope.app.pages.host import Host
from flashscope.app.pages.sessions.asking import ask_name, ask_note, ask_tags
from flashscope.app.pages.sessions.listing import Listing
from flashscope.app.pages.sessions.model import SessionsModel
from flashscope.app.pages.sessions.preview import SessionPreview
from flashscope.app.pages.sessions.rows import SessionRow, may_be_joined, rows_called
from flashscope.app.pages.sessions.staging import SessionsStaging
from flashscope.app.pages.sessions.table import SessionsTable
from flashscope.app.pages.sessions.tags import TagChooser
from flashscope.app.pages.sessions.trend import SessionsTrend
from flashscope.app.pages.sessions.verbs import VERBS, actions_of, buttons_of
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.menus import pop_up
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.widgets.wheel import ChoiceBox
from flashscope.app.words.glossary import with_line
from flashscope.profiles.plan.run_mark import run_marks
from flashscope.profiles.results.findings.trend import Entry
from flashscope.profiles.results.model.dates import moment
from flashscope.profiles.store import SessionInfo
from flashscope.profiles.store.library import TRASH

SEARCH_PX = 200
EMPTY = (
    "No sessions yet. Every sweep is saved by itself and appears here.\n"
    "A .flashscope file from elsewhere opens when it is dropped on the window."
)
EMPTY_TRASH = "The trash is empty. What is deleted goes there."
NOTHING_FOUND = "No session matches the search."


class Views(QStackedWidget):
    """The table, the curves, or words in their place."""

    @guarded(bool)
    def hasHeightForWidth(self) -> bool:
        """No: the words would make the page as high as all beside them would like to be."""
        return False


class SessionsPage(Page):
    """The table of saved sessions, with those that come with the program; of deleted ones; or their trend.

    Signals:
        resume_requested: A session whose sweep is to go on (Path).
        comparison_wanted: Compare the chosen sessions, the oldest the baseline (list of Path).
        export_wanted: Write a file of each of these sessions (list of Path).
    """

    key = "sessions"
    gives_way = True

    resume_requested = Signal(object)
    comparison_wanted = Signal(list)
    export_wanted = Signal(list)

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        self.model = SessionsModel(self)
        self._listing = Listing(self.model, self)
        self._listing.ended.connect(self._listed)
        self._watch = FolderWatch(self)
        self._watch.changed.connect(self.refresh)
        self.table = SessionsTable(self.model, theme)
        self._view = self.key
        self.table.doubleClicked.connect(lambda _index: self.open_chosen())
        self.table.chosen_changed.connect(self._enable)
        self.table.menu_wanted.connect(self._open_menu)
        self.preview = SessionPreview(theme)
        self.search = QLineEdit(
            placeholderText="Search names, devices, kernels, tags, notes", clearButtonEnabled=True
        )
        self.search.setAccessibleName("Search sessions")
        keep(self.search, self.search.setMinimumWidth, SEARCH_PX)
        self.search.textChanged.connect(self._find)
        self.tag = TagChooser()
        self.tag.currentIndexChanged.connect(self._find)
        self.words = PlainLabel(
            "Reading the sessions …", alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True
        )
        self.words.setProperty("role", "dim")
        self._stack = Views()
        self._stack.addWidget(self.words)
        self._stack.addWidget(self.table)
        self.trend = SessionsTrend(theme)
        self.trend.entry_chosen.connect(self._open_entry)
        self._stack.addWidget(self.trend)
        self.let_export([self.trend.card.export_button.exporter])
        self.staging = SessionsStaging(self, controller)
        self._lay_out()
        controller.running_changed.connect(lambda _running: self.refresh())
        controller.edits.touched.connect(self._touched)
        self._enable()
        self.refresh()

    def join(self, host: Host) -> None:
        """Have the window resume, compare and export what is chosen."""
        super().join(host)
        self.resume_requested.connect(host.resume)
        self.comparison_wanted.connect(partial(host.show_files, "compare"))
        self.export_wanted.connect(host.export_each)

    def actions_offered(self) -> list[Action]:
        """Open, replay, rename, annotate, tag, copy, delete, refresh."""
        return [
            *self._on_chosen(),
            Action("sessions.search", "Search the sessions", self.search.setFocus, "Sessions", "Ctrl+F; /"),
            Action(
                "sessions.turn",
                "Unfold the chosen row's runs, or fold them",
                self.table.turn,
                "Sessions",
                "U",
            ),
            Action("sessions.refresh", "Read the sessions again", self.refresh, "Sessions"),
        ]

    def _on_chosen(self) -> list[Action]:
        """What can be done with the chosen rows, where its button can be pressed; their menu has it, too."""
        return actions_of({key: button.click for key, button in self._buttons.items()})

    def _acts(self) -> dict[str, Callable[[], None]]:
        return {
            "open": self.open_chosen,
            "replay": self.replay_chosen,
            "resume": self.resume_chosen,
            "compare": self.compare_chosen,
            "export": self.export_chosen,
            "reveal": self.reveal_chosen,
            "rename": self.rename_chosen,
            "note": self.note_chosen,
            "tag": self.tag_chosen,
            "join": self.join_chosen,
            "copy": self.copy_chosen,
            "delete": self.delete_chosen,
            "restore": self.restore_chosen,
        }

    def refresh(self) -> None:
        """Read the folders again, in the background; what has not changed is not read."""
        folder = self.controller.sessions_dir
        self._listing.read([folder / TRASH] if self.deleted else [folder, BUNDLED])

    @property
    def deleted(self) -> bool:
        """Whether the deleted sessions are on show."""
        return self._view == "trash"

    @property
    def over_time(self) -> bool:
        """Whether the sessions are on show as they followed each other."""
        return self._view == "trend"

    def show_view(self, key: str) -> None:
        """Show the library, what was deleted, or how all developed: what is not on show is not chosen."""
        before, self._view = self.deleted, key
        if self.deleted is not before:
            self.model.show([])
            self.refresh()
        self._explain()
        self._enable()

    def chosen_row(self) -> SessionRow | None:
        """The chosen row, of several the one that was chosen last."""
        return self.table.current() if self.chosen_all() else None

    def chosen(self) -> SessionInfo | None:
        """The session in that row, of several runs the newest."""
        row = self.chosen_row()
        return None if row is None else row.newest

    def chosen_rows(self) -> list[SessionRow]:
        """All chosen rows, in the order on show; none where their table is not."""
        return [] if self.over_time else self.table.chosen_rows()

    def chosen_all(self) -> list[SessionInfo]:
        """All sessions in the chosen rows, each once."""
        return [] if self.over_time else self.table.chosen()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        super().apply_theme(theme)
        self.table.apply_theme(theme)
        self.preview.apply_theme(theme)
        self.trend.apply_theme(theme)

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Wait for what is being read, and read no more."""
        self._watch.stop()
        self._listing.wait()
        self.preview.wait()
        self.trend.wait()
        super().closeEvent(event)

    def open_chosen(self) -> None:
        """Show the chosen session in the Profile page."""
        info = self.chosen()
        if info is not None:
            self.file_chosen.emit(info.path)

    def replay_chosen(self) -> None:
        """Open the chosen session and play it at the chosen speed."""
        info = self.chosen()
        if info is not None:
            speed = self.speed.currentData()
            self.controller.open_session(info.path, then=partial(self.controller.replay, speed))

    def resume_chosen(self) -> None:
        """Go on with the sweep of the chosen session."""
        info = self._resumable()
        if info is not None:
            self.resume_requested.emit(info.path)

    def compare_chosen(self) -> None:
        """Compare the chosen sessions; the oldest is the baseline."""
        readable = (one for one in self.chosen_all() if not one.error)
        infos = sorted(readable, key=lambda one: moment(one.started_at))
        if infos:
            self.comparison_wanted.emit([info.path for info in infos])

    def export_chosen(self) -> None:
        """Write a file of each chosen session, in one folder."""
        infos = self.chosen_all()
        if infos:
            self.export_wanted.emit([info.path for info in infos])

    def reveal_chosen(self) -> None:
        """Show the folder of the chosen session in the file manager, or say where it is."""
        info = self.chosen()
        if info is not None and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(info.path.parent))):
            self.noticed.emit(f"No file manager can be opened. The file is {info.path}.")

    def rename_chosen(self) -> None:
        """Ask for another name of the chosen session, or of all its runs."""
        ask_name(self, self.chosen_row(), self.controller.edits, self.noticed.emit)

    def note_chosen(self) -> None:
        """Ask for the note of the chosen session."""
        ask_note(self, self.chosen(), self.controller.edits)

    def tag_chosen(self) -> None:
        """Ask for tags of all chosen sessions."""
        ask_tags(self, self.chosen_rows(), self.controller.edits)

    def join_chosen(self) -> None:
        """Make the chosen sessions runs of one plan, the oldest the first, if that is what they are."""
        infos = sorted(self.chosen_all(), key=lambda one: moment(one.started_at))
        if may_be_joined(infos):
            runs = tuple((info.path, info.id) for info in infos)
            step = RunsJoined(infos[0].path, runs, run_marks(len(infos)))
            self.controller.edits.do(f"Joined {len(infos)} sessions as runs of one plan", [step])

    def copy_chosen(self) -> None:
        """Put a copy of each chosen session among the user's own."""
        rows = [row for row in self.chosen_rows() if not row.info.error]
        folder = self.controller.sessions_dir
        steps = [Duplicated(info.path, folder) for info in self.chosen_all() if not info.error]
        self.controller.edits.do(f"Duplicated {rows_called(rows)}", steps)

    def delete_chosen(self) -> None:
        """Move the chosen sessions to the trash; this can be undone."""
        steps = [Deleted(info.path) for info in self.chosen_all()]
        self.controller.edits.do(f"Deleted {rows_called(self.chosen_rows())}", steps)

    def restore_chosen(self) -> None:
        """Take the chosen sessions out of the trash."""
        if self.deleted:
            steps = [Restored(info.path) for info in self.chosen_all()]
            self.controller.edits.do(f"Restored {rows_called(self.chosen_rows())}", steps)

    def _resumable(self) -> SessionInfo | None:
        """The chosen session if it is the only one, unfinished and the user's own, out of the trash."""
        rows, info = self.chosen_rows(), self.chosen()
        ours = info is not None and info.unfinished and info.path.parent == self.controller.sessions_dir
        return info if ours and len(rows) == 1 else None

    def _open_entry(self, entry: Entry) -> None:
        self.file_chosen.emit(Path(entry.file))

    def _lay_out(self) -> None:
        self.speed = ChoiceBox()
        self.speed.setAccessibleName("Speed of the replay")
        for speed in SPEEDS:
            self.speed.addItem(f"{speed:g}×", speed)
        self.speed.setCurrentIndex(SPEEDS.index(1.0))
        self._buttons = buttons_of(self._acts())
        first = Lines((self.search, self.tag), (self.search,), 8)
        keys = list(self._buttons)
        before, after = ([self._buttons[key] for key in some] for some in (keys[:2], keys[2:]))
        tools = Lines((*before, self.speed, *after), (), 8)
        shown = QHBoxLayout()
        shown.setSpacing(12)
        shown.addWidget(self._stack, 3)
        shown.addWidget(self.preview, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(12)
        column.addWidget(first)
        column.addWidget(tools)
        column.addLayout(shown, 1)

    def _touched(self, steps: Sequence[FileEdit]) -> None:
        """Read what was changed; what moved is chosen then and in view, else what stands where it stood."""
        self.table.expect({one.path for one in steps if _moves(one)})
        self.refresh()

    def _listed(self) -> None:
        """Follow the list that was read."""
        self._watch.watch(self._listing.folders)
        self.table.choose_expected()
        self.table.fit_columns()
        self.tag.offer(self.model.tags)
        self._explain()
        self._enable()

    def _find(self) -> None:
        self.model.search(self.search.text(), self.tag.chosen())
        self._explain()

    def _explain(self) -> None:
        empty = EMPTY_TRASH if self.deleted else EMPTY
        self.words.setText(NOTHING_FOUND if self.model.known else empty)
        shown = self.trend if self.over_time else self.table
        self._stack.setCurrentWidget(shown if self.model.rowCount() else self.words)
        if self.over_time:
            self.trend.show_infos(self.model.infos())

    def _enable(self) -> None:
        chosen = self.chosen_rows()
        readable = any(not row.info.error for row in chosen)
        one = len(chosen) == 1
        possible = {"compare": readable, "open": one, "replay": one and readable, "rename": one and readable}
        possible |= {"note": one and readable, "tag": readable, "copy": readable}
        possible |= {"reveal": one, "join": may_be_joined(self.chosen_all())}
        possible["resume"] = self._resumable() is not None
        for verb in VERBS:
            button = self._buttons[verb.key]
            button.setEnabled(verb.is_done(self._place) and possible.get(verb.key, bool(chosen)))
            set_tip(button, with_line(verb.label, verb.tip(self._place)))
        self.preview.show_rows(chosen)

    def _open_menu(self, place: QPoint) -> None:
        """What can be done with the chosen rows, as its buttons can be pressed now."""
        menu = QMenu(self)
        for verb, action in zip(VERBS, self._on_chosen(), strict=True):
            if verb.is_done(self._place):
                shown = menu.addAction(action.title, action.trigger)
                shown.setShortcut(QKeySequence(action.shortcut.partition(";")[0]))
                shown.setEnabled(self._buttons[verb.key].isEnabled())
        pop_up(menu, place)

    @property
    def _place(self) -> str:
        """Where the rows on show are, as verbs name it."""
        return "trash" if self.deleted else "sessions"


def _moves(step: FileEdit) -> bool:
    """Whether a row is elsewhere after it: in the trash or back, or where its name has it."""
    return isinstance(step, Deleted | Restored) or (isinstance(step, WordsChanged) and step.field == "name")
