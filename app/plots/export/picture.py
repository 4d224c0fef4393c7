"""Exports as pictures and files: painted a plot a step, then made a file of.

Only the GUI thread may paint plots, and all of them in one turn of its event loop would hold it up; a file is
made of what is painted on any thread.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import pyqtgraph as pg
from PySide6.QtCore import QBuffer, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QImage, QPainter, QRegion
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from flashscope.app.control.chores import ChoreSteps
from flashscope.app.look.zoom import px
from flashscope.app.plots.export.contents import LABEL_PX, LINE, PAD, SCREEN_ONLY, Export, csv_text, legend
from flashscope.app.plots.marks import paint_mark
from flashscope.app.plots.sentence import paint_sentence, sentence_px
from flashscope.app.words.plain import cut_short
from flashscope.profiles.wire.text import harmless

SAID = ("device", "started at", "problem")  # what the picture itself says of its provenance
_SHAPES = ((pg.ScatterPlotItem, "useCache", False), (pg.PlotCurveItem, "segmentedLineMode", "off"))
Encode = Callable[[], bytes]  # for any thread: the file's content


def image(export: Export) -> ChoreSteps[QImage]:
    """The picture as pixels."""
    picture = QImage(export.size * export.scale, QImage.Format.Format_ARGB32)
    picture.setDevicePixelRatio(export.scale)
    picture.fill(QColor(export.theme.panel))
    with QPainter(picture) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        yield from _paint(export, painter)
    return picture


def png(export: Export) -> ChoreSteps[Encode]:
    """The picture as PNG, its provenance among the text fields."""
    picture = yield from image(export)
    return partial(_png, picture, export.told)


def _png(picture: QImage, provenance: Mapping[str, str]) -> bytes:
    written = QBuffer()
    for key, value in provenance.items():
        picture.setText(key, value)
    # The stub wants bytes where Qt takes a str, and Qt refuses bytes.
    picture.save(written, "PNG")  # type: ignore[call-overload]  # see above
    return bytes(written.data().data())


def svg(export: Export) -> ChoreSteps[Encode]:
    """The picture as SVG, with curves as paths and glyphs as shapes."""
    drawing, whole = QBuffer(), QRect(QPoint(), export.size)
    generator = QSvgGenerator()
    generator.setOutputDevice(drawing)
    generator.setResolution(_logical_dpi())
    generator.setSize(whole.size())
    generator.setViewBox(whole)
    generator.setTitle(export.title)
    generator.setDescription("\n".join(f"{key}: {value}" for key, value in export.told.items()))
    with QPainter(generator) as painter:
        painter.fillRect(whole, QColor(export.theme.panel))
        yield from _paint(export, painter)
    return partial(_clean, bytes(drawing.data().data()))


def _clean(drawing: bytes) -> bytes:
    """The same without control characters: line by line, since Python does nothing else during one call."""
    lines = drawing.decode(errors="replace").split("\n")
    return "\n".join(map(harmless, lines)).encode()


def table(export: Export) -> ChoreSteps[Encode]:
    """The numbers as CSV."""
    yield from ()
    return lambda: csv_text(export).encode()


WRITERS: dict[str, Callable[[Export], ChoreSteps[Encode]]] = {"png": png, "svg": svg, "csv": table}


@contextmanager
def _as_shapes(plot: pg.PlotWidget) -> Iterator[None]:
    """Meanwhile a glyph is a shape, not a bitmap of the screen's scale, and a curve one path."""
    items = plot.scene().items()
    turned = [(i.opts, key, value) for i in items for kind, key, value in _SHAPES if isinstance(i, kind)]
    before = [options[key] for options, key, _ in turned]
    for options, key, value in turned:
        options[key] = value
    try:
        yield
    finally:
        for (options, key, _), value in zip(turned, before, strict=True):
            options[key] = value


@contextmanager
def _sized(plot: QWidget, size: QSize) -> Iterator[None]:
    """Meanwhile a plot has this size; no event is handled."""
    before = plot.size()
    plot.resize(size)
    try:
        yield
    finally:
        plot.resize(before)


