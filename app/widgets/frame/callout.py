"""A sentence beside a control, with a ring around that: over a window, in no layout, so nothing moves."""

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget
from shiboken6 import isValid

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import CARD_RADIUS, CONTROL_RADIUS, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.plain import PlainLabel

WIDTH_PX, GAP_PX, LINE_PX = 320, 12, 3
MOVES = {QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide}


class _Framed(QWidget):
    """Draws a line around itself in the accent, and what it is filled with."""

    def __init__(self, ground: QWidget, theme: Theme, radius: int) -> None:
        super().__init__(ground)
        self._theme, self._radius = theme, radius
        self.hide()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.update()

    def filling(self) -> QColor:
        """Nothing, so that what is under it is seen."""
        return QColor(Qt.GlobalColor.transparent)

    @guarded()
    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it."""
        line = px(LINE_PX)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(self._theme.accent), line))
            painter.setBrush(self.filling())
            inside = self.rect().adjusted(line, line, -line, -line)
            painter.drawRoundedRect(inside, px(self._radius), px(self._radius))


class Callout(_Framed):
    """One step of several: what it says, Skip, Back and Next.

    Args:
        ground: What it is shown over.
        theme: The colours in use.

    Attributes:
        target: What it points at, None for nothing.
        ring: What is drawn around that.
        sentence: What is said.
        place: Which step it is.
        skip: Ends all steps.
        back: Leads to the step before.
        next: Does the step.

    Signals:
        skipped: Skip was pressed.
        returned: Back was pressed.
        passed: Next was pressed.
        moved: What it points at, or something that holds that, has moved, come or gone.
    """

    skipped = Signal()
    returned = Signal()
    passed = Signal()
    moved = Signal()

    def __init__(self, ground: QWidget, theme: Theme) -> None:
        super().__init__(ground, theme, CARD_RADIUS)
        self.target: QWidget | None = None
        self.ring = _Framed(ground, theme, CONTROL_RADIUS)
        self.ring.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._ground, self._watched = ground, [ground]
        self._soon = QTimer(self, interval=0, singleShot=True)  # once for all that moves together
        self._soon.timeout.connect(self.moved)
        self.sentence, self.place = PlainLabel(wordWrap=True), PlainLabel()
        self.place.setProperty("role", "dim")
        self.skip = text_button("Skip", "Skip the tour", self.skipped.emit, "quiet")
        self.back = text_button("Back", "Go back to the step before", self.returned.emit, "quiet")
        self.next = text_button("Next", "Do this step, and go on to the next", self.passed.emit, "primary")
        self._lay_out()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.addWidget(self.place, 1)
        for button in (self.skip, self.back, self.next):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # the mouse leaves the keys where they are
            button.setAutoDefault(True)  # Enter presses it, too
            row.addWidget(button)
        column = QVBoxLayout(self)
        keep(self, column.setContentsMargins, 16, 14, 14, 12)
        column.addWidget(self.sentence)
        column.addLayout(row)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        super().apply_theme(theme)
        self.ring.apply_theme(theme)

    def filling(self) -> QColor:
        """The raised surface of the theme."""
        return QColor(self._theme.raised)

    def say(self, place: str, sentence: str, forth: str, *, back: bool) -> None:
        """Show a step: which one it is, its sentence, what its button is called, whether it has Back."""
        if sentence != self.sentence.text():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, sentence))
        self.place.setText(place)
        self.sentence.setText(sentence)
        self.next.setText(forth)
        if not back and self.back.hasFocus():
            self.next.setFocus()
        self.back.setVisible(back)

    def point_at(self, target: QWidget | None, *, apart: bool = False) -> None:
        """Stand beside this, and follow it; None: stand in the middle.

        Args:
            target: What the ring is around.
            apart: Whether to stand in the lower right corner, where least of a view lies.
        """
        if target is not self.target or self.isHidden():
            self.target = target
            self._watch(target)
        taken = visible_part(target, self._ground) if target is not None else QRect()
        edge = px(2 * LINE_PX)
        self.ring.setGeometry(taken.adjusted(-edge, -edge, edge, edge))
        self.ring.setVisible(not taken.isEmpty())
        room = self._ground.rect().adjusted(edge, edge, -edge, -edge)
        self.resize(self._fitting(min(px(WIDTH_PX), room.width())))
        corner = room.bottomRight() - self.rect().bottomRight()
        self.move(corner if apart else place_beside(taken, self.size(), room))
        self.show()
        self.ring.raise_()
        self.raise_()

    def leave(self) -> None:
        """Be gone."""
        self._watch(None)
        self.target = None
        self.ring.hide()
        self.hide()

    def _fitting(self, width: int) -> QSize:
        self.ensurePolished()
        return QSize(width, self.heightForWidth(width))

    def _watch(self, target: QWidget | None) -> None:
        for one in filter(isValid, self._watched):
            one.removeEventFilter(self)
        self._watched = [self._ground, *(_up_to(target, self._ground) if target is not None else ())]
        for one in self._watched:
            one.installEventFilter(self)

    @guarded(bool)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow what it points at."""
        if event.type() in MOVES and self.isVisible():
            self._soon.start()
        return super().eventFilter(watched, event)


def reveal(target: QWidget) -> None:
    """Scroll to it where it is in what scrolls."""
    for holder in _up_to(target, target.window()):
        if isinstance(holder, QScrollArea):
            holder.ensureWidgetVisible(target)


def visible_part(target: QWidget, ground: QWidget) -> QRect:
    """Where on the ground a widget is, as far as what holds it shows it; empty where it is not seen."""
    found = ground.rect() if target.isVisible() else QRect()
    for one in _up_to(target, ground):
        found &= QRect(one.mapTo(ground, QPoint(0, 0)), one.size())
    return found


def place_beside(taken: QRect, size: QSize, room: QRect) -> QPoint:
    """Where something of this size stands beside what is taken: at its right, below, above or at its left.

    In the middle, at the bottom of the room, where it fits at none of them.
    """
    gap, low = px(GAP_PX), room.bottom() - size.height()
    aside = max(0, (taken.height() - size.height()) // 2)  # beside a plot: the title of the next one is free
    x = min(max(taken.left(), room.left()), room.right() - size.width())
    y = min(max(taken.top() + aside, room.top()), low)
    places = (
        QPoint(taken.right() + gap, y),
        QPoint(x, taken.bottom() + gap),
        QPoint(x, taken.top() - gap - size.height()),
        QPoint(taken.left() - gap - size.width(), y),
    )
    middle = QPoint(room.center().x() - size.width() // 2, low)
    fits = (place for place in places if room.contains(QRect(place, size)))
    return middle if taken.isEmpty() else next(fits, middle)


def _up_to(target: QWidget, ground: QWidget) -> list[QWidget]:
    """A widget and all that hold it on the ground."""
    held = [target]
    while (holder := held[-1].parentWidget()) is not None and holder is not ground:
        held.append(holder)
    return held
