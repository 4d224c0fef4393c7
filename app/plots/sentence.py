"""The sentence over the plots of a picture."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter

from flashscope.app.look.zoom import px
from flashscope.app.widgets.fitted import fitting_font
from flashscope.app.words.plain import cut_short

HEIGHT_PX = 38  # of two small lines, or of a large one with a gap under it


def sentence_px(text: str) -> int:
    """Height that a sentence takes, 0 without one."""
    return px(HEIGHT_PX) if text else 0


def paint_sentence(painter: QPainter, text: str, area: QRect) -> None:
    """Write the sentence as large as it may be."""
    if text:
        painter.setFont(fitting_font(text, area.width(), area.height()))
        painter.drawText(area, Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap, cut_short(text))
