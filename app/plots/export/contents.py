"""What is exported of plots: how a picture is laid out, and the numbers, with where they come from."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QWidget

from flashscope.app.look.fonts import ui_font
from flashscope.app.look.picture import SCALE
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.plots.sentence import sentence_px
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.profiles.results.formats.cells import cell, comment

SCREEN_ONLY = 0  # key of a line's data: True of one that is no part of a picture, as the crosshair
PROVENANCE = "provenance"  # the badge's entry in a header
LABEL_PX = 11  # of the letters of labels and legend
PAD, LINE = 12, 18  # pixels at 100 %; pictures are as large as the zoom has everything
GUTTER, MOST_GUTTER = 150, 340  # the same: the least and the most that labels take
ExportCell = str | int | float | None


@dataclass(frozen=True)
class Export:
    """Everything one exported picture or table needs.

    Attributes:
        title: What stands above the picture, unit included.
        headline: What it says, in a sentence above all else; empty: nothing.
        badge: What the window's badge says of it, at the foot of the picture; empty: nothing.
        name: The file name proposed, without its ending.
        plots: The plots of the picture, from top to bottom; also widgets that paint themselves.
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
    plots: Sequence[QWidget]
    theme: Theme
    provenance: Mapping[str, str]
    columns: Sequence[str]
    rows: Iterable[Sequence[ExportCell]]
    kernels: Sequence[str] = field(default=())
    labels: Sequence[str] = field(default=())
    least: QSize = field(default_factory=QSize)
    heads: Sequence[str] = field(default=())
    across: int = 1
    scale: int = SCALE
    headline: str = ""
    badge: str = ""

    @property
    def told(self) -> Mapping[str, str]:
        """Where it comes from, the badge first."""
        return {PROVENANCE: self.badge, **self.provenance} if self.badge else self.provenance

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
        """Width of the labels in pixels: that of the widest within reason."""
        if not self.labels:
            return 0
        widest = max(map(QFontMetrics(ui_font(LABEL_PX)).horizontalAdvance, self.labels)) + 2 * px(PAD)
        return min(max(widest, px(GUTTER)), px(MOST_GUTTER))

    @property
    def size(self) -> QSize:
        """Size of the picture in pixels."""
        pad, lines = px(PAD), 2 + self.legend_lines
        height = self.height + 2 * pad + lines * px(LINE) + sentence_px(self.headline)
        return QSize(self.width + 2 * pad + self.gutter, height)

    @property
    def width(self) -> int:
        """Width of all plots together, in pixels."""
        return 1 + max(place.right() for place in self.places)

    @property
    def height(self) -> int:
        """Height of all plots together, in pixels."""
        return 1 + max(place.bottom() for place in self.places)

    @property
    def legend_lines(self) -> int:
        """Lines that the legend takes."""
        return 1 + max((place.line for place in legend(self)), default=-1)


class LegendPlace(NamedTuple):
    """Where one kernel stands in the legend: what it is called, pixels from the left, and its line."""

    kernel: str
    text: str
    x: int
    line: int


def csv_text(export: Export) -> str:
    """The numbers as CSV, headed by `# key: value` lines."""
    out = io.StringIO()
    out.writelines(comment(*pair) for pair in [("title", export.title), *export.told.items()])
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(export.columns)
    writer.writerows([_written(value) for value in row] for row in export.rows)
    return out.getvalue()


def legend(export: Export) -> list[LegendPlace]:
    """The kernels side by side, in as many lines as the plots' width makes of them."""
    metrics = QFontMetrics(ui_font(LABEL_PX))
    pad, mark = px(PAD), px(16)
    right = pad + export.gutter + export.width
    places: list[LegendPlace] = []
    x, line = pad, 0
    for kernel in export.kernels:
        text = cut_short(kernel, MOST_OF_NAME)
        width = mark + metrics.horizontalAdvance(text)
        if x > pad and x + width > right:
            x, line = pad, line + 1
        places.append(LegendPlace(kernel, text, x, line))
        x += width + mark
    return places


def _written(value: ExportCell) -> object:
    """A cell as it is written: missing is empty, whole numbers such as bytes have no decimals."""
    if value is None:
        return ""
    return int(value) if isinstance(value, float) and value.is_integer() else cell(value)
