"""The sessions as a table: texts to read, raw values to sort by."""

from collections.abc import Callable
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.control.guard import guarded
from app.widgets.plain import plain_tip
from app.words.plain import cut
from app.words.provenance import LABELS
from app.words.units import seqlen_text
from profiles.store import SessionInfo
from profiles.wire.events import PointStatus

SORT_ROLE = Qt.ItemDataRole.UserRole
INFO_ROLE = Qt.ItemDataRole.UserRole + 1
SEARCH_ROLE = Qt.ItemDataRole.UserRole + 2
ANSWERED: tuple[PointStatus, ...] = ("done", "will-not-fit", "unsupported")  # nothing went wrong with these
Index = QModelIndex | QPersistentModelIndex


class SessionColumn(NamedTuple):
    """One column: its title, its text and the raw value it sorts by."""

    title: str
    text: Callable[[SessionInfo], str]
    raw: Callable[[SessionInfo], Any]
    right: bool = False


def session_name(info: SessionInfo) -> str:
    """The user's name of a session, else its file's."""
    return info.name or info.path.stem


def _device(info: SessionInfo) -> str:
    return f"{LABELS[info.backend]} · {info.device}" if info.backend else ""


def _date(info: SessionInfo) -> str:
    return info.started_at[:16].replace("T", " ")


def _seqlens(info: SessionInfo) -> str:
    if not info.seqlens:
        return ""
    first, last = info.seqlens[0], info.seqlens[-1]
    return seqlen_text(first) if first == last else f"{seqlen_text(first)} – {seqlen_text(last)}"


def _points(info: SessionInfo) -> str:
    total, answered = sum(info.statuses.values()), sum(info.statuses.get(status, 0) for status in ANSWERED)
    return "" if not total else str(total) if answered == total else f"{answered} of {total}"


def _note(info: SessionInfo) -> str:
    if info.error:  # the cause first: the name stands in a column of its own
        return info.error.replace(f"{info.path} ", "This file ", 1)
    return info.note.partition("\n")[0]


COLUMNS = (
    SessionColumn("Name", session_name, lambda info: session_name(info).casefold()),
    SessionColumn("Device", _device, _device),
    SessionColumn("Date", _date, lambda info: info.started_at),
    SessionColumn("Kernels", lambda info: ", ".join(info.kernels), lambda info: len(info.kernels)),
    SessionColumn("N", _seqlens, lambda info: max(info.seqlens, default=0), right=True),
    SessionColumn("Points", _points, lambda info: sum(info.statuses.values()), right=True),
    SessionColumn("Note", _note, _note),
)
NAME_COLUMN, DATE_COLUMN, KERNELS_COLUMN = 0, 2, 3


class SessionsModel(QAbstractTableModel):
    """One row a file."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._infos: list[SessionInfo] = []

    def show(self, infos: list[SessionInfo]) -> None:
        """List other files."""
        self.beginResetModel()
        self._infos = list(infos)
        self.endResetModel()

    @guarded(int)
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Number of files."""
        return 0 if parent.isValid() else len(self._infos)

    @guarded(int)
    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Number of columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    @guarded()
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Titles of the columns, aligned as their cells."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(None, COLUMNS[section])
        return COLUMNS[section].title if role == Qt.ItemDataRole.DisplayRole else None

    @guarded()
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, raw value, or the whole SessionInfo of a cell."""
        if not index.isValid():
            return None
        info, column = self._infos[index.row()], COLUMNS[index.column()]
        give = _ROLES.get(role)
        return give(info, column) if give else None


def _alignment(_info: SessionInfo | None, column: SessionColumn) -> int:
    side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
    return (side | Qt.AlignmentFlag.AlignVCenter).value


def _tip(info: SessionInfo, column: SessionColumn) -> str:
    """Why a file cannot be read, or the text that the cell has no room for."""
    if info.error or column is COLUMNS[KERNELS_COLUMN]:
        return info.error or column.text(info)
    if column is COLUMNS[NAME_COLUMN]:
        return f"{column.text(info)}\n{info.path}"
    return info.note or str(info.path)


_ROLES: dict[int, Callable[[SessionInfo, SessionColumn], Any]] = {
    Qt.ItemDataRole.DisplayRole: lambda info, column: cut(column.text(info)),
    Qt.ItemDataRole.ToolTipRole: lambda info, column: plain_tip(_tip(info, column)),
    Qt.ItemDataRole.TextAlignmentRole: _alignment,
    SORT_ROLE: lambda info, column: column.raw(info),
    INFO_ROLE: lambda info, _column: info,
    SEARCH_ROLE: lambda info, _column: " ".join(each.text(info) for each in COLUMNS),
}
