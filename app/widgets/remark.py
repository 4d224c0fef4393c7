"""A sentence beside a field, of what it refused or changed: over the page, in no layout, so nothing moves."""

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget
from shiboken6 import isValid

from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import px
from flashscope.app.widgets.plain import PlainLabel

SHOWN_MS = 8_000
WIDEST, GAP = 300, 3  # pixels


class Remark(PlainLabel):
    """The one sentence that is shown over a page, a form or a window.

    Attributes:
        ground: What it is shown over.
        field: What it is about.
    """

    def __init__(self, ground: QWidget) -> None:
        super().__init__(parent=ground)
        self.setProperty("role", "remark")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.ground = ground
        self.field: QWidget | None = None
        self._timer = QTimer(self, interval=SHOWN_MS, singleShot=True)
        self._timer.timeout.connect(self.hide)
        self._moved = QTimer(self, interval=0, singleShot=True)  # the field moves after what it is in
        self._moved.timeout.connect(self._follow)
        ground.installEventFilter(self)

    @guarded(bool)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay beside the field when the page is laid out anew."""
        if event.type() in {QEvent.Type.Resize, QEvent.Type.LayoutRequest}:
            self._moved.start()
        return super().eventFilter(watched, event)

    def _follow(self) -> None:
        if self.isVisible() and self.field is not None and isValid(self.field):
            self._place(self.field)

    def tell(self, field: QWidget, words: str, *, lasting: bool) -> None:
        """Show these words beside a field, for a while or until they are taken back."""
        self.field = field
        self.setText(words)
        self._place(field)
        self.raise_()
        self.show()
        self._timer.stop()
        if not lasting:
            self._timer.start()

    def _place(self, field: QWidget) -> None:
        """Under the field, or above it where the page ends, and never wider than the page."""
        seen = self.ground.visibleRegion().boundingRect().adjusted(GAP, GAP, -GAP, -GAP)
        self.resize(self._fitting(min(px(WIDEST), seen.width())))
        taken = QRect(field.mapTo(self.ground, QPoint(0, 0)), field.size())
        below = taken.bottom() + GAP
        above = taken.top() - GAP - self.height()
        y = below if below + self.height() <= seen.bottom() else above
        self.move(max(seen.left(), min(taken.left(), seen.right() - self.width())), y)

    def _fitting(self, most: int) -> QSize:
        """One line, or as many as the width makes of it."""
        self.setWordWrap(False)
        line = self.sizeHint()
        if line.width() <= most:
            return line
        self.setWordWrap(True)
        return QSize(most, self.heightForWidth(most))


def remark(field: QWidget, words: str, *, lasting: bool = False) -> None:
    """Tell something beside a field that is on show: for some seconds, or until `take_back`."""
    if not field.isVisible():
        return
    ground = _ground(field)
    (_on(ground) or Remark(ground)).tell(field, words, lasting=lasting)
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(field, words))


def take_back(field: QWidget) -> None:
    """Let what was told beside this field go; what is told of another one stays."""
    shown = _on(_ground(field))
    if shown is not None and shown.field is field:
        shown.hide()


def _on(ground: QWidget) -> Remark | None:
    return ground.findChild(Remark, options=Qt.FindChildOption.FindDirectChildrenOnly)


def _ground(field: QWidget) -> QWidget:
    """What moves and hides with the field and is large enough: what scrolls in an area, else the window."""
    ground, above = field, field.parentWidget()
    while above is not None and not ground.isWindow() and not _scrolls(ground):
        ground, above = above, above.parentWidget()
    return ground


def _scrolls(widget: QWidget) -> bool:
    viewport = widget.parentWidget()
    return viewport is not None and isinstance(viewport.parentWidget(), QAbstractScrollArea)
