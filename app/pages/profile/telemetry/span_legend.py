"""Which colour is which kernel, in one line."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.plots.filling import filling
from flashscope.app.plots.style import tick_font
from flashscope.app.widgets.plain import set_tip

SWATCH_PX, GAP_PX, HEIGHT_PX = 10, 12, 18


class SpanLegend(QWidget):
    """Swatches with names, as many as fit; how many more there are; the tip has all."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.kernels: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Colours of the kernels")

    def show_kernels(self, kernels: Sequence[str]) -> None:
        """Name these."""
        self.kernels = tuple(kernels)
        told = ", ".join(kernels)
        self.setAccessibleDescription(told)
        set_tip(self, f"The shaded spans, by kernel: {told}" if told else "")
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.update()

    @guarded(QSize)
    def sizeHint(self) -> QSize:
        """As high as a line, as wide as there is room."""
        return QSize(0, px(HEIGHT_PX))

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """None of it has to be seen."""
        return QSize(0, px(HEIGHT_PX))

    @guarded()
    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw from the right, so that the names stand beside the buttons."""
        with QPainter(self) as painter:
            painter.setFont(tick_font())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            x, height = 0.0, float(self.height())
            for place, kernel in enumerate(self.kernels):
                more = f"+{len(self.kernels) - place}"
                wide = px(SWATCH_PX) + 4 + painter.fontMetrics().horizontalAdvance(kernel)
                last = place == len(self.kernels) - 1
                reserve = 0 if last else painter.fontMetrics().horizontalAdvance(more) + px(GAP_PX)
                if x + wide + reserve > self.width():
                    painter.setPen(QColor(self._theme.dim))
                    painter.drawText(QRectF(x, 0, 60, height), Qt.AlignmentFlag.AlignVCenter, more)
                    return
                swatch = QRectF(x, (height - px(SWATCH_PX)) / 2, px(SWATCH_PX), px(SWATCH_PX))
                brush = filling(kernel, self._theme)
                painter.setPen(brush.color())
                painter.setBrush(brush)
                painter.drawRoundedRect(swatch, 2, 2)
                painter.setPen(QColor(self._theme.dim))
                names = QRectF(x + px(SWATCH_PX) + 4, 0, wide, height)
                painter.drawText(names, Qt.AlignmentFlag.AlignVCenter, kernel)
                x += wide + px(GAP_PX)
