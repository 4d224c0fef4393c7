"""One lane of the telemetry with its name, what it reads, and its peak and mean."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from flashscope.app.figures.lanes import Lane
from flashscope.app.look.zoom import keep
from flashscope.app.plots.timeline.telemetry import TelemetryLane
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.units import digits

LEFT_PX = 212  # of the words at the left, the same in all rows

MOST_WHOLE = 1e6  # what is written without an exponent; absurd figures are no whole numbers


class LaneRow(QWidget):
    """Words and trace of one quantity.

    Attributes:
        about: What it shows.
        field: The field of a Reading.
        made: The trace, None before somebody asked for it: many devices have nothing for it.

    Args:
        lane: What it shows.
        make: Makes the trace.
    """

    def __init__(self, lane: Lane, make: Callable[[Lane], TelemetryLane]) -> None:
        super().__init__()
        self.about, self.field, self._make = lane, lane.field, make
        self.made: TelemetryLane | None = None
        self._name, self._value, self._stats = PlainLabel(), PlainLabel(), PlainLabel()
        self.show_title(self.about.title)
        self._name.setProperty("role", "unit")
        self._value.setProperty("role", "title")
        self._stats.setProperty("role", "unit")
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        words = QWidget()
        keep(words, words.setFixedWidth, LEFT_PX)
        grid = QGridLayout(words)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(0)
        grid.addWidget(self._name, 0, 0)
        grid.addWidget(self._value, 0, 1, right)
        grid.addWidget(self._stats, 1, 0, 1, 2, right)
        for label in (self._name, self._value, self._stats):
            set_tip(label, self.about.about)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(6)
        self._row.addWidget(words, 0, Qt.AlignmentFlag.AlignVCenter)

    @property
    def lane(self) -> TelemetryLane:
        """The trace; it is made when it is first asked for."""
        if self.made is None:
            self.made = self._make(self.about)
            self._row.addWidget(self.made, 1)
            self.made.show()  # in this turn: the layout would do it in the next
        return self.made

    @property
    def value_text(self) -> str:
        """What it reads."""
        return self._value.text()

    def show_title(self, title: str) -> None:
        """Name it otherwise."""
        self._name.setText(f"{title}, {self.about.unit}")

    def show_value(self, value: float | None) -> None:
        """A reading, or that there is none."""
        self._value.setText("–" if value is None else f"{lane_text(self.about, value)} {self.about.unit}")

    def show_stats(self, peak_and_mean: tuple[float, float] | None) -> None:
        """Write peak and mean of what is on show; None: nothing is known."""
        known = peak_and_mean is not None
        self._stats.setVisible(known)
        if peak_and_mean is not None:
            peak, mean = (lane_text(self.about, value) for value in peak_and_mean)
            self._stats.setText(f"peak {peak} · mean {mean}")


def lane_text(lane: Lane, value: float) -> str:
    """A reading in the lane's unit."""
    shown = value / lane.divisor
    whole = lane.unit not in {"GiB", "W"} and abs(shown) < MOST_WHOLE
    return str(round(shown)) if whole else digits(shown)
