"""One lane of the telemetry with its name, what it reads, and its peak and mean."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from flashscope.app.figures.lanes import Lane
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.timeline.telemetry import TelemetryLane
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.units import digits

LEFT_PX, BRIEF_PX = 212, 132  # of the words at the left, the same in all rows; of the few of a stage

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
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
        self._brief = False
        self._peak: float | None = None
        words = QWidget()
        keep(words, lambda: words.setFixedWidth(px(BRIEF_PX if self._brief else LEFT_PX)))
        self._words, self._grid = words, QGridLayout(words)
        grid = self._grid
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(0)
        grid.addWidget(self._name, 0, 0)
        grid.addWidget(self._value, 0, 1, RIGHT)
        grid.addWidget(self._stats, 1, 0, 1, 2, RIGHT)
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
            self.made.tick_top_only(self._brief)
            self._row.addWidget(self.made, 1)
            self.made.show()  # in this turn: the layout would do it in the next
        return self.made

    @property
    def value_text(self) -> str:
        """What it reads."""
        return self._value.text()

    def be_brief(self, brief: bool) -> None:
        """Name and value under one another alone, as on a stage, or all beside the trace."""
        self._brief = brief
        self._stats.setVisible(not brief and bool(self._stats.text()))
        self._grid.addWidget(self._value, *((1, 0) if brief else (0, 1)), LEFT if brief else RIGHT)
        self._words.setFixedWidth(px(BRIEF_PX if brief else LEFT_PX))
        if self.made is not None:
            self.made.tick_top_only(brief)

    def show_title(self, title: str) -> None:
        """Name it otherwise."""
        self._name.setText(f"{title}, {self.about.unit}")

    def show_value(self, value: float | None) -> None:
        """A reading, or that there is none; of few words the peak is told where it is known."""
        value = self._peak if self._brief and self._peak is not None else value
        at_most = "max " if self._brief and self._peak is not None else ""
        told = "–" if value is None else lane_text(self.about, value)
        self._value.setText(f"{at_most}{told}")

    def show_stats(self, peak_and_mean: tuple[float, float] | None) -> None:
        """Write peak and mean of what is on show; None: nothing is known."""
        known = peak_and_mean is not None
        self._peak = peak_and_mean[0] if peak_and_mean is not None else None
        self._stats.setVisible(known and not self._brief)
        if peak_and_mean is not None:
            peak, mean = (_number(self.about, value) for value in peak_and_mean)
            self._stats.setText(f"peak {peak} · mean {mean}")


def lane_text(lane: Lane, value: float) -> str:
    """A reading with the lane's unit; percents stand without a space."""
    gap = "" if lane.unit == "%" else " "
    return f"{_number(lane, value)}{gap}{lane.unit}"


def _number(lane: Lane, value: float) -> str:
    """A reading in the lane's unit."""
    shown = value / lane.divisor
    whole = lane.unit not in {"GiB", "W"} and abs(shown) < MOST_WHOLE
    return str(round(shown)) if whole else digits(shown)
