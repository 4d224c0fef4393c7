"""The telemetry under the plots: one lane a quantity, all on one time axis."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.figures.lanes import FIELDS, LANES, Lane
from flashscope.app.figures.ring import ReadingRing, Values
from flashscope.app.figures.spans import Span, coarse, ends_of, running_at, spans_of
from flashscope.app.figures.time_view import LEAST_S, NEAREST_S, TimeView
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.profile.lane_row import BRIEF_PX, LEFT_PX, LaneRow
from flashscope.app.plots.export.contents import ExportCell
from flashscope.app.plots.timeline.moment import MomentLine, TimeLine
from flashscope.app.plots.timeline.ruler import Ruler
from flashscope.app.plots.timeline.shades import ShadeRange
from flashscope.app.plots.timeline.telemetry import LEAST_PX, TelemetryLane, peak_and_mean
from flashscope.app.plots.timeline.time_plot import TimePlot
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.paint_turns import draw_unless_waiting
from flashscope.app.widgets.plain import set_tip
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.app.words.units import seqlen_text
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import Reading, TelemetryStarted

LEAST_LANES, LANE_GAP_PX = 2, 2  # whole lanes that are in sight, and pixels between two
IDLE_S = 60.0  # how far back the strip looks while nothing is measured
PIECE = 2000  # readings recorded in a step: about two milliseconds of work
HOVER_MS = 33  # between two looks at where the pointer is
FINEST_PX = 2  # of a span that is drawn by itself
SPAN_STEPS = 150  # the open span grows in so many steps, not with every reading
HOST_SOURCE = "psutil"  # watches the CPU, which has no driver and so no driver's window
WAITING = "Waiting for the first reading."
UNREAD = "No readings."


class Moment(NamedTuple):
    """What all lanes show.

    Attributes:
        times: Of the readings, in s.
        values: Each field's values at these times.
        spans: What ran when.
        drawn: As much of that as can be told apart.
        view: The ends of the time axis in s.
    """

    times: Values
    values: dict[str, Values]
    spans: list[Span]
    drawn: list[Span]
    view: ShadeRange


class TelemetryStrip(QWidget):
    """Records every reading in a ring and draws it unless it is frozen.

    Attributes:
        frozen: Whether the display stands still; readings are recorded all the same.
        ring: The readings.
        moment: The moment that was chosen.
        view: Which part of the time is on show.
        only: The fields whose lanes are shown; empty: all.
        rows: What stands in each lane's row, by field; its trace is made when there is one to draw.

    Signals:
        looked: The first lane has looked at another moment: the others are to be drawn after it.
        turned: Another part of the time is on show: the first lane is to be drawn.
    """

    looked = Signal()
    turned = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.frozen = False
        self.only: Collection[str] = ()
        self.ring = ReadingRing()
        self.view = TimeView()
        self._session: Session | None = None
        self._ended: tuple[Session, list[Span]] | None = None  # what ran in the session on show, if it has
        self._moment = self._now()
        self._taken = 0  # readings of the session that are in the ring
        self._missing: dict[str, str] = {}
        self._capacities: dict[str, float | None] = {}
        self._theme = theme
        self._pointed: float | None = None
        self.ruler = Ruler(theme)
        self.rows = {lane.field: LaneRow(lane, self._make_lane) for lane in LANES}
        self.moment, self._pointer = MomentLine(theme), TimeLine(theme, pictured=False)
        self._hover = QTimer(self, interval=HOVER_MS, singleShot=True)
        self._hover.timeout.connect(self._show_pointed)
        self._follow(self.ruler)
        self._lay_out()
        self.draw()

    @property
    def lanes(self) -> dict[str, TelemetryLane]:
        """The traces that have been made, by field."""
        return {field: row.made for field, row in self.rows.items() if row.made is not None}

    def _make_lane(self, lane: Lane) -> TelemetryLane:
        made = TelemetryLane(lane, self._theme)
        made.take_any_room(bool(self.only))
        made.show_capacity(self._capacities.get(lane.field))
        self._follow(made)
        return made

    def _follow(self, plot: TimePlot) -> None:
        self.moment.cross(plot)
        self._pointer.cross(plot)
        plot.box.zoomed.connect(self._zoom)
        plot.box.panned.connect(self._pan)
        plot.pointed.connect(self._point)

    def _lay_out(self) -> None:
        self.pointed_at, self.running, self.absent = ElidedLabel(), ElidedLabel(), ElidedLabel()
        self.running.setProperty("role", "unit")
        self.absent.setProperty("role", "unit")
        words = QWidget()
        keep(words, lambda: words.setFixedWidth(px(BRIEF_PX if self.only else LEFT_PX)))
        self._head_words = words
        lines = QVBoxLayout(words)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(0)
        lines.addWidget(self.pointed_at)
        lines.addWidget(self.running)
        self._head = QHBoxLayout()
        self._head.setSpacing(6)
        self._head.addWidget(words)
        self._head.addWidget(self.ruler, 1)
        lanes = QWidget()
        column = QVBoxLayout(lanes)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(LANE_GAP_PX)
        for lane in LANES:
            column.addWidget(self.rows[lane.field], lane.height)
        self._scrolling = Scrolling(lanes)
        keep(self._scrolling, self._scrolling.setMinimumHeight, LEAST_LANES * (LEAST_PX + LANE_GAP_PX))
        bar = self._scrolling.verticalScrollBar()
        bar.rangeChanged.connect(
            lambda _, most: self._head.setContentsMargins(0, 0, bar.sizeHint().width() if most else 0, 0)
        )
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(2)
        outer.addLayout(self._head)
        outer.addWidget(self._scrolling, 1)
        outer.addWidget(self.absent)

    def show_session(self, session: Session | None) -> None:
        """Start over with what this session recorded; None: with the readings to come."""
        self._session = session
        self.moment.show_at(None)
        self.ruler.show_chosen(None)
        self.view.fit()
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
        self._missing = telemetry.missing
        host = telemetry.source == HOST_SOURCE
        for row in self.rows.values():
            row.show_title("busy" if host and row.field == "utilisation" else row.about.title)
        self._capacities = {"memory_used": telemetry.memory_total, "power_w": telemetry.power_limit_w}
        for field, lane in self.lanes.items():
            lane.show_capacity(self._capacities.get(field))
        if self._session is None:
            self.ring.clear()

    def value_text(self, field: str) -> str:
        """What the readout of a field says."""
        return self.rows[field].value_text

    def offered(self, lane: Lane) -> bool:
        """Whether there is such a lane: the device tells it; the first one waits for the first reading."""
        read = lane.field in self.ring.seen if len(self.ring) else lane is LANES[0]
        return read and lane.field not in self._missing

    def show_point(self, index: int) -> None:
        """Frame the span of a point, and of a session that has ended look so near that it is to be seen."""
        ends = ends_of(self._moment.spans, index)
        self.ruler.show_chosen(ends)
        ended = self._session is not None and self._session.ended_ns is not None
        if ends is not None and ended and self.view.look_at(ends, self._moment.view):
            self.turned.emit()

    @property
    def shows_part(self) -> bool:
        """Whether some of the time is not on show."""
        return self.view.leaves_out(self._whole(self._newest()))

    def fit(self) -> None:
        """Show all of the time again."""
        self.view.fit()
        self.turned.emit()

    def draw(self) -> None:
        """Draw what the ring holds, unless frozen; lanes that wait are drawn in their turns."""
        for lane in LANES:
            draw_unless_waiting(self.rows[lane.field], partial(self.draw_lane, lane))

    def draw_lane(self, lane: Lane) -> Iterator[None]:
        """Draw one lane, unless frozen. The first looks at the time that all show until it is drawn again."""
        if lane is LANES[0]:
            yield from self._catch_up()
        if self.frozen or not self.isVisible():
            return
        if lane is LANES[0]:
            self._moment = self._now()
            yield
            self.ruler.show_spans(self._moment.drawn, self._moment.view)
            self._show_offered()
            self.looked.emit()
        if not self.offered(lane):
            return
        times, values, _spans, drawn, view = self._moment
        row = self.rows[lane.field]
        row.lane.show_readings(times, values[lane.field], drawn, view)
        saved = self._session is not None and self._session.ended_ns is not None
        nothing = UNREAD if saved else WAITING
        row.lane.show_note(nothing if lane is LANES[0] and not times.size else "")
        row.show_stats(peak_and_mean(times, values[lane.field], view) if saved else None)
        self._read(row)

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what was recorded while the strip was not to be seen."""
        super().showEvent(event)
        self.draw()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        for line in (self.moment, self._pointer):
            line.apply_theme(theme)
        for plot in (self.ruler, *self.lanes.values()):
            plot.apply_theme(theme)

    def export_columns(self) -> list[str]:
        """Columns of the CSV: time and every field, with units."""
        return ["time_s", *(lane.column for lane in LANES)]

    def export_rows(self) -> Iterator[list[ExportCell]]:
        """Every reading there is now, to be gone through on any thread; what was not available is empty."""
        for _ in self._catch_up():
            pass
        columns = [self.ring.times().copy(), *(self.ring.values(field).copy() for field in FIELDS)]
        return ([None if cell != cell else float(cell) for cell in row] for row in zip(*columns, strict=True))  # noqa: PLR0124 - NaN alone differs from itself

    def _now(self) -> Moment:
        times = self.ring.times()
        values = {lane.field: self.ring.values(lane.field) for lane in LANES}
        newest = self._newest()
        view = self.view.of(self._whole(newest))
        step = (view[1] - view[0]) / SPAN_STEPS
        until = math.floor(newest / step) * step
        closed = [span if span.end_s is not None else replace(span, end_s=until) for span in self._spans()]
        finest = FINEST_PX * (view[1] - view[0]) / max(1, self.width() - LEFT_PX)
        return Moment(times, values, closed, coarse(closed, view, finest), view)

    def _spans(self) -> list[Span]:
        """What ran when; of a session that has ended it is worked out once."""
        session = self._session
        if session is None or session.ended_ns is None:
            self._ended = None
            return [] if session is None else spans_of(session)
        if self._ended is None or self._ended[0] is not session:
            self._ended = session, spans_of(session)
        return self._ended[1]

    def _newest(self) -> float:
        """When the newest reading was taken, in s."""
        times = self.ring.times()
        return float(times[-1]) if times.size else 0.0

    def _whole(self, newest: float) -> ShadeRange:
        """All of the time that there is to be seen."""
        session = self._session
        if session is None:
            end = math.ceil(max(newest, LEAST_S))
            return (max(0.0, end - IDLE_S), float(end))
        if session.ended_ns is not None:
            return (0.0, max((session.ended_ns - session.t0_ns) / 1e9, NEAREST_S))
        return (0.0, _roomy(newest))

    def show_only(self, fields: Collection[str]) -> None:
        """Show the lanes of these fields alone, with few words, where there are any; none: all."""
        self.only = fields
        self._head_words.setFixedWidth(px(BRIEF_PX if fields else LEFT_PX))
        self._scrolling.let_scroll(not fields)
        for row in self.rows.values():
            row.be_brief(bool(fields))
        self._show_offered()
        self.draw()

    def _wanted(self, lane: Lane) -> bool:
        return not self.only or lane.field in self.only

    def _show_offered(self) -> None:
        """Hide the lanes that do not exist here, and name them with the reasons."""
        absent = [lane for lane in LANES if not self.offered(lane)]
        for lane in LANES:
            self.rows[lane.field].setVisible(lane not in absent and self._wanted(lane))
        told = [lane for lane in absent if lane.field in self._missing and self._wanted(lane)]
        self.absent.setVisible(bool(told))
        self.absent.setText(f"n/a here: {', '.join(lane.title for lane in told)}" if told else "")
        set_tip(self.absent, "\n".join(f"{lane.title}: {self._missing[lane.field]}" for lane in told))

    def _zoom(self, factor: float, around_s: float) -> None:
        self.view.zoom(factor, around_s, self._looked_at)
        self.turned.emit()

    def _pan(self, by_s: float) -> None:
        self.view.pan(by_s, self._looked_at)
        self.turned.emit()

    @property
    def _looked_at(self) -> ShadeRange:
        """Which part of the time is to be seen, drawn or not yet: the wheel may turn on before it is."""
        return self.view.of(self._whole(self._newest()))

    def _point(self, at_s: float | None) -> None:
        self._pointed = at_s
        if not self._hover.isActive():
            self._hover.start()

    def _show_pointed(self) -> None:
        """Read all lanes where the pointer is, and name what ran then; the newest when it has gone."""
        self._pointer.show_at(self._pointed)
        at_s = self._pointed
        span = None if at_s is None else running_at(self._moment.spans, at_s)
        seqlen = f" · N = {seqlen_text(span.seqlen)}" if span else ""
        self.pointed_at.setText("" if at_s is None else f"{at_s:.2f} s{seqlen}")
        idle = "" if at_s is None else "nothing runs"
        self.running.setText(", ".join(span.kernels) if span else idle)
        for row in self.rows.values():
            self._read(row)

    def _read(self, row: LaneRow) -> None:
        field, at_s = row.field, self._pointed
        row.show_value(self.ring.latest(field) if at_s is None else self.ring.at(field, at_s))


def _roomy(newest: float) -> float:
    """An end of the time axis that moves in steps: new axes for each reading would cost most of a tick."""
    step = 2.0 ** max(0, math.floor(math.log2(max(newest, 1.0))) - 2)
    return max(LEAST_S, (math.floor(newest / step) + 1) * step)
