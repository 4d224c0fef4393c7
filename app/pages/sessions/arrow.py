"""The arrow before the name of a row that can be unfolded."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.sessions.model import ROW_ROLE, SessionsModel
from flashscope.app.widgets.buttons import themed_icon

ARROW_PX = 16
FOLDED, UNFOLDED = "mdi6.chevron-right", "mdi6.chevron-down"


class NameDelegate(QStyledItemDelegate):
    """Draws names behind the arrows of their rows; rows without one are as far in where any row has one."""

    def __init__(self, model: SessionsModel, theme: Theme, parent: QTableView) -> None:
        super().__init__(parent)
        self._model = model
        self._empty = QIcon(QPixmap())
        self.apply_theme(theme)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        colours = {False: theme.text, True: theme.on_accent}
        self._icons = {
            (unfolded, chosen): themed_icon(name, theme, colour)
            for unfolded, name in ((False, FOLDED), (True, UNFOLDED))
            for chosen, colour in colours.items()
        }

    @guarded()
    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Leave room for the arrow, twice as much below an unfolded row."""
        super().initStyleOption(option, index)
        if not self._model.folds:
            return
        row = index.data(ROW_ROLE)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        unfolded = row.family is not None and self._model.is_unfolded(row.family)
        icon = self._empty if row.family is None else self._icons[unfolded, chosen]
        option.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
        option.decorationSize = QSize(px(ARROW_PX) * (2 if row.below else 1), px(ARROW_PX))
        option.icon = icon

    def arrow(self, option: QStyleOptionViewItem, index: QModelIndex) -> QRect:
        """Where the arrow of a cell is drawn in its view."""
        self.initStyleOption(option, index)
        part = QStyle.SubElement.SE_ItemViewItemDecoration
        return option.widget.style().subElementRect(part, option, option.widget)
