"""The menu of a plot, for the right button and the Menu key: commands that there are elsewhere, too."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from flashscope.app.plots.export.button import ExportButton
from flashscope.app.widgets.menus import commands_of, pop_up

Own = Callable[[QMenu], Sequence[QAction]]


class PlotMenu(QObject):
    """The menu of a plot's card; where nothing can be exported, as on a stage, there is none.

    Args:
        owner: The card.
        export: Has the entries that write and copy.
        commands: Keys of commands of the window's registry.
        own: What this plot has beside them, made for a menu.
    """

    def __init__(
        self, owner: QWidget, export: ExportButton, commands: Sequence[str] = (), own: Own = lambda _menu: ()
    ) -> None:
        super().__init__(owner)
        self._owner, self._export, self._commands, self._own = owner, export, commands, own
        owner.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        owner.customContextMenuRequested.connect(self._open)

    def menu(self) -> QMenu:
        """Its entries as they can be used now."""
        menu = QMenu(self._owner)
        menu.addActions([*self._own(menu), *commands_of(self._owner, self._commands)])
        menu.addSeparator()
        menu.addActions(self._export.menu().actions())
        return menu

    def _open(self, place: QPoint) -> None:
        if self._export.isVisible():
            pop_up(self.menu(), self._owner.mapToGlobal(place))
