"""The menu of a plot, for the right button and the Menu key: commands that there are elsewhere, too."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from flashscope.app.plots.export.exporter import Exporter
from flashscope.app.widgets.menus import commands_of, pop_up

Own = Callable[[QMenu], Sequence[QAction]]


OF_THE_POINT = ("inside", "inside.timeline")
"""Keys of the commands that are about the point looked at."""


class PlotMenu(QObject):
    """The menu of a plot's card; where nothing can be exported, as on a stage, there is none.

    Args:
        owner: The card.
        exporter: Has the entries that write and copy.
        commands: Keys of commands of the window's registry.
        own: What this plot has beside them, made for a menu.
    """

    def __init__(
        self, owner: QWidget, exporter: Exporter, commands: Sequence[str] = (), own: Own = lambda _menu: ()
    ) -> None:
        super().__init__(owner)
        self._owner, self._exporter, self._commands, self._own = owner, exporter, commands, own
        owner.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        owner.customContextMenuRequested.connect(self._open)

    def menu(self) -> QMenu:
        """Its entries as they can be used now."""
        menu = QMenu(self._owner)
        menu.addActions([*self._own(menu), *commands_of(self._owner, self._commands)])
        menu.addSeparator()
        self._exporter.fill(menu)
        return menu

    def _open(self, place: QPoint) -> None:
        if self._exporter.offered():
            pop_up(self.menu(), self._owner.mapToGlobal(place))
