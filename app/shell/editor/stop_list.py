"""The stops of a story in a list: a picture, a title and a sentence each, in an order that can be dragged."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QPainter, QPixmap
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from flashscope.app.control.appearance import appearance_of
from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import CAPTION_PX
from flashscope.app.look.zoom import px
from flashscope.app.words.plain import cut_short

Index = QModelIndex | QPersistentModelIndex
ENTRY = Qt.ItemDataRole.UserRole
WIDTH, HEIGHT, GAP = 128, 72, 8  # pixels of a picture, and around it
LINE = 18
NAME = "Stops of the story"


class StopEntry(NamedTuple):
    """What the list says of a stop.

    Attributes:
        number: Which it is, from 1.
        title: What it is called.
        says: Its sentence, or what is wrong with it.
        picture: A picture of it, None as long as there is none.
        words: What stands in place of a picture.
        wrong: Whether it cannot be saved.
    """

    number: int
    title: str
    says: str
    picture: QPixmap | None
    words: str
    wrong: bool

    @property
    def spoken(self) -> str:
        """All of it, for who does not see it."""
        return f"Stop {self.number}: {self.title}. {self.says}"


class StopModel(QAbstractListModel):
    """The entries in their order.

    Args:
        move: Is asked to put a stop (from 0) in another place.
        parent: Its owner.
    """

    def __init__(self, move: Callable[[int, int], None], parent: QObject) -> None:
        super().__init__(parent)
        self._entries: Sequence[StopEntry] = ()
        self._move = move

    def show_entries(self, entries: Sequence[StopEntry]) -> None:
        """Other entries."""
        if len(entries) != len(self._entries):
            self.beginResetModel()
            self._entries = entries
            self.endResetModel()
            return
        self._entries = entries
        self.dataChanged.emit(self.index(0), self.index(len(entries) - 1))

    @guarded(int)
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """How many there are."""
        return 0 if parent.isValid() else len(self._entries)

    @guarded()
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """An entry, or its words."""
        if not 0 <= index.row() < len(self._entries):
            return None
        entry = self._entries[index.row()]
        spoken = Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.DisplayRole
        return entry if role == ENTRY else cut_short(entry.spoken) if role in spoken else None

    @guarded(lambda: Qt.ItemFlag.NoItemFlags)
    def flags(self, index: Index) -> Qt.ItemFlag:
        """An entry can be chosen and dragged, and dropped between two others."""
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled

    @guarded(lambda: Qt.DropAction.MoveAction)
    def supportedDropActions(self) -> Qt.DropAction:
        """They are moved, and nothing else."""
        return Qt.DropAction.MoveAction

    @guarded(bool)
    def moveRows(
        self, source_parent: Index, source: int, count: int, target_parent: Index, child: int
    ) -> bool:
        """A stop was dropped in front of another one, or behind the last."""
        del source_parent, target_parent
        place = child - (child > source)
        if count != 1 or place == source:
            return False
        self._move(source, place)
        return True


class StopDelegate(QStyledItemDelegate):
    """Draws an entry: the picture at the left, beside it number and title, and what is said."""

    @guarded(QSize)
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Room for a picture."""
        del option, index
        return QSize(px(WIDTH + LINE), px(HEIGHT + 2 * GAP))

    @guarded()
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The ground as the style draws it, and the entry on it."""
        entry = index.data(ENTRY)
        self.initStyleOption(option, index)
        option.text = ""
        style = option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        if isinstance(entry, StopEntry):
            painter.save()
            chosen = bool(option.state & QStyle.StateFlag.State_Selected)
            whole = option.rect.adjusted(px(GAP), px(GAP), -px(GAP), -px(GAP))
            picture = QRect(whole.topLeft(), QSize(px(WIDTH), px(HEIGHT)))
            _paint_picture(painter, picture, entry)
            _paint_words(painter, whole.adjusted(px(WIDTH + GAP), 0, 0, 0), entry, option.font, chosen)
            painter.restore()


def _paint_picture(painter: QPainter, place: QRect, entry: StopEntry) -> None:
    theme = appearance_of().theme
    if entry.picture is not None:
        painter.drawPixmap(place, _scaled(entry.picture, place.size() * painter.device().devicePixelRatio()))
    else:
        painter.fillRect(place, QColor(theme.raised))
        painter.setPen(QColor(theme.dim))
        painter.setFont(_sized(painter.font(), CAPTION_PX))
        painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap), entry.words)
    painter.setPen(QColor(theme.line))
    painter.drawRect(place)


def _paint_words(painter: QPainter, place: QRect, entry: StopEntry, font: QFont, chosen: bool) -> None:
    theme = appearance_of().theme
    bold = QFont(font)
    bold.setWeight(QFont.Weight.DemiBold)
    painter.setFont(bold)
    painter.setPen(QColor(theme.on_accent if chosen else theme.text))
    title = painter.fontMetrics().elidedText(
        cut_short(f"{entry.number}. {entry.title}"), Qt.TextElideMode.ElideRight, place.width()
    )
    painter.drawText(place, int(Qt.AlignmentFlag.AlignTop), title)
    if not chosen:
        painter.setPen(QColor(theme.error if entry.wrong else theme.dim))
    painter.setFont(_sized(font, CAPTION_PX))
    below = place.adjusted(0, px(LINE), 0, 0)
    painter.setClipRect(below)
    painter.drawText(below, int(Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap), cut_short(entry.says))


def _scaled(picture: QPixmap, size: QSize) -> QPixmap:
    """The picture in this size: made so small by the painter, thin lines would break."""
    whole, smooth = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    return picture.scaled(size, whole, smooth)


def _sized(font: QFont, pixels: int) -> QFont:
    small = QFont(font)
    small.setPixelSize(px(pixels))
    return small


class StopList(QListView):
    """The list.

    Signals:
        chosen: Another stop is chosen (from 0).
        moved: A stop was dragged to another place (from 0, to).
    """

    chosen = Signal(int)
    moved = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._showing = False
        self.setAccessibleName(NAME)
        self.entries = StopModel(self.moved.emit, self)
        self.setModel(self.entries)
        self.setItemDelegate(StopDelegate(self))
        self.setDragDropMode(QListView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDropIndicatorShown(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QListView.SelectionMode.SingleSelection)
        self.selectionModel().currentChanged.connect(self._choose)

    def show_entries(self, entries: Sequence[StopEntry], at: int) -> None:
        """Show these, one of them chosen."""
        self._showing = True
        self.entries.show_entries(entries)
        index = self.entries.index(at)
        if index.isValid() and index != self.currentIndex():
            self.setCurrentIndex(index)
        self._showing = False

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid() and not self._showing:
            self.chosen.emit(index.row())
