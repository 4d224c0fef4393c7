"""The slider over all steps, with a tick for each event."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSlider

from app.control.guard import guarded
from app.look.theme import Theme
from app.look.zoom import keep, px
from app.plots.stepper.ink import role_colour
from app.stepper.events import EventKind, StepEvent
from app.widgets.plain import set_tip
from app.widgets.typing_guard import MOVED_BY_SHORTCUTS

MARGIN = 9.0
HANDLE = 7.0
# Pixels above the groove: the place tells the kinds apart, not the colour alone.
TICKS: dict[EventKind, tuple[float, float]] = {
    "max-rises": (10.0, 4.0),
    "alpha-below": (17.0, 11.0),
    "non-finite": (17.0, 4.0),
}


class Scrubber(QSlider):
    """A slider one can click anywhere on; ticks above the groove: maximum rises, alpha small, not finite."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.theme = theme
        self._events: tuple[StepEvent, ...] = ()
        self.setAccessibleName("Step")
        set_tip(self, "Drag to scrub. Ticks: low, the maximum rises; high, α is small; long, not finite")
        keep(self, self.setMinimumSize, 160, 32)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty(MOVED_BY_SHORTCUTS, True)  # a slider's own Page Down would go back, by ten steps

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.theme = theme
        self.update()

    def show_steps(self, last: int, events: tuple[StepEvent, ...]) -> None:
        """Span the steps 0 to `last` and mark these events."""
        self._events = events
        self.setRange(0, last)
        self.update()

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Jump to the step under the pointer."""
        self.setValue(self._step_at(event.position().x()))

    @guarded()
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub while a button is down."""
        if event.buttons():
            self.setValue(self._step_at(event.position().x()))

    @guarded()
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Do nothing: the handle is at the pointer already."""
        event.accept()

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the ticks, the groove and the handle."""
        del event
        with QPainter(self) as painter:
            self._draw(painter)

    def _draw(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        y, margin, tall = self.height() / 2 + px(6), px(MARGIN), px(4)
        groove = QRectF(margin, y - tall / 2, self.width() - 2 * margin, tall)
        for x, kind in sorted({(round(self._x(e.at)), e.kind) for e in self._events}):
            painter.setPen(QPen(QColor(self._tick_colour(kind)), px(2)))
            top, bottom = map(px, TICKS[kind])
            painter.drawLine(QPointF(x, y - top), QPointF(x, y - bottom))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.theme.line))
        painter.drawRoundedRect(groove, 2, 2)
        painter.setBrush(QColor(self.theme.accent))
        here = self._x(self.value())
        painter.drawRoundedRect(QRectF(groove.left(), groove.top(), here - groove.left(), tall), 2, 2)
        if self.hasFocus():
            painter.setPen(QPen(QColor(self.theme.text), 2))
        painter.drawEllipse(QPointF(here, y), px(HANDLE), px(HANDLE))

    def _tick_colour(self, kind: EventKind) -> str:
        colours: dict[EventKind, str] = {
            "max-rises": role_colour(self.theme, "m"),
            "alpha-below": role_colour(self.theme, "a"),
            "non-finite": self.theme.error,
        }
        return colours[kind]

    def _x(self, step: int) -> float:
        return px(MARGIN) + (self.width() - 2 * px(MARGIN)) * step / max(1, self.maximum())

    def _step_at(self, x: float) -> int:
        share = (x - px(MARGIN)) / max(1.0, self.width() - 2 * px(MARGIN))
        return round(min(1.0, max(0.0, share)) * self.maximum())
