"""Widgets side by side, in as many lines as it takes."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget
from superqt import QFlowLayout

from flashscope.app.control.guard import guarded


class Flowing(QWidget):
    """As high as its lines.

    A layout that asked for the height at every width would make a whole page as high as it would like to be.

    """

    def __init__(self) -> None:
        super().__init__()
        self._flow = QFlowLayout(self)
        self._flow.setContentsMargins(0, 0, 0, 0)
        self._flow.setSpacing(6)

    @guarded(bool)
    def hasHeightForWidth(self) -> bool:
        """No: see above."""
        return False

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap at another width."""
        super().resizeEvent(event)
        self.fit()

    @guarded(bool)
    def event(self, event: QEvent) -> bool:
        """Be as high as the lines again when what is in them has another size, as at another zoom."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.fit()
        elif event.type() == QEvent.Type.StyleChange:  # what is hidden is asked for no layout
            QCoreApplication.postEvent(self, QEvent(QEvent.Type.LayoutRequest))
        return super().event(event)

    def put(self, widgets: Sequence[QWidget]) -> None:
        """Hold these and nothing else."""
        while (item := self._flow.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for widget in widgets:
            self._flow.addWidget(widget)
            widget.show()  # or it would have no height until the event loop has its turn
        self.fit()

    def fit(self) -> None:
        """Be as high as the lines are now."""
        self.setFixedHeight(max(1, self._flow.heightForWidth(self.width())))
