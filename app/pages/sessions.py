"""The page of saved sessions: find, open, replay, rename, annotate, delete and restore them."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QInputDialog,
    QLineEdit,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
)

from app.control.actions import Action
from app.control.controller import Controller
from app.control.guard import guarded
from app.look.theme import Theme
from app.pages.base import Page
from app.pages.listing import Listing
from app.pages.sessions_model import (
    DATE_COLUMN,
    INFO_ROLE,
    KERNELS_COLUMN,
    SEARCH_ROLE,
    SORT_ROLE,
    SessionsModel,
    session_name,
)
from app.widgets.buttons import text_button
from app.widgets.plain import Label
from profiles.store import SessionFileError, SessionInfo, rename, restore, set_note, trash

SPEEDS = (1, 2, 5, 10, 20)
WIDEST = 260  # pixels of the kernels' column to begin with: a dozen would push the rest out of sight
EMPTY = (
    "No sessions yet. Every sweep is saved by itself and appears here.\n"
    "A .flashscope file from elsewhere opens when it is dropped on the window."
)
NOTHING_FOUND = "No session matches the search."


class SessionsPage(Page):
    """The table of saved sessions.

    Signals:
        file_chosen: A session to open (Path).
        deleted: A session was deleted: words for the user, and what undoes it (str, callable).
    """

    key, title, icon = "sessions", "Sessions", "mdi6.folder-table-outline"

    file_chosen = Signal(object)
    deleted = Signal(str, object)

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        self._listing = Listing(controller.sessions_dir, self)
        self._listing.listed.connect(self._show)
        self.model = SessionsModel(self)
        self.proxy = QSortFilterProxyModel(self)
        self.proxy.setSourceModel(self.model)
        self.proxy.setSortRole(SORT_ROLE)
        self.proxy.setFilterRole(SEARCH_ROLE)
        self.proxy.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.table = self._make_table()
        self.search = QLineEdit(
            placeholderText="Search names, devices, kernels, notes", clearButtonEnabled=True
        )
        self.search.setAccessibleName("Search sessions")
        self.search.textChanged.connect(self._filter)
        self.words = Label("Reading the sessions …", alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.words.setProperty("role", "dim")
        self._stack = QStackedWidget()
        self._stack.addWidget(self.words)
        self._stack.addWidget(self.table)
        self._lay_out()
        controller.running_changed.connect(lambda _running: self.refresh())
        self.refresh()
        self._enable()

    def actions_offered(self) -> list[Action]:
        """Open, replay, rename, annotate, delete, refresh."""
        return [
            Action("sessions.open", "Open the chosen session", self.open_chosen, "Sessions", "Return; Enter"),
            Action("sessions.replay", "Replay the chosen session", self.replay_chosen, "Sessions", "R"),
            Action("sessions.rename", "Rename the chosen session", self.rename_chosen, "Sessions", "F2"),
            Action("sessions.note", "Edit the chosen session's note", self.note_chosen, "Sessions", "N"),
            Action("sessions.delete", "Delete the chosen session", self.delete_chosen, "Sessions", "Del"),
            Action("sessions.search", "Search the sessions", self.search.setFocus, "Sessions", "Ctrl+F; /"),
            Action("sessions.refresh", "Read the sessions again", self.refresh, "Sessions"),
        ]

    def refresh(self) -> None:
        """Read the folder again, in the background."""
        self._listing.refresh()

    def chosen(self) -> SessionInfo | None:
        """The session in the selected row."""
        rows = self.table.selectionModel().selectedRows()
        info = rows[0].data(INFO_ROLE) if rows else None
        return info if isinstance(info, SessionInfo) else None

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Wait for the folder to be read."""
        self._listing.wait()
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
            self.controller.open_session(info.path, replay_at=float(self.speed.currentData()))

    def rename_chosen(self) -> None:
        """Ask for another name of the chosen session."""
        info = self.chosen()
        if info is not None:
            self._change(info, QInputDialog.getText, "Name", session_name(info), rename)

    def note_chosen(self) -> None:
        """Ask for the note of the chosen session."""
        info = self.chosen()
        if info is not None:
            self._change(info, QInputDialog.getMultiLineText, "Note", info.note, set_note)

    def delete_chosen(self) -> None:
        """Delete the chosen session; this can be undone."""
        info = self.chosen()
        if info is None:
            return
        try:
            trashed = trash(info.path)
        except SessionFileError as error:
            self.controller.error_raised.emit(str(error), str(info.path))
            return
        self.refresh()
        self.deleted.emit(f"Deleted {session_name(info)}.", lambda: self._restore(trashed))

    def _restore(self, trashed: Path) -> None:
        try:
            restore(trashed)
        except SessionFileError as error:
            self.controller.error_raised.emit(str(error), str(trashed))
        self.refresh()

    def _change(
        self,
        info: SessionInfo,
        ask: Callable[..., tuple[str, bool]],
        what: str,
        text: str,
        change: Callable[[Path, str], None],
    ) -> None:
        """Ask for another name or note; one left as it is changes nothing."""
        answer, accepted = ask(self, what, what, text=text)
        if not accepted or answer == text:
            return
        try:
            change(info.path, answer)
        except SessionFileError as error:
            self.controller.error_raised.emit(str(error), str(info.path))
        self.refresh()

    def _make_table(self) -> QTableView:
        table = QTableView(showGrid=False, sortingEnabled=True)
        table.setAccessibleName("Saved sessions")
        table.setModel(self.proxy)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setTabKeyNavigation(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(32)
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        table.sortByColumn(DATE_COLUMN, Qt.SortOrder.DescendingOrder)
        table.doubleClicked.connect(lambda _index: self.open_chosen())
        table.selectionModel().selectionChanged.connect(lambda *_: self._enable())
        return table

    def _lay_out(self) -> None:
        self.speed = QComboBox()
        self.speed.setAccessibleName("Speed of the replay")
        for speed in SPEEDS:
            self.speed.addItem(f"{speed}×", speed)
        self._buttons = [
            text_button("Open", "Open the chosen session", self.open_chosen, "primary"),
            text_button("Replay", "Replay the chosen session", self.replay_chosen),
            text_button("Rename", "Rename the chosen session", self.rename_chosen),
            text_button("Note", "Edit the chosen session's note", self.note_chosen),
            text_button("Delete", "Delete the chosen session", self.delete_chosen),
        ]
        heading = Label("Sessions")
        heading.setProperty("role", "heading")
        tools = QHBoxLayout()
        tools.setSpacing(8)
        tools.addWidget(self.search, 1)
        for button in self._buttons[:2]:
            tools.addWidget(button)
        tools.addWidget(self.speed)
        for button in self._buttons[2:]:
            tools.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(12)
        column.addWidget(heading)
        column.addLayout(tools)
        column.addWidget(self._stack, 1)

    def _show(self, infos: list[SessionInfo]) -> None:
        kept = self.chosen()
        first = self.model.rowCount() == 0
        self.model.show(infos)
        if first and infos:
            self.table.resizeColumnsToContents()
            width = min(self.table.columnWidth(KERNELS_COLUMN), WIDEST)
            self.table.setColumnWidth(KERNELS_COLUMN, width)
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
        self.words.setText(NOTHING_FOUND if self.model.rowCount() else EMPTY)
        self._stack.setCurrentWidget(self.table if self.proxy.rowCount() else self.words)

    def _enable(self) -> None:
        info = self.chosen()
        readable = info is not None and not info.error
        for button in self._buttons:
            button.setEnabled(readable)
        self._buttons[0].setEnabled(info is not None)
        self._buttons[-1].setEnabled(info is not None)
