"""Plots as files: PNG, SVG and CSV, each carrying where its numbers come from.

Only the GUI thread may paint plots; what is painted is made a file of on any thread.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import QBuffer, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from app.look.fonts import ui_font
from app.look.theme import Theme
from app.look.zoom import px
from app.plots.marks import paint_mark
from app.words.plain import MOST_OF_NAME, cut
from profiles.results.cells import cell, comment
from profiles.wire.text import harmless

SCREEN_ONLY = 0  # key of a line's data: True of one that is no part of a picture, as the crosshair
SCALE = 2  # PNG pixels for each pixel of the screen, unless another scale is asked for
SOURCE = "source"  # the badge and the program in one line; a picture with it says that instead
PAD, LINE, GUTTER = 12, 18, 150  # pixels at 100 %; pictures are as large as the zoom has everything
SAID = ("device", "started at", "problem")  # what the picture itself says of its provenance
_SHAPES = ((pg.ScatterPlotItem, "useCache", False), (pg.PlotCurveItem, "segmentedLineMode", "off"))
Cell = str | int | float | None
Encode = Callable[[], bytes]  # for any thread: the file's content


@dataclass(frozen=True)
class Export:
    """Everything one exported picture or table needs.

    Attributes:
        title: What stands above the picture, unit included.
        name: The file name proposed, without its ending.
        plots: The plots of the picture, from top to bottom.
        theme: The colours in use.
        provenance: Who measured, when and how; one entry a line of the CSV header.
        columns: Names of the CSV's columns, units included.
        rows: Its rows, gone through once where it is written; None is an empty cell.
        kernels: The legend.
        labels: What stands left of each plot; none: nothing does.
        least: Pixels that each plot has in the picture at least, however small it is on the screen.
        heads: What stands above each plot; none: nothing does.
        across: How many plots stand side by side.
        scale: PNG pixels for each pixel of the screen.
    """

    title: str
    name: str
    plots: Sequence[pg.PlotWidget]
    theme: Theme
    provenance: Mapping[str, str]
    columns: Sequence[str]
    rows: Iterable[Sequence[Cell]]
    kernels: Sequence[str] = field(default=())
    labels: Sequence[str] = field(default=())
    least: QSize = field(default_factory=QSize)
    heads: Sequence[str] = field(default=())
    across: int = 1
    scale: int = SCALE

    @property
    def sizes(self) -> list[QSize]:
        """Size of each plot in the picture, in pixels."""
        return [plot.size().expandedTo(self.least) for plot in self.plots]

    @property
    def places(self) -> list[QRect]:
        """Where each plot stands below title and legend, in pixels: from left to right, line by line."""
        sizes, head = self.sizes, px(LINE) if self.heads else 0
        placed, y = [], 0
        for first in range(0, len(sizes), self.across):
            row = sizes[first : first + self.across]
            lefts = accumulate((size.width() + px(PAD) for size in row), initial=0)
            placed += [QRect(QPoint(x, y + head), size) for x, size in zip(lefts, row, strict=False)]
            y += head + max(size.height() for size in row)
        return placed

    @property
    def gutter(self) -> int:
        """Width of the labels in pixels."""
        return px(GUTTER) if self.labels else 0

    @property
    def size(self) -> QSize:
        """Size of the picture in pixels."""
        pad, lines = px(PAD), 2 + self.legend_lines
        return QSize(self.width + 2 * pad + self.gutter, self.height + 2 * pad + lines * px(LINE))

    @property
    def width(self) -> int:
        """Of all plots together, in pixels."""
        return 1 + max(place.right() for place in self.places)

    @property
    def height(self) -> int:
        """The same downwards."""
        return 1 + max(place.bottom() for place in self.places)

    @property
    def legend_lines(self) -> int:
        """Lines that the legend takes."""
        return 1 + max((place.line for place in _legend(self)), default=-1)


class LegendPlace(NamedTuple):
    """Where one kernel stands in the legend: pixels from the left, and its line."""

    kernel: str
    x: int
    line: int


def csv_text(export: Export) -> str:
    """The numbers as CSV, headed by `# key: value` lines."""
    out = io.StringIO()
    out.writelines(comment(*pair) for pair in [("title", export.title), *export.provenance.items()])
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(export.columns)
    writer.writerows([_written(value) for value in row] for row in export.rows)
    return out.getvalue()


def image(export: Export) -> QImage:
    """The picture as pixels."""
    with _enlarged(export):
        return _image(export)


def _image(export: Export) -> QImage:
    picture = QImage(export.size * export.scale, QImage.Format.Format_ARGB32)
    picture.setDevicePixelRatio(export.scale)
    picture.fill(QColor(export.theme.panel))
    with QPainter(picture) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _paint(export, painter)
    return picture


def png(export: Export) -> Encode:
    """The picture as PNG, its provenance among the text fields."""
    return partial(_png, image(export), export.provenance)


def _png(picture: QImage, provenance: Mapping[str, str]) -> bytes:
    written = QBuffer()
    for key, value in provenance.items():
        picture.setText(key, value)
    # The stub wants bytes where Qt takes a str, and Qt refuses bytes.
    picture.save(written, "PNG")  # type: ignore[call-overload]  # see above
    return bytes(written.data().data())


def svg(export: Export) -> Encode:
    """The picture as SVG, with curves as paths and glyphs as shapes."""
    with _enlarged(export), _as_shapes(export):
        return partial(_clean, _svg(export))


def _svg(export: Export) -> bytes:
    drawing = QBuffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(drawing)
    generator.setResolution(_logical_dpi())
    generator.setSize(export.size)
    generator.setViewBox(QRect(0, 0, export.size.width(), export.size.height()))
    generator.setTitle(export.title)
    generator.setDescription("\n".join(f"{key}: {value}" for key, value in export.provenance.items()))
    with QPainter(generator) as painter:
        painter.fillRect(QRect(0, 0, export.size.width(), export.size.height()), QColor(export.theme.panel))
        _paint(export, painter)
    return bytes(drawing.data().data())


def _clean(drawing: bytes) -> bytes:
    """The same without control characters: line by line, since Python does nothing else during one call."""
    lines = drawing.decode(errors="replace").split("\n")
    return "\n".join(map(harmless, lines)).encode()


def copy_image(export: Export) -> None:
    """Put the picture on the clipboard."""
    QGuiApplication.clipboard().setImage(image(export))


WRITERS: dict[str, Callable[[Export], Encode]] = {
    "png": png,
    "svg": svg,
    "csv": lambda export: lambda: csv_text(export).encode(),
}


@contextmanager
def _enlarged(export: Export) -> Iterator[None]:
    """Give the plots their least size, and hide what is for the screen alone, while they are painted.

    No event is handled meanwhile.
    """
    lines = (i for plot in export.plots for i in plot.scene().items() if isinstance(i, pg.InfiniteLine))
    hidden = [line for line in lines if line.data(SCREEN_ONLY) and line.isVisible()]
    sizes = [plot.size() for plot in export.plots]
    for line in hidden:
        line.hide()
    for plot, size in zip(export.plots, export.sizes, strict=True):
        plot.resize(size)
    try:
        yield
    finally:
        for line in hidden:
            line.show()
        for plot, size in zip(export.plots, sizes, strict=True):
            plot.resize(size)


@contextmanager
def _as_shapes(export: Export) -> Iterator[None]:
    """Meanwhile a glyph is a shape, not a bitmap, and a curve one path, not a line for each of its pieces."""
    items = [item for plot in export.plots for item in plot.scene().items()]
    turned = [(i.opts, key, value) for i in items for kind, key, value in _SHAPES if isinstance(i, kind)]
    before = [options[key] for options, key, _ in turned]
    for options, key, value in turned:
        options[key] = value
    try:
        yield
    finally:
        for (options, key, _), value in zip(turned, before, strict=True):
            options[key] = value


def _paint(export: Export, painter: QPainter) -> None:
    pad, line = px(PAD), px(LINE)
    width = export.size.width() - 2 * pad
    font = QFont(painter.font())
    font.setPixelSize(px(13))
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(QColor(export.theme.text))
    painter.drawText(QRect(pad, pad, width, line), Qt.AlignmentFlag.AlignVCenter, cut(export.title))
    y = pad + line
    if export.kernels:
        _paint_legend(export, painter, y)
        y += export.legend_lines * line
    for index, (plot, place) in enumerate(zip(export.plots, export.places, strict=True)):
        area = place.translated(pad + export.gutter, y)
        if export.labels:
            _paint_label(
                export, painter, export.labels[index], QRectF(pad, area.y(), export.gutter, area.height())
            )
        if export.heads:
            _paint_label(
                export, painter, export.heads[index], QRectF(area.x(), area.y() - line, area.width(), line)
            )
        _paint_plot(plot, painter, QRectF(area))
    y += export.height
    font.setPixelSize(px(10))
    font.setBold(False)
    painter.setFont(font)
    painter.setPen(QColor(export.theme.dim))
    text = painter.fontMetrics().elidedText(_footer(export.provenance), Qt.TextElideMode.ElideRight, width)
    painter.drawText(QRect(pad, y, width, line), Qt.AlignmentFlag.AlignVCenter, text)


def _paint_plot(plot: pg.PlotWidget, painter: QPainter, target: QRectF) -> None:
    painter.save()
    seen = plot.mapToScene(plot.viewport().rect()).boundingRect()
    plot.scene().render(painter, target, seen)
    painter.restore()


def _paint_label(export: Export, painter: QPainter, text: str, area: QRectF) -> None:
    font = QFont(painter.font())
    font.setPixelSize(px(11))
    font.setBold(False)
    painter.setFont(font)
    painter.setPen(QColor(export.theme.dim))
    painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, text)


def _paint_legend(export: Export, painter: QPainter, y: float) -> None:
    font = QFont(painter.font())
    font.setPixelSize(px(11))
    font.setBold(False)
    painter.setFont(font)
    painter.setPen(QColor(export.theme.text))
    for kernel, x, line in _legend(export):
        top = y + line * px(LINE)
        paint_mark(painter, kernel, export.theme, QPointF(x + px(6), top + px(LINE) / 2), px(9))
        painter.drawText(
            QRectF(x + px(16), top, px(200), px(LINE)), Qt.AlignmentFlag.AlignVCenter, _named(kernel)
        )


def _legend(export: Export) -> list[LegendPlace]:
    """The kernels side by side, in as many lines as the plots' width makes of them."""
    metrics = QFontMetrics(ui_font(11))
    pad, mark = px(PAD), px(16)
    right = pad + export.gutter + export.width
    places: list[LegendPlace] = []
    x, line = pad, 0
    for kernel in export.kernels:
        width = mark + metrics.horizontalAdvance(_named(kernel))
        if x > pad and x + width > right:
            x, line = pad, line + 1
        places.append(LegendPlace(kernel, x, line))
        x += width + mark
    return places


def _footer(provenance: Mapping[str, str]) -> str:
    keys = (SOURCE, "problem") if SOURCE in provenance else SAID
    said = [provenance[key] for key in keys if key in provenance] or list(provenance.values())
    return cut(" · ".join(_one_line(value) for value in said))


def _named(kernel: str) -> str:
    return cut(kernel, MOST_OF_NAME)


def _written(value: Cell) -> object:
    """A cell as it is written: missing is empty, whole numbers such as bytes have no decimals."""
    if value is None:
        return ""
    return int(value) if isinstance(value, float) and value.is_integer() else cell(value)


def _one_line(value: str) -> str:
    return " ".join(value.split())


def _logical_dpi() -> int:
    screen = QGuiApplication.primaryScreen()
    return round(screen.logicalDotsPerInch())
