"""Two widgets, one above the other, and a line between them that can be moved."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QSplitter, QWidget


class Split(QSplitter):
    """The line has the theme's colour from the palette: what is above and below may be dressed by itself.

    Args:
        above: The one.
        below: The other one.
    """

    def __init__(self, above: QWidget, below: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical, childrenCollapsible=False)
        self.addWidget(above)
        self.addWidget(below)
        self.setHandleWidth(1)
        line = self.handle(1)
        line.setAutoFillBackground(True)
        line.setBackgroundRole(QPalette.ColorRole.Mid)
