"""What a lane has in memory: the matrix of scores as it has it, and its arrays as bars of one scale."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from flashscope.app.plots.stepper.held import array_colour
from flashscope.app.plots.stepper.matrix_picture import MatrixArea, MatrixPainter, Pictures, coloured
from flashscope.app.plots.stepper.panel import SMALL, Panel, put, put_first, width_of
from flashscope.app.stepper.lanes import KernelLane, LaneSpot, StandardLane, Stored
from flashscope.app.stepper.recording import Recording
from flashscope.app.words.units import bytes_text

LONGEST = "m ℓ O"  # of the names of arrays
PICTURE_SHARE = 0.5  # of the width
TALL = 0.5  # of the width that a picture under the bars is high at least
MOST_ARRAYS, LINE = 6, 1.6  # of a lane, and how many captions high the line of each is
TIGHT = 0.75  # captions' heights of a line; in a lower one names are smaller, or they would meet
LEAST_BAR = 2.0  # captions' heights; sizes give way to bars that would be shorter
TOLD = {
    "start": "no S yet",
    "scores": "S fills up here",
    "softmax": "P beside S here",
    "output": "S and P stay here",
}
NONE_HERE = ("no S or P here, ever", "no S or P here", "no S, P")


class LaneMemory:
    """Paints it on a panel.

    Attributes:
        pictures: Whole S and P, which standard has; None: there are none yet.
        recording: The trace whose one tile a tiled lane shows; None: there is none yet.
    """

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._matrix = MatrixPainter()
        self.pictures: Pictures | None = None
        self.recording: Recording | None = None

    def draw(self, painter: QPainter, lane: KernelLane, at: int, room: QRectF, largest: int) -> None:
        """Paint it as it is at a step; the bar of as many bytes as `largest` has all the length there is."""
        unit = self._panel.unit()
        picture, bars, stored = QRectF(room), QRectF(room), lane.stored(at)
        if room.height() > TALL * room.width() + MOST_ARRAYS * LINE * unit:
            bars.setHeight(MOST_ARRAYS * LINE * unit)
            picture.setTop(bars.bottom() + 0.5 * unit)
        else:
            picture.setWidth(room.width() * PICTURE_SHARE)
            bars.setLeft(picture.right() + 0.7 * unit)
        self._draw_matrix(painter, lane, at, picture)
        self._draw_arrays(painter, stored, bars, largest)

    def _draw_matrix(self, painter: QPainter, lane: KernelLane, at: int, room: QRectF) -> None:
        place, theme, unit = lane.place(at), self._panel.theme, self._panel.unit()
        area = MatrixArea(lane.walk, room.adjusted(2, 2, -2, -1.3 * unit))
        caption = QRectF(room.left(), area.rect.bottom() + 0.2 * unit, room.width(), unit)
        self._matrix.draw_ground(painter, area, theme)
        standard = isinstance(lane, StandardLane)
        if not standard:
            self._matrix.draw_walk(painter, area, theme, place, lane.key)
            self._draw_tile(painter, area, place)
        elif self.pictures is not None:
            self._matrix.draw_matrices(painter, area, self.pictures, place)
        self._matrix.draw_lines(painter, area, theme)
        if place.tile >= 0:
            self._draw_edge(painter, area.tile(place.i, place.j))
        painter.setFont(self._panel.sized(SMALL))
        put_first(painter, caption, (TOLD[place.phase],) if standard else NONE_HERE, theme.dim)

    def _draw_edge(self, painter: QPainter, box: QRectF) -> None:
        """Paint the edge of the current tile so that it stands out on any colour."""
        theme = self._panel.theme
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for colour, width in ((theme.panel, 4.0), (theme.text, 2.0)):
            painter.setPen(QPen(QColor(colour), width))
            painter.drawRect(box)

    def _draw_tile(self, painter: QPainter, area: MatrixArea, place: LaneSpot) -> None:
        """Paint the scores or the weights of the one tile that there is, while it is on the chip."""
        recording = self.recording
        if place.tile < 0 or recording is None:
            return
        box = area.tile(place.i, place.j)
        painter.fillRect(box, QColor(self._panel.theme.panel))
        if place.phase in {"scores", "maximum"}:
            limit = recording.score_limit
            painter.drawImage(box, coloured(recording.scores(place.tile), (-limit, limit), "CET-CBD1"))
        elif place.phase == "weights":
            weights = recording.weights(place.tile)
            painter.drawImage(box, coloured(weights, (0.0, recording.weight_limit), "cividis"))

    def _draw_arrays(self, painter: QPainter, stored: Sequence[Stored], room: QRectF, largest: int) -> None:
        """Paint a bar for each array, filled as far as it holds something."""
        painter.setFont(self._panel.sized(SMALL))
        font, unit, theme = painter.font(), self._panel.unit(), self._panel.theme
        line = min(room.height() / MOST_ARRAYS, LINE * unit)
        painter.setFont(self._panel.sized(SMALL * min(1.0, round(line / (TIGHT * unit), 1))))
        name = width_of(LONGEST, font) + 0.5 * unit  # in every lane, or the bars would not be of one scale
        size = width_of("00.0 KiB", font) + 0.7 * unit
        if room.width() - name - size < LEAST_BAR * unit:
            size = 0.0
        for k, one in enumerate(stored):
            row = QRectF(room.left(), room.top() + k * line, room.width(), line)
            put(painter, row, one.label, theme.text if one.filled else theme.dim)
            bar = row.adjusted(name, 0.22 * line, -size, -0.22 * line)
            self._draw_bar(painter, bar, one, largest)
            if size:
                put(painter, row, bytes_text(one.nbytes), theme.dim, Qt.AlignmentFlag.AlignRight)

    def _draw_bar(self, painter: QPainter, bar: QRectF, one: Stored, largest: int) -> None:
        colour = array_colour(one.label, self._panel.theme)
        wide = max(2.0, bar.width() * one.nbytes / max(1, largest))
        painter.setPen(QPen(colour, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(bar.left(), bar.top(), wide, bar.height()))
        filled = wide * one.filled / max(1, one.nbytes)
        painter.fillRect(QRectF(bar.left(), bar.top(), filled, bar.height()), colour)
