"""Two widgets, one above the other, and a line between them that can be moved."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from flashscope.app.control.guard import guarded


class Split(QSplitter):
    """The line has the theme's colour from the palette: what is above and below may be dressed by itself.

    Args:
        above: The one.
        below: The other one.
        shares: How the height is shared out until the line is moved; None: as the two ask for it.
    """

    def __init__(self, above: QWidget, below: QWidget, shares: tuple[int, int] | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, childrenCollapsible=False)
        self.addWidget(above)
        self.addWidget(below)
        self.setHandleWidth(1)
        self._shares = shares
        self.splitterMoved.connect(self._keep)
        line = self.handle(1)
        line.setAutoFillBackground(True)
        line.setBackgroundRole(QPalette.ColorRole.Mid)

    def share_out(self) -> None:
        """Give both their shares again, once they need no more than before."""
        if self._shares is not None:
            self.setSizes(self._shares)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share out the new height: Qt would go by what there was when the window was smallest."""
        super().resizeEvent(event)
        self.share_out()

    def _keep(self) -> None:
        """From now on the user's line."""
        above, below = self.sizes()
        self._shares = above, below
