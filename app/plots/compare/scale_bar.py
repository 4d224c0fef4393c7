"""The colours of the heat map beside what they stand for."""

import math

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import px
from flashscope.app.plots.compare.heat_item import shades
from flashscope.profiles.results.compare.model import PairVerdict
from flashscope.profiles.results.compare.wording import change_text

BAR = (150, 9)  # pixels
HEIGHT = 18
OTHERS = ("faint: no sure change", "hatched: no partner")


class ScaleBar(QWidget):
    """Better on the left, worse on the right, no change in the middle."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._left, self._right = theme, "", ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_span(self, span: float, better: PairVerdict, worse: PairVerdict) -> None:
        """Name both ends: a change of `span`, a natural logarithm, or more."""
        change = math.expm1(span)
        self._left, self._right = (f"{change_text(change, word)} {word}" for word in (better, worse))
        ends = f"{self._left} over no change to {self._right}"
        self.setAccessibleName(f"Colours from {ends}; {', '.join(OTHERS)}")
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.update()

    @guarded(QSize)
    def sizeHint(self) -> QSize:
        """The height of one line."""
        return QSize(px(BAR[0]), px(HEIGHT))

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        """The bar, its ends in words."""
        del event
        with QPainter(self) as painter:
            painter.setFont(ui_font(CAPTION_PX))
            painter.setPen(self._theme.dim)
            width, height = map(px, BAR)
            left = painter.fontMetrics().horizontalAdvance(self._left) + px(8)
            middle = Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(0, 0, left, self.height()), middle, self._left)
            bar = QRectF(left, (self.height() - height) / 2, width, height)
            colours = shades(self._theme)
            gradient = QLinearGradient(bar.topLeft(), bar.topRight())
            for place, colour in enumerate(colours):
                gradient.setColorAt(place / (len(colours) - 1), colour)
            painter.fillRect(bar, QBrush(gradient))
            rest = QRectF(bar.right() + px(8), 0, self.width(), self.height())
            painter.drawText(rest, middle, "   ".join((self._right, *OTHERS)))
