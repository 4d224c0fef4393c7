"""How an area stands for a kernel: in its family's colour, hatched for what has dashes as a curve."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor

from flashscope.app.look.kernel_marks import Dash, kernel_mark
from flashscope.app.look.theme import Theme

OPAQUE = 255
_PATTERNS: dict[Dash, Qt.BrushStyle] = {
    (): Qt.BrushStyle.SolidPattern,
    (12, 3): Qt.BrushStyle.BDiagPattern,
    (6, 3): Qt.BrushStyle.FDiagPattern,
    (3, 3): Qt.BrushStyle.DiagCrossPattern,
    (8, 3, 2, 3): Qt.BrushStyle.VerPattern,
    (2, 3): Qt.BrushStyle.HorPattern,
}
THICKER = 2  # of a hatched area's opacity, as its lines leave most of it free


def filling(kernel: str, theme: Theme, opacity: int = OPAQUE) -> QBrush:
    """The brush of a kernel's areas; `opacity` of a whole one, of 255."""
    mark = kernel_mark(kernel)
    colour = QColor(mark.on(theme))
    colour.setAlpha(min(OPAQUE, THICKER * opacity) if mark.dash else opacity)
    return QBrush(colour, _PATTERNS[mark.dash])
