"""Arrays held on the chip as labelled chips, and arrows as wide as the bytes that they stand for."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPolygonF

from flashscope.app.look.kernel_marks import KERNEL_MARKS, M_COLOUR, OTHER_MARK
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.plots.stepper.ink import on_fill
from flashscope.app.plots.stepper.panel import put, width_of
from flashscope.app.stepper.traffic import Resident

FILLS = {"Q": KERNEL_MARKS["flash2"], "K": OTHER_MARK, "V": OTHER_MARK}
SCORE_FILL = KERNEL_MARKS["flash1"]
CHIP_PX, CHIP_SIDES_PX, CHIP_GAP_PX = 40, 16, 6  # least width, beside the name, between two
MORE = "+{} more"
HEAD_PX, BARB_PX = 7, 5  # of an arrow: how long its head is, and by how much wider than its shaft


def array_colour(name: str, theme: Theme) -> QColor:
    """The colour of an array, by its name."""
    return QColor(M_COLOUR if name[0] == "O" else FILLS.get(name[0], SCORE_FILL).on(theme))


def chip_widths(held: Sequence[Resident], font: QFont) -> list[float]:
    """Of the chips, each with the gap behind it."""
    return [
        max(px(CHIP_PX), width_of(array.label, font) + px(CHIP_SIDES_PX)) + px(CHIP_GAP_PX) for array in held
    ]


def draw_chips(painter: QPainter, theme: Theme, held: Sequence[Resident], room: QRectF) -> None:
    """What is held, as far as there is room, and how much more there is."""
    gap = px(CHIP_GAP_PX)
    widths = chip_widths(held, painter.font())
    if sum(widths) > room.width() + gap:
        widths = [width_of(array.label, painter.font()) + 2 * gap for array in held]
    drawn = _that_fit(widths, width_of(MORE.format(len(held)), painter.font()), room.width() + gap)
    x = room.left()
    for array, width in zip(held[:drawn], widths, strict=False):
        _draw_chip(painter, theme, QRectF(x, room.top(), width - gap, room.height()), array.label)
        x += width
    if drawn < len(held):
        rest = QRectF(x, room.top(), room.right() - x, room.height())
        put(painter, rest, MORE.format(len(held) - drawn), theme.text)


def draw_arrow(
    painter: QPainter, x: float, ends: tuple[float, float], width: float, colour: str | QColor
) -> None:
    """A vertical arrow about `x`, from its tail to its tip."""
    tail, tip = ends
    head = HEAD_PX if tip > tail else -HEAD_PX
    half = width / 2
    shape = QPolygonF(
        [
            QPointF(x - half, tail),
            QPointF(x + half, tail),
            QPointF(x + half, tip - head),
            QPointF(x + half + BARB_PX, tip - head),
            QPointF(x, tip),
            QPointF(x - half - BARB_PX, tip - head),
            QPointF(x - half, tip - head),
        ]
    )
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawPolygon(shape)


def _draw_chip(painter: QPainter, theme: Theme, box: QRectF, label: str) -> None:
    fill = array_colour(label, theme)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    painter.drawRoundedRect(box, 4, 4)
    put(painter, box, label, on_fill(fill), Qt.AlignmentFlag.AlignHCenter)


def _that_fit(widths: Sequence[float], more: float, room: float) -> int:
    """How many of these fit side by side; unless all do, with room for the words that count the others."""
    if sum(widths) <= room:
        return len(widths)
    return max((k for k in range(len(widths)) if sum(widths[:k]) + more <= room), default=0)
