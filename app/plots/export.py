"""Plots as files: PNG, SVG and CSV, each carrying where its numbers come from."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import QBuffer, QPointF, QRect, QRectF, QSize, Qt
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
SCALE = 2  # PNG pixels for each pixel of the screen
PAD, LINE, GUTTER = 12, 18, 150  # pixels at 100 %; pictures are as large as the zoom has everything
SAID = ("device", "started at", "problem")  # what the picture itself says of its provenance
Cell = str | int | float | None


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
        rows: Its rows; None is an empty cell.
        kernels: The legend.
        labels: What stands left of each plot; none: nothing does.
        least: Pixels that each plot has in the picture at least, however small it is on the screen.
    """

    title: str
    name: str
    plots: Sequence[pg.PlotWidget]
    theme: Theme
    provenance: Mapping[str, str]
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    kernels: Sequence[str] = field(default=())
    labels: Sequence[str] = field(default=())
    least: QSize = field(default_factory=QSize)

    @property
    def sizes(self) -> list[QSize]:
        """Size of each plot in the picture, in pixels."""
        return [plot.size().expandedTo(self.least) for plot in self.plots]

    @property
    def gutter(self) -> int:
        """Width of the labels in pixels."""
        return px(GUTTER) if self.labels else 0

    @property
    def size(self) -> QSize:
        """Size of the picture in pixels."""
        width, height = max(size.width() for size in self.sizes), sum(size.height() for size in self.sizes)
        pad, lines = px(PAD), 2 + self.legend_lines
        return QSize(width + 2 * pad + self.gutter, height + 2 * pad + lines * px(LINE))

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
    picture = QImage(export.size * SCALE, QImage.Format.Format_ARGB32)
    picture.setDevicePixelRatio(SCALE)
    picture.fill(QColor(export.theme.panel))
    with QPainter(picture) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _paint(export, painter)
    return picture


def write_png(export: Export, path: Path) -> None:
    """Write the picture as PNG, its provenance among the text fields.

    Raises:
        OSError: The file cannot be written.
    """
    picture = image(export)
    for key, value in export.provenance.items():
        picture.setText(key, value)
    # The stub wants bytes where Qt takes a str, and Qt refuses bytes.
    if not picture.save(str(path), "PNG"):  # type: ignore[call-overload]  # see above
        raise OSError(f"{path} cannot be written.")


def write_svg(export: Export, path: Path) -> None:
    """Write the picture as SVG, with curves as paths and glyphs as shapes.

    Raises:
        OSError: The file cannot be written.
    """
    with _enlarged(export):
        _write_svg(export, path)


def _write_svg(export: Export, path: Path) -> None:
    drawing = QBuffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(drawing)
    generator.setResolution(_logical_dpi())
    generator.setSize(export.size)
    generator.setViewBox(QRect(0, 0, export.size.width(), export.size.height()))
    generator.setTitle(export.title)
    generator.setDescription("\n".join(f"{key}: {value}" for key, value in export.provenance.items()))
    scatters = [item for plot in export.plots for item in plot.scene().items() if _is_scatter(item)]
    for scatter in scatters:
        scatter.opts["useCache"] = False  # a cached glyph would be a bitmap in the file
    with QPainter(generator) as painter:
        painter.fillRect(QRect(0, 0, export.size.width(), export.size.height()), QColor(export.theme.panel))
        _paint(export, painter)
    for scatter in scatters:
        scatter.opts["useCache"] = True
    path.write_text(harmless(bytes(drawing.data().data()).decode(errors="replace")), encoding="utf-8")


def write_csv(export: Export, path: Path) -> None:
    """Write the numbers as CSV.

    Raises:
        OSError: The file cannot be written.
    """
    path.write_text(csv_text(export), encoding="utf-8")


def copy_image(export: Export) -> None:
    """Put the picture on the clipboard."""
    QGuiApplication.clipboard().setImage(image(export))


WRITERS = {"png": write_png, "svg": write_svg, "csv": write_csv}


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
    for index, plot in enumerate(export.plots):
        if export.labels:
            _paint_label(export, painter, index, QRectF(pad, y, export.gutter, plot.height()))
        _paint_plot(plot, painter, QRectF(pad + export.gutter, y, plot.width(), plot.height()))
        y += plot.height()
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


def _paint_label(export: Export, painter: QPainter, index: int, area: QRectF) -> None:
    font = QFont(painter.font())
    font.setPixelSize(px(11))
    font.setBold(False)
    painter.setFont(font)
    painter.setPen(QColor(export.theme.dim))
    painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, export.labels[index])


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
    right = pad + export.gutter + max(size.width() for size in export.sizes)
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
    said = [value for key, value in provenance.items() if key in SAID] or list(provenance.values())
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


def _is_scatter(item: object) -> bool:
    return isinstance(item, pg.ScatterPlotItem)


def _logical_dpi() -> int:
    screen = QGuiApplication.primaryScreen()
    return round(screen.logicalDotsPerInch())
