"""The telemetry under the plots: one lane a quantity, all on one time axis."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.control.guard import guarded
from app.look.theme import Theme
from app.look.zoom import keep
from app.plots.export import Cell
from app.plots.moment import MomentLine
from app.plots.ring import FIELDS, ReadingRing, Values
from app.plots.spans import Span, spans_of
from app.plots.telemetry import LANES, Lane, TelemetryLane
from app.widgets.plain import Label, set_tip
from app.widgets.staged_paint import draw_unless_waiting
from app.words.units import digits
from profiles.results.session import Session
from profiles.wire.events import Reading, TelemetryStarted

IDLE_S = 60.0  # how far back the strip looks while nothing is measured
LEAST_S = 2.0
PIECE = 2000  # readings recorded in a step: about two milliseconds of work
HOST_SOURCE = "psutil"  # watches the CPU, which has no driver and so no driver's window
BUSY = "busy (driver window), %"


class Moment(NamedTuple):
    """What all lanes show: the readings, the kernels' spans, the ends of the time axis in s."""

    times: Values
    values: dict[str, Values]
    spans: list[Span]
    view: tuple[float, float]


class TelemetryStrip(QWidget):
    """Records every reading in a ring and draws it unless it is frozen.

    Attributes:
        frozen: Whether the display stands still; readings are recorded all the same.
        ring: The readings.
        moment: The moment that was chosen.

    Signals:
        looked: The first lane has looked at another moment: the others are to be drawn after it.
    """

    looked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.frozen = False
        self.ring = ReadingRing()
        self._session: Session | None = None
        self._moment = self._now()
        self._taken = 0  # readings of the session that are in the ring
        self._missing: dict[str, str] = {}
        self._capacity: int | None = None
        self._values: dict[str, Label] = {}
        self._names: dict[str, Label] = {}
        self.lanes = {
            lane.field: TelemetryLane(lane, theme, with_time=lane is LANES[-1], with_seqlen=lane is LANES[0])
            for lane in LANES
        }
        self.moment = MomentLine([self.lanes[lane.field] for lane in LANES], theme)
        self._lay_out()
        self.draw()

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(2, 1)
        for row, lane in enumerate(LANES):
            name, value = Label(f"{lane.title}, {lane.unit}"), Label()
            name.setProperty("role", "unit")
            self._names[lane.field] = name
            value.setProperty("role", "title")
            keep(value, value.setFixedWidth, 72)
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for label in (name, value):
                set_tip(label, lane.about)
            top = Qt.AlignmentFlag.AlignTop if row == len(LANES) - 1 else Qt.AlignmentFlag.AlignVCenter
            grid.addWidget(name, row, 0, top)
            grid.addWidget(value, row, 1, top)
            grid.addWidget(self.lanes[lane.field], row, 2)
            grid.setRowStretch(row, lane.height)
            self._values[lane.field] = value

    def show_session(self, session: Session | None) -> None:
        """Start over with what this session recorded; None: with the readings to come."""
        self._session = session
        self.moment.show_at(None)
        self._taken = 0
        self.ring.clear(session.t0_ns if session else None)
        if session is not None and session.telemetry is not None:
            self.watch(session.telemetry)
        self.take(())
        self.draw()

    def take(self, readings: Sequence[Reading]) -> None:
        """Record what is new: of the session on show, or these live readings when there is none.

        Of a session that has much more, the rest is recorded when the strip is drawn.
        """
        if self._session is None:
            self.ring.extend(readings)
        else:
            next(self._catch_up(), None)

    def rewind(self) -> None:
        """The session has more or fewer of its readings than before; the lanes are drawn in their turns."""
        held = len(self._session.readings) if self._session is not None else 0
        if held < self._taken:
            self._taken = self.ring.shorten(held)

    def _catch_up(self) -> Iterator[None]:
        """Record what the session has more, a piece a step."""
        while self._session is not None and self._taken < len(self._session.readings):
            piece = self._session.readings[self._taken : self._taken + PIECE]
            self.ring.extend(piece)
            self._taken += len(piece)
            yield

    def watch(self, telemetry: TelemetryStarted) -> None:
        """Say what the device offers: its capacity, and which fields are missing for what reason."""
        self._missing, self._capacity = telemetry.missing, telemetry.memory_total
        self._names["utilisation"].setText("busy, %" if telemetry.source == HOST_SOURCE else BUSY)
        self.lanes["memory_used"].show_capacity(telemetry.memory_total)
        self.lanes["power_w"].show_capacity(telemetry.power_limit_w)
        if self._session is None:
            self.ring.clear()

    def value_text(self, field: str) -> str:
        """What the readout of a field says."""
        return self._values[field].text()

    def draw(self) -> None:
        """Draw what the ring holds, unless frozen; lanes that wait are drawn in their turns."""
        for lane in LANES:
            draw_unless_waiting(self.lanes[lane.field], partial(self.draw_lane, lane))

    def draw_lane(self, lane: Lane) -> Iterator[None]:
        """Draw one lane, unless frozen. The first looks at the time that all show until it is drawn again."""
        if lane is LANES[0]:
            yield from self._catch_up()
        if self.frozen or not self.isVisible():
            return
        if lane is LANES[0]:
            self._moment = self._now()
            self.looked.emit()
        times, values, spans, view = self._moment
        self.lanes[lane.field].show_readings(times, values[lane.field], spans, view)
        self.lanes[lane.field].show_note(self._note(lane, empty=not times.size))
        self._values[lane.field].setText(self._readout(lane))

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what was recorded while the strip was not to be seen."""
        super().showEvent(event)
        self.draw()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self.moment.apply_theme(theme)
        for lane in self.lanes.values():
            lane.apply_theme(theme)

    def export_columns(self) -> list[str]:
        """Columns of the CSV: time and every field, with units."""
        return ["time_s", "memory_used_bytes", "busy_percent", "power_w", "temperature_c", "sm_clock_mhz"]

    def export_rows(self) -> Iterator[list[Cell]]:
        """Every reading there is now, to be gone through on any thread; what was not available is empty."""
        for _ in self._catch_up():
            pass
        columns = [self.ring.times().copy(), *(self.ring.values(field).copy() for field in FIELDS)]
        return ([None if cell != cell else float(cell) for cell in row] for row in zip(*columns, strict=True))  # noqa: PLR0124 - NaN alone differs from itself

    def _now(self) -> Moment:
        times = self.ring.times()
        values = {lane.field: self.ring.values(lane.field) for lane in LANES}
        spans = [] if self._session is None else spans_of(self._session)
        return Moment(times, values, spans, self._view(float(times[-1]) if times.size else 0.0))

    def _view(self, newest: float) -> tuple[float, float]:
        session = self._session
        if session is None:
            end = math.ceil(max(newest, LEAST_S))
            return (max(0.0, end - IDLE_S), float(end))
        if session.ended_ns is not None:
            return (0.0, max((session.ended_ns - session.t0_ns) / 1e9, LEAST_S))
        return (0.0, _roomy(newest))

    def _note(self, lane: Lane, *, empty: bool) -> str:
        if lane.field in self._missing:
            return f"n/a: {self._missing[lane.field]}"
        return "Waiting for the first reading." if empty and lane is LANES[0] else ""

    def _readout(self, lane: Lane) -> str:
        if lane.field in self._missing:
            return "n/a"
        value = self.ring.latest(lane.field)
        if value is None:
            return "–"
        if lane.field == "memory_used":
            return f"{digits(value / lane.divisor)} {lane.unit}"
        return f"{digits(value) if lane.field == 'power_w' else round(value)} {lane.unit}"


def _roomy(newest: float) -> float:
    """An end of the time axis that moves in steps: new axes for each reading would cost most of a tick."""
    step = 2.0 ** max(0, math.floor(math.log2(max(newest, 1.0))) - 2)
    return max(LEAST_S, (math.floor(newest / step) + 1) * step)
