"""How a row of machine code is drawn: the kind's stripe, the address, the opcode in its colour, a bar."""

from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from flashscope.app.control.guard import guarded
from flashscope.app.figures.line_bars import Parts
from flashscope.app.look.contrast import mixed
from flashscope.app.look.kernel_marks import LEGIBLE
from flashscope.app.look.kind_colours import kind_colours
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.ladder.sass.rows import ROW, Index, SassRow
from flashscope.app.plots.stepper.ink import mix
from flashscope.kernels.cuda.sass.kinds import OPCODE

STRIPE_PX, PAD_PX, GAP_PX, ROW_PX = 3, 8, 12, 5
BAR_PX, THICK, SHARE = 64, 0.5, "00.0%"
LIT, CHOSEN = 0.86, 0.55  # of the card in the ground of a row that is marked, or chosen
LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


class SassPainter(QStyledItemDelegate):
    """Draws the rows in a theme's colours.

    Args:
        theme: The colours in use.
        colours: Those of the parts of bars on a theme; None: no row has one.
    """

    def __init__(self, theme: Theme, colours: Callable[[Theme], Sequence[str]] | None = None) -> None:
        super().__init__()
        self._colours = colours
        self.use(theme)

    def use(self, theme: Theme) -> None:
        """Take a theme's colours."""
        self._theme = theme
        self._lit, self._plain = mix(theme.accent, theme.panel, LIT).name(), theme.panel
        self._chosen = mix(theme.accent, theme.panel, CHOSEN).name()
        self._stripes = [QColor(colour) for colour in kind_colours(theme)]

    @guarded(QSize)
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A line of text; the width is what there is."""
        del index
        return QSize(1, QFontMetrics(option.font).height() + px(ROW_PX))

    @guarded()
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a row."""
        row, model = index.data(ROW), index.model()
        if not isinstance(row, SassRow):
            return
        painter.save()
        painter.setFont(option.font)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        lit = row.at is not None and row.at in getattr(model, "lit", ())
        ground = self._chosen if chosen else self._lit if lit else self._plain
        if row.at is None and not chosen:
            ground = self._theme.raised
        painter.fillRect(option.rect, QColor(ground))
        if row.at is None:
            self._heading(painter, option.rect, row, ground)
        else:
            self._instruction(painter, option.rect, row, getattr(model, "most", 0), ground)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(self._theme.accent))
            painter.drawRect(option.rect.adjusted(0, 0, -1, -1))
        painter.restore()

    def _ink(self, colour: str, ground: str) -> QColor:
        return QColor(mixed(colour, self._theme.text, ground, LEGIBLE))

    def _heading(self, painter: QPainter, place: QRect, row: SassRow, ground: str) -> None:
        room = self._aside(painter, place.adjusted(px(PAD_PX), 0, -px(PAD_PX), 0), row, ground)
        painter.setPen(self._ink(self._theme.text, ground))
        elided = painter.fontMetrics().elidedText(row.text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, LEFT, elided)

    def _instruction(self, painter: QPainter, place: QRect, row: SassRow, most: int, ground: str) -> None:
        stripe = QRect(place.left(), place.top(), px(STRIPE_PX), place.height())
        painter.fillRect(stripe, self._stripes[row.kind])
        room = place.adjusted(px(STRIPE_PX + PAD_PX), 0, -px(PAD_PX), 0)
        if self._colours is not None:
            room = self._bar(painter, room, row, most, ground)
        address, _, text = row.text.partition("  ")
        metrics = painter.fontMetrics()
        painter.setPen(self._ink(self._theme.dim, ground))
        painter.drawText(room, LEFT, address)
        room.setLeft(room.left() + metrics.horizontalAdvance(address + "  "))
        if metrics.horizontalAdvance(text) + px(GAP_PX) < room.width():
            self._aside(
                painter, room.adjusted(metrics.horizontalAdvance(text) + px(GAP_PX), 0, 0, 0), row, ground
            )
        self._code(
            painter, room, metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width()), row, ground
        )

    def _bar(self, painter: QPainter, room: QRect, row: SassRow, most: int, ground: str) -> QRect:
        """What the row has of the whole, and a bar as long; the room that is left behind them."""
        share, parts = painter.fontMetrics().horizontalAdvance(SHARE), row.bar or {}
        if parts:
            painter.setPen(self._ink(self._theme.text, ground))
            painter.drawText(QRect(room.left(), room.top(), share, room.height()), RIGHT, row.share)
            left, high = float(room.left() + share + px(PAD_PX)), room.height() * THICK
            for part, colour in self._parts(parts, px(BAR_PX) / max(1, most)):
                painter.fillRect(QRectF(left, room.center().y() - high / 2, part, high), colour)
                left += part
        return room.adjusted(share + px(BAR_PX + 2 * PAD_PX), 0, 0, 0)

    def _parts(self, parts: Parts, scale: float) -> Iterator[tuple[float, QColor]]:
        """How long each part of a bar is, and its colour."""
        colours = self._colours(self._theme) if self._colours is not None else ()
        yield from ((parts[at] * scale, QColor(colours[at])) for at in sorted(parts))

    def _code(self, painter: QPainter, room: QRect, text: str, row: SassRow, ground: str) -> None:
        """The predicate, the opcode in its kind's colour, the operands."""
        found, metrics = OPCODE.match(text), painter.fontMetrics()
        start, end = (found.start(1), _end_of_opcode(text, found.end(1))) if found else (0, 0)
        colours = (self._theme.dim, self._stripes[row.kind].name(), self._theme.text)
        for part, colour in zip((text[:start], text[start:end], text[end:]), colours, strict=True):
            painter.setPen(self._ink(colour, ground))
            painter.drawText(room, LEFT, part)
            room = room.adjusted(metrics.horizontalAdvance(part), 0, 0, 0)

    def _aside(self, painter: QPainter, room: QRect, row: SassRow, ground: str) -> QRect:
        """What stands at the end; the room that is left before it."""
        if not row.aside:
            return room
        metrics = painter.fontMetrics()
        told = metrics.elidedText(row.aside, Qt.TextElideMode.ElideMiddle, room.width())
        painter.setPen(self._ink(self._theme.dim, ground))
        painter.drawText(room, RIGHT, told)
        return room.adjusted(0, 0, -metrics.horizontalAdvance(told) - px(GAP_PX), 0)


def _end_of_opcode(text: str, at: int) -> int:
    """Where the opcode ends with its modifiers."""
    end = text.find(" ", at)
    return len(text) if end < 0 else end