@contextmanager
def _bare(plot: pg.PlotWidget) -> Iterator[None]:
    """Meanwhile a plot has nothing that is for the screen alone."""
    lines = [item for item in plot.scene().items() if isinstance(item, pg.InfiniteLine)]
    hidden = [line for line in lines if line.data(SCREEN_ONLY) and line.isVisible()]
    for line in hidden:
        line.hide()
    try:
        yield
    finally:
        for line in hidden:
            line.show()


def _paint(export: Export, painter: QPainter) -> Iterator[None]:
    """What is said, then a plot a step; each where it is to stand when the first step is done."""
    below = px(PAD) + sentence_px(export.headline) + (1 + export.legend_lines) * px(LINE)
    areas = [place.translated(px(PAD) + export.gutter, below) for place in export.places]
    _paint_words(export, painter, areas)
    for plot, area in zip(export.plots, areas, strict=True):
        yield
        with _sized(plot, area.size()):
            _paint_plot(plot, painter, area)


def _paint_plot(plot: QWidget, painter: QPainter, target: QRect) -> None:
    painter.save()
    if isinstance(plot, pg.PlotWidget):
        with _bare(plot), _as_shapes(plot):
            seen = plot.mapToScene(plot.viewport().rect()).boundingRect()
            plot.scene().render(painter, QRectF(target), seen)
    else:
        plot.render(painter, target.topLeft(), QRegion(), QWidget.RenderFlag.DrawChildren)
    painter.restore()


def _paint_words(export: Export, painter: QPainter, areas: Sequence[QRect]) -> None:
    pad, line = px(PAD), px(LINE)
    whole = QRect(QPoint(), export.size).adjusted(pad, pad, -pad, -pad)
    high = sentence_px(export.headline)
    painter.setPen(QColor(export.theme.text))
    paint_sentence(painter, export.headline, QRect(whole.topLeft(), QSize(whole.width(), high)))
    _use(painter, 13, export.theme.text, bold=not high)
    painter.drawText(_line(whole, whole.top() + high), Qt.AlignmentFlag.AlignVCenter, cut_short(export.title))
    _paint_legend(export, painter, pad + high + line)
    _use(painter, LABEL_PX, export.theme.dim)
    room, middle = export.gutter - pad, Qt.TextElideMode.ElideMiddle
    for text, area in zip(export.labels, areas, strict=False):
        beside = QRect(pad, area.y(), export.gutter, area.height())
        told = painter.fontMetrics().elidedText(text, middle, room)
        painter.drawText(beside, Qt.AlignmentFlag.AlignVCenter, told)
    for text, area in zip(export.heads, areas, strict=False):
        painter.drawText(_line(area, area.top() - line), Qt.AlignmentFlag.AlignVCenter, text)
    _use(painter, 10, export.theme.dim)
    said, end = _footer(export), Qt.TextElideMode.ElideRight
    text = painter.fontMetrics().elidedText(said, end, whole.width())
    painter.drawText(_line(whole, whole.bottom() + 1 - line), Qt.AlignmentFlag.AlignVCenter, text)


def _paint_legend(export: Export, painter: QPainter, top: int) -> None:
    _use(painter, LABEL_PX, export.theme.text)
    for place in legend(export):
        line = QRect(place.x, top + place.line * px(LINE), px(216), px(LINE))
        centre = QPointF(line.x() + px(6), line.y() + line.height() / 2)
        paint_mark(painter, place.kernel, export.theme, centre, px(9))
        painter.drawText(line.adjusted(px(16), 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, place.text)


def _use(painter: QPainter, size: int, colour: str, *, bold: bool = False) -> None:
    """Write so from now on; the size in pixels at 100 %."""
    font = QFont(painter.font())
    font.setPixelSize(px(size))
    font.setBold(bold)
    painter.setFont(font)
    painter.setPen(QColor(colour))


def _line(area: QRect, top: int) -> QRect:
    return QRect(area.x(), top, area.width(), px(LINE))


def _footer(export: Export) -> str:
    """The badge and what it does not say itself, or all there is."""
    known = export.provenance
    said = [known[key] for key in SAID if key in known] or list(known.values())
    if known.get("device", "?") in export.badge:  # that tells the day, too
        said = [known["problem"]]
    return cut_short(" · ".join(_one_line(value) for value in (export.badge, *said) if value))


def _one_line(value: str) -> str:
    return " ".join(value.split())


def _logical_dpi() -> int:
    screen = QGuiApplication.primaryScreen()
    return round(screen.logicalDotsPerInch())
