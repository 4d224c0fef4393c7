"""A widget that paints itself in a theme's colours, whole."""

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.widgets.yielding import Yielding


class Painted(Yielding, QWidget):
    """Subclasses paint in `draw`.

    Attributes:
        theme: The colours in use.
    """

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.theme = theme
        self.setAccessibleName(name)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.theme = theme
        self.update()

    def draw(self, painter: QPainter) -> None:
        """Paint all of it; this class paints nothing."""
        del painter

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint all of it: it is small."""
        del event
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.draw(painter)
