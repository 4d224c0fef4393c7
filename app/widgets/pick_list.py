"""A list to pick from while one types: the arrows move in it, and the field keeps the keys."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from flashscope.app.control.appearance import appearance_of
from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import CAPTION_PX
from flashscope.app.look.zoom import px
from flashscope.app.words.plain import cut_short

ASIDE_ROLE = Qt.ItemDataRole.UserRole
MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
EDGE_PX, GAP_PX = 10, 16  # right of the word, and left of it


class AsideDelegate(QStyledItemDelegate):
    """Writes a word at the right of an item, dim; the item's own text gives way to it."""

    @guarded()
    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Shorten the text to what the word leaves."""
        super().initStyleOption(option, index)
        aside = str(index.data(ASIDE_ROLE) or "")
        if aside:
            taken = option.fontMetrics.horizontalAdvance(aside) + px(EDGE_PX + GAP_PX + EDGE_PX)
            room = max(0, option.rect.width() - taken)
            option.text = option.fontMetrics.elidedText(option.text, Qt.TextElideMode.ElideRight, room)

    @guarded()
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """The item, and the word over it."""
        super().paint(painter, option, index)
        theme = appearance_of().theme
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.setPen(QColor(theme.on_accent if chosen else theme.dim))
        place = option.rect.adjusted(0, 0, -px(EDGE_PX), 0)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(place, right, str(index.data(ASIDE_ROLE) or ""))


class PickList(QListWidget):
    """Items with a word at their right; it never takes the focus."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(AsideDelegate(self))

    def follow(self, field: QLineEdit) -> None:
        """Let the arrows that are pressed in a field move here."""
        field.installEventFilter(self)

    def add(self, text: str, aside: str = "", *, usable: bool = True) -> QListWidgetItem:
        """A new item at the end, dim and not to be picked where it is of no use now."""
        item = QListWidgetItem(cut_short(text))
        item.setData(ASIDE_ROLE, aside)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join(filter(None, (text, aside))))
        if not usable:
            item.setFlags(Qt.ItemFlag.NoItemFlags)
        self.addItem(item)
        return item

    def add_caption(self, text: str) -> None:
        """A line over those that follow, which cannot be picked."""
        item = self.add(text, usable=False)
        font = QFont(self.font())
        font.setPixelSize(px(CAPTION_PX))
        font.setCapitalization(QFont.Capitalization.AllUppercase)
        item.setFont(font)

    @guarded(bool)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move as the arrows say."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in MOVES:
            self.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)
