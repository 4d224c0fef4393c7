"""The base of every panel: a widget that paints one step in the theme's colours and can say it in words."""

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QStaticText, QTextOption
from PySide6.QtWidgets import QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.stepper.numbers import plain
from flashscope.app.stepper.step_view import StepView
from flashscope.app.widgets.yielding import Yielding

ViewKind = TypeVar("ViewKind")
SMALL = 11 / 13  # captions against text


MOST_TEXTS = 4096
_texts: dict[tuple[str, str], QStaticText] = {}


def _static(html: str, font: QFont) -> QStaticText:
    """A line of HTML laid out in a font, once: laying out is most of what a frame would cost."""
    key = (html, font.key())
    text = _texts.get(key)
    if text is None:
        if len(_texts) >= MOST_TEXTS:
            _texts.clear()
        text = _texts[key] = _laid_out(html, font)
    return text


def _laid_out(html: str, font: QFont) -> QStaticText:
    text = QStaticText(html)
    text.setTextFormat(Qt.TextFormat.RichText)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    text.setTextOption(option)
    text.prepare(font=font)
    return text


class PanelOf(Yielding, QWidget, Generic[ViewKind]):
    """A panel of a step as some view has it; subclasses paint in `draw` and put what they show into `words`.

    Attributes:
        columns: What `numbers` has in each row; none: it shows no numbers to be taken along.
        theme: The colours in use.
        view: The step on show, None before the first trace.
    """

    columns: ClassVar[tuple[str, ...]] = ()

    def __init__(self, theme: Theme, name: str) -> None:
        self._fonts: dict[tuple[float, bool], QFont] = {}
        self._unit: float | None = None
        super().__init__()
        self.theme = theme
        self.view: ViewKind | None = None
        self.setAccessibleName(name)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.theme = theme
        self.update()

    def show_view(self, view: ViewKind) -> None:
        """Show another step."""
        self.view = view
        self.setAccessibleDescription(plain(self.words(view)))
        self.update()

    def words(self, view: ViewKind) -> str:
        """What the panel shows, for screen readers; this class shows nothing."""
        del view
        return ""

    def headings(self, view: ViewKind) -> Sequence[str]:
        """What the columns are called of this trace; this class calls them by one name for all."""
        del view
        return self.columns

    def numbers(self, view: ViewKind) -> Sequence[Sequence[str | float]]:
        """The numbers that it shows, a row of `columns` each; this class shows none."""
        del view
        return ()

    def draw(self, painter: QPainter, view: ViewKind) -> None:
        """Paint a step; this class paints nothing."""
        del painter, view

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the step on show; nothing before the first trace."""
        del event  # the whole panel is small enough to paint at once
        if self.view is None:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
            self.draw(painter, self.view)

    def sized(self, share: float = 1.0, *, bold: bool = False) -> QFont:
        """The panel's font, smaller or larger."""
        font = self._fonts.get((share, bold))
        if font is None:
            font = QFont(self.font())
            font.setPixelSize(max(8, round(self.fontInfo().pixelSize() * share)))
            font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
            self._fonts[share, bold] = font
        return font

    def unit(self) -> float:
        """Height of a caption line in pixels; distances are made of it, so they scale with the font."""
        if self._unit is None:
            self._unit = QFontMetricsF(self.sized(SMALL)).height()
        return self._unit

    @guarded()
    def changeEvent(self, event: QEvent) -> None:
        """Measure again when the font has changed."""
        super().changeEvent(event)
        if event.type() in {QEvent.Type.FontChange, QEvent.Type.StyleChange}:
            self._fonts.clear()
            self._unit = None


class Panel(PanelOf[StepView]):
    """One panel of a step of the online softmax."""


def put(
    painter: QPainter,
    rect: QRectF,
    html: str,
    colour: str | QColor,
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
) -> float:
    """Write one line of HTML, vertically centred in a rectangle; gives its width in pixels."""
    text = _static(html, painter.font())
    size = text.size()
    x = rect.left()
    if align & Qt.AlignmentFlag.AlignRight:
        x = rect.right() - size.width()
    elif align & Qt.AlignmentFlag.AlignHCenter:
        x = rect.center().x() - size.width() / 2
    painter.setPen(QColor(colour))
    painter.drawStaticText(QPointF(x, rect.center().y() - size.height() / 2), text)
    return size.width()


def put_first(
    painter: QPainter,
    rect: QRectF,
    texts: Sequence[str],
    colour: str | QColor,
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
) -> None:
    """Write the first of some lines that has room in a rectangle; none where none has."""
    fits = next((text for text in texts if width_of(text, painter.font()) <= rect.width()), "")
    put(painter, rect, fits, colour, align)


def width_of(html: str, font: QFont) -> float:
    """Width of one line of HTML in pixels."""
    return _static(html, font).size().width()
