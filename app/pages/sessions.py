"""The page of saved sessions: find, open, replay, rename, annotate, delete and restore them."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QComboBox,
    QInputDialog,
    QLineEdit,
    QStackedWidget,
    QVBoxLayout,
)

from app.control.actions import Action
from app.control.bundled import BUNDLED
from app.control.chores import Chores
from app.control.controller import Controller
from app.control.guard import guarded
from app.control.playback import SPEEDS
from app.look.theme import Theme
from app.look.zoom import keep
from app.pages.base import Page
from app.pages.sessions_model import (
    INFO_ROLE,
    SEARCH_ROLE,
    SORT_ROLE,
    SessionsModel,
    session_name,
)
from app.pages.sessions_table import SessionsTable
from app.widgets.buttons import text_button
from app.widgets.lines import Lines
from app.widgets.plain import Label
from app.words.plain import cut
from profiles.store import SessionInfo, list_sessions, rename, restore, set_note, trash
from profiles.store.library import TRASH

SEARCH_PX = 200
EMPTY = (
    "No sessions yet. Every sweep is saved by itself and appears here.\n"
    "A .flashscope file from elsewhere opens when it is dropped on the window."
)
NOTHING_DELETED = "Nothing was deleted since Flashscope was started; the trash has what was deleted before."
EMPTY_TRASH = "The trash is empty. What is deleted goes there."
RESUME_TIP = "Measure what is left of the chosen session's plan, in its file"
NOTHING_FOUND = "No session matches the search."


class SessionsPage(Page):
    """The table of saved sessions, those that come with the program among them; or that of deleted ones.

    Signals:
        file_chosen: A session to open (Path).
        noticed: Something that the user should know of, in one line (str).
        resume_requested: A session whose sweep is to go on (Path).
        deleted: A session was deleted: words for the user, and what undoes it (str, callable).
        undone: That is being undone, or cannot be any more (callable).
        comparison_wanted: Compare the chosen sessions, the oldest the baseline (list of Path).
    """

    key, title, icon = "sessions", "Sessions", "mdi6.folder-table-outline"

    file_chosen = Signal(object)
    noticed = Signal(str)
    resume_requested = Signal(object)
    deleted = Signal(str, object)
    undone = Signal(object)
    comparison_wanted = Signal(list)

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        self._listing, self._chores = Chores(self), Chores(self)  # no list waits for a file that is held
        self._chores.failed.connect(self._tell)
        self._trashed: dict[Path, Callable[[], None]] = {}  # what undoes each delete, the last one last
        self.model = SessionsModel(self)
        self.proxy = QSortFilterProxyModel(self)
        self.proxy.setSourceModel(self.model)
        self.proxy.setSortRole(SORT_ROLE)
        self.proxy.setFilterRole(SEARCH_ROLE)
        self.proxy.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.table = SessionsTable(self.proxy)
        self.table.doubleClicked.connect(lambda _index: self.open_chosen())
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._enable())
        self.search = QLineEdit(
            placeholderText="Search names, devices, kernels, notes", clearButtonEnabled=True
        )
        self.search.setAccessibleName("Search sessions")
        keep(self.search, self.search.setMinimumWidth, SEARCH_PX)
        self.search.textChanged.connect(self._filter)
        self.words = Label("Reading the sessions …", alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.words.setProperty("role", "dim")
        self._stack = QStackedWidget()
        self._stack.addWidget(self.words)
        self._stack.addWidget(self.table)
        self._lay_out()
        controller.running_changed.connect(lambda _running: self.refresh())
        self._enter_trash(False)
        self._enable()

    def apply_theme(self, theme: Theme) -> None:
        """Fit the columns, too: another zoom ends in this."""
        super().apply_theme(theme)
        self.table.fit_columns()

    def actions_offered(self) -> list[Action]:
        """Open, replay, rename, annotate, delete, refresh."""
        return [
            Action("sessions.open", "Open the chosen session", self.open_chosen, "Sessions", "Return; Enter"),
            Action("sessions.replay", "Replay the chosen session", self.replay_chosen, "Sessions", "R"),
            Action("sessions.resume", "Resume the chosen session's sweep", self.resume_chosen, "Sessions"),
            Action("sessions.compare", "Compare the chosen sessions", self.compare_chosen, "Sessions", "C"),
            Action("sessions.rename", "Rename the chosen session", self.rename_chosen, "Sessions", "F2"),
            Action("sessions.note", "Edit the chosen session's note", self.note_chosen, "Sessions", "N"),
            Action("sessions.delete", "Delete the chosen session", self.delete_chosen, "Sessions", "Del"),
            Action("sessions.undo", "Undo the last delete", self.undo_delete, "Sessions", "Ctrl+Z"),
            Action("sessions.trash", "Show deleted sessions, or the others again", self._turn, "Sessions"),
            Action("sessions.search", "Search the sessions", self.search.setFocus, "Sessions", "Ctrl+F; /"),
            Action("sessions.refresh", "Read the sessions again", self.refresh, "Sessions"),
        ]

    def refresh(self) -> None:
        """Read the folders again, in the background."""
        folder = self.controller.sessions_dir
        folders = [folder / TRASH] if self.trash.isChecked() else [folder, BUNDLED]
        self._listing.do_instead(partial(_listed, folders), self._show)

    def chosen(self) -> SessionInfo | None:
        """The session in the selected row; None: there is none, or several are selected."""
        several = self.all_chosen()
        return several[0] if len(several) == 1 else None

    def all_chosen(self) -> list[SessionInfo]:
        """The sessions in the selected rows."""
        rows = self.table.selectionModel().selectedRows()
        return [info for row in rows if isinstance(info := row.data(INFO_ROLE), SessionInfo)]

    def compare_chosen(self) -> None:
        """Compare the chosen sessions; the oldest is the baseline."""
        infos = sorted((one for one in self.all_chosen() if not one.error), key=lambda one: one.started_at)
        if infos:
            self.comparison_wanted.emit([info.path for info in infos])

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Wait for what is being read and changed."""
        self._listing.wait()
        self._chores.wait()
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
        info = self.chosen()
        if info is not None and self._is_ours(info):
            self.resume_requested.emit(info.path)

    def rename_chosen(self) -> None:
        """Ask for another name of the chosen session."""
        info = self.chosen()
        if info is not None and self._is_ours(info):
            self._change(info, QInputDialog.getText, "Name", session_name(info), rename)

    def note_chosen(self) -> None:
        """Ask for the note of the chosen session."""
        info = self.chosen()
        if info is not None and self._is_ours(info):
            self._change(info, QInputDialog.getMultiLineText, "Note", info.note, set_note)

    def delete_chosen(self) -> None:
        """Move the chosen session to the trash; this can be undone."""
        info = self.chosen()
        if info is not None and self._is_ours(info):
            self._chores.do(partial(trash, info.path), partial(self._tell_deleted, session_name(info)))

    def undo_delete(self) -> None:
        """Bring back what was deleted last."""
        if self._trashed:
            next(reversed(self._trashed.values()))()
        else:
            self.noticed.emit(NOTHING_DELETED)

    def restore_chosen(self) -> None:
        """Take the chosen session out of the trash."""
        info = self.chosen()
        if info is not None and self.trash.isChecked():
            self._restore(info.path)

    def _tell_deleted(self, name: str, trashed: Path) -> None:
        undo = self._trashed[trashed] = partial(self._restore, trashed)
        self.refresh()
        self.deleted.emit(f"Deleted {name}. Ctrl+Z brings it back.", undo)

    def _restore(self, trashed: Path) -> None:
        self.undone.emit(self._trashed.pop(trashed, None))
        self._chores.do(partial(restore, trashed), self._tell_restored)

    def _tell_restored(self, path: Path) -> None:
        self.refresh()
        self.noticed.emit(f"{path.stem} is back.")

    def _tell(self, reason: str, details: str) -> None:
        self.controller.error_raised.emit(reason, details)
        self.refresh()

    def _is_ours(self, info: SessionInfo) -> bool:
        """Whether it may be changed: it neither comes with the program nor lies in the trash."""
        return info.path.parent == self.controller.sessions_dir

    def _turn(self) -> None:
        self.trash.toggle()

    def _change(
        self,
        info: SessionInfo,
        ask: Callable[..., tuple[str, bool]],
        what: str,
        text: str,
        change: Callable[[Path, str], None],
    ) -> None:
        """Ask for another name or note; one left as it is changes nothing."""
        offered = cut(text, len(text))
        answer, accepted = ask(self, what, what, text=offered)
        if accepted and answer != offered:
            self._chores.do(partial(change, info.path, answer), lambda _none: self.refresh())

    def _lay_out(self) -> None:
        self.speed = QComboBox()
        self.speed.setAccessibleName("Speed of the replay")
        for speed in SPEEDS:
            self.speed.addItem(f"{speed:g}×", speed)
        self.speed.setCurrentIndex(SPEEDS.index(1.0))
        self._buttons = [
            text_button("Open", "Open the chosen session", self.open_chosen, "primary"),
            text_button("Replay", "Replay the chosen session", self.replay_chosen),
            text_button("Compare", "Compare the chosen sessions", self.compare_chosen),
            text_button("Rename", "Rename the chosen session", self.rename_chosen),
            text_button("Note", "Edit the chosen session's note", self.note_chosen),
            text_button("Delete", "Delete the chosen session", self.delete_chosen),
        ]
        self.resume_button = text_button("Resume", RESUME_TIP, self.resume_chosen)
        self._restore_button = text_button("Restore", "Restore the chosen session", self.restore_chosen)
        self.trash = text_button("Trash", "Show deleted sessions", lambda: None)
        self.trash.setCheckable(True)
        self.trash.toggled.connect(self._enter_trash)
        heading = Label("Sessions")
        heading.setProperty("role", "heading")
        after = (*self._buttons[2:], self._restore_button, self.trash)
        before = (self.search, self.resume_button, *self._buttons[:2])
        tools = Lines((*before, self.speed, *after), (self.search,), 8)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(12)
        column.addWidget(heading)
        column.addWidget(tools)
        column.addWidget(self._stack, 1)

    def _show(self, infos: list[SessionInfo]) -> None:
        kept = self.chosen()
        self.model.show(infos)
        self.table.fit_columns()
        if kept is not None:
            self._select(kept.path)
        self._explain()
        self._enable()

    def _select(self, path: Path) -> None:
        for row in range(self.proxy.rowCount()):
            index: QModelIndex = self.proxy.index(row, 0)
            if index.data(INFO_ROLE).path == path:
                self.table.selectRow(row)

    def _filter(self, text: str) -> None:
        self.proxy.setFilterKeyColumn(0)
        self.proxy.setFilterFixedString(text)
        self._explain()

    def _explain(self) -> None:
        empty = EMPTY_TRASH if self.trash.isChecked() else EMPTY
        self.words.setText(NOTHING_FOUND if self.model.rowCount() else empty)
        self._stack.setCurrentWidget(self.table if self.proxy.rowCount() else self.words)

    def _enable(self) -> None:
        info = self.chosen()
        readable = info is not None and not info.error
        ours = info is not None and self._is_ours(info)
        look, replay, compare, *change, delete = self._buttons
        compare.setEnabled(any(not one.error for one in self.all_chosen()))
        look.setEnabled(info is not None)
        replay.setEnabled(readable)
        self.resume_button.setVisible(readable and ours and info is not None and info.unfinished)
        for button in change:
            button.setEnabled(readable and ours)
        delete.setEnabled(ours)
        self._restore_button.setEnabled(info is not None)

    def _enter_trash(self, entered: bool) -> None:
        """Show deleted sessions and what can be done with them, or the others."""
        for button in self._buttons[2:]:
            button.setVisible(not entered)
        self._restore_button.setVisible(entered)
        self.model.show([])
        self.refresh()


def _listed(folders: Sequence[Path]) -> list[SessionInfo]:
    return [info for folder in folders for info in list_sessions(folder)]
