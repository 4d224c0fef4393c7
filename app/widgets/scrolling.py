"""What does not fit scrolls; nothing is clipped."""

from PySide6.QtCore import QEvent, QObject, QPointF, QSize, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from flashscope.app.control.guard import guarded

GOES_ON_MS = 1000  # after a turn of the wheel, for which the next one means the same


class Scrolling(QScrollArea):
    """A frame that scrolls over its content where that has no room; the Tab key passes it by.

    Attributes:
        whole: Whether it asks for as much height as its content takes, so that what is around it scrolls.
    """

    def __init__(self, content: QWidget) -> None:
        super().__init__(widgetResizable=True)
        self.whole = False
        self._fitting = False  # the content in a size that it has just been given
        self._wheeled: tuple[QPointF, int] | None = None  # where the pointer was, and when
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(content)

    def let_scroll(self, scrolls: bool) -> None:
        """Show bars where the content has no room, or have it take the room there is, as on a stage."""
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if scrolls else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setHorizontalScrollBarPolicy(policy)
        self.setVerticalScrollBarPolicy(policy)
        content = self.widget()
        if content is not None:
            content.setMinimumSize(*((0, 0) if scrolls else (1, 1)))

    @guarded()
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll."""
        if self.verticalScrollBar().maximum() > 0:
            self._wheeled = event.globalPosition(), event.timestamp()
        super().wheelEvent(event)

    def goes_on(self, event: QWheelEvent) -> bool:
        """Whether the wheel has scrolled this just now, and the pointer has not moved since."""
        if self._wheeled is None:
            return False
        where, when = self._wheeled
        return event.globalPosition() == where and event.timestamp() - when < GOES_ON_MS

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """Room for all of the content, or for a part of it to be scrolled."""
        least, content = super().minimumSizeHint(), self.widget()
        if not self.whole or content is None:
            return least
        high = max(content.minimumSizeHint().height(), content.heightForWidth(self.viewport().width()))
        return QSize(least.width(), high)

    @guarded(bool)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ask for other room when the content has become higher, and give it one size at a time.

        What its lines need after they broke elsewhere reaches it with its next request. A bar that came and
        went with what they had needed before would break them anew, and so on to the end of the stack.
        """
        if self.whole and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        if event.type() != QEvent.Type.Resize:
            return super().eventFilter(watched, event)
        if self._fitting:
            return False
        self._fitting = True
        try:
            return super().eventFilter(watched, event)
        finally:
            self._fitting = False


def scrolls_on(widget: QWidget, event: QWheelEvent) -> bool:
    """Whether the wheel scrolls what a widget is in: that has only slid under the pointer."""
    around = widget.parentWidget()
    while around is not None:
        if isinstance(around, Scrolling) and around.goes_on(event):
            return True
        around = around.parentWidget()
    return False
