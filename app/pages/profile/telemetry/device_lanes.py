"""The telemetry of one device: its name and ruler, and one lane a quantity."""

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.figures.device_readings import DeviceReadings
from flashscope.app.figures.lanes import FIELDS, LANES, Lane
from flashscope.app.figures.ring import Values
from flashscope.app.figures.spans import Span, coarse, ends_of, running_at
from flashscope.app.figures.time_view import LEAST_S, NEAREST_S
from flashscope.app.look.theme import Theme
from flashscope.app.pages.profile.telemetry.lane_row import LEFT_PX, LaneRow
from flashscope.app.pages.profile.telemetry.strip_head import StripHead
from flashscope.app.plots.export.contents import ExportCell
from flashscope.app.plots.timeline.common_time import CommonTime
from flashscope.app.plots.timeline.shades import ShadeRange
from flashscope.app.plots.timeline.telemetry import TelemetryLane, peak_and_mean
from flashscope.app.plots.timeline.time_plot import TimePlot
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import set_tip
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import TelemetryStarted

LANE_GAP_PX = 2  # between two lanes
IDLE_S = 60.0  # how far back the lanes look while nothing is measured
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


class DeviceLanes(QWidget):
    """The lanes of one of a session's devices, or of the one that is watched, and what ran on it.

    Args:
        theme: Its colours.
        time: The time axis that it shares with the lanes of others.
        device: The number of the device among those of the session.

    Attributes:
        head: Its name, what ran at the pointer, and the ruler.
        readings: What there is to draw.
        shown: What is drawn.
        only: The fields whose lanes are shown; empty: all.
        rows: What stands in each lane's row, by field; its trace is made when there is one to draw.
        absent: Which lanes there are not here.
    """

    def __init__(self, theme: Theme, time: CommonTime, device: int) -> None:
        super().__init__()
        self.only: Collection[str] = ()
        self.readings = DeviceReadings(device)
        self._brief = False
        self._missing: dict[str, str] = {}
        self._capacities: dict[str, float | None] = {}
        self._theme, self._time = theme, time
        self.shown = self._now()
        self.head = StripHead(theme)
        self.rows = {lane.field: LaneRow(lane, self._make_lane) for lane in LANES}
        self.absent = ElidedLabel()
        self.absent.setProperty("role", "unit")
        time.cross(self.head.ruler)
        time.pointed.connect(self._show_pointed)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(LANE_GAP_PX)
        for lane in LANES:
            self.column.addWidget(self.rows[lane.field], lane.height)

    def take_in_words(self) -> None:
        """Have the head over the lanes, and under them which there are not, as one part among others."""
        self.column.insertWidget(0, self.head)
        self.column.addWidget(self.absent)

    @property
    def lanes(self) -> dict[str, TelemetryLane]:
        """The traces that have been made, by field."""
        return {field: row.made for field, row in self.rows.items() if row.made is not None}

    def _make_lane(self, lane: Lane) -> TelemetryLane:
        made = TelemetryLane(lane, self._theme)
        made.take_any_room(self._brief)
        made.show_capacity(self._capacities.get(lane.field))
        self._time.cross(made)
        return made

    @property
    def _session(self) -> Session | None:
        return self.readings.session

    def show_session(self, session: Session | None) -> None:
        """Start over with what this session recorded; None: with the readings to come."""
        self.readings.show_session(session)
        self.head.ruler.show_chosen(None)
        if session is not None and session.telemetry is not None:
            self.watch(session.telemetry)
        self.readings.take(())

    def watch(self, telemetry: TelemetryStarted) -> None:
        """Say what the device offers: its capacity, and which fields are missing for what reason."""
        telemetry = telemetry.of(self.readings.device)
        self._missing = telemetry.missing
        host = telemetry.source == HOST_SOURCE
        for row in self.rows.values():
            row.show_title("busy" if host and row.field == "utilisation" else row.about.title)
        self._capacities = {"memory_used": telemetry.memory_total, "power_w": telemetry.power_limit_w}
        for field, lane in self.lanes.items():
            lane.show_capacity(self._capacities.get(field))
        if self._session is None:
            self.readings.ring.clear()

    def offered(self, lane: Lane) -> bool:
        """Whether there is such a lane: the device tells it; the first one waits for the first reading."""
        ring = self.readings.ring
        read = lane.field in ring.seen if len(ring) else lane is LANES[0]
        return read and lane.field not in self._missing

    def frame(self, index: int) -> ShadeRange | None:
        """Frame the span of a point; from when to when that was, None where it ran on another device."""
        ends = ends_of(self.shown.spans, index)
        self.head.ruler.show_chosen(ends)
        return ends

    def look(self) -> Iterator[None]:
        """Look at the time that all lanes show until this is called again."""
        self.shown = self._now()
        yield
        self.head.ruler.show_spans(self.shown.drawn, self.shown.view)
        self.show_offered()

    def draw_lane(self, lane: Lane) -> None:
        """Draw one lane of what was looked at."""
        if not self.offered(lane):
            return
        times, values, _spans, drawn, view = self.shown
        row = self.rows[lane.field]
        row.lane.show_readings(times, values[lane.field], drawn, view)
        saved = self._session is not None and self._session.ended_ns is not None
        nothing = UNREAD if saved else WAITING
        row.lane.show_note(nothing if lane is LANES[0] and not times.size else "")
        row.show_stats(peak_and_mean(times, values[lane.field], view) if saved else None)
        self._read(row)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        for plot in (self.head.ruler, *self.lanes.values()):
            plot.apply_theme(theme)

    def plots(self) -> list[tuple[str, TimePlot]]:
        """The ruler and the lanes that are on show, with what each shows."""
        device = f"{self.head.name}: " if self.head.name else ""
        shown = [lane for lane in LANES if self.offered(lane) and self._wanted(lane)]
        lanes = [(f"{device}{one.title}, {one.unit}", self.rows[one.field].lane) for one in shown]
        return [(f"{device}N", self.head.ruler), *lanes]

    def export_rows(self, numbered: bool) -> Iterator[list[ExportCell]]:
        """Every reading there is now, its device behind it where they are numbered.

        To be gone through on any thread; what was not available is empty.
        """
        for _ in self.readings.catch_up():
            pass
        ring = self.readings.ring
        columns = [ring.times().copy(), *(ring.values(field).copy() for field in FIELDS)]
        number: tuple[ExportCell, ...] = (self.readings.device,) if numbered else ()
        rows = zip(*columns, strict=True)
        return ([*(None if cell != cell else float(cell) for cell in row), *number] for row in rows)  # noqa: PLR0124 - NaN alone differs from itself

    def be_brief(self, brief: bool) -> None:
        """Have few words, as on a stage, or all."""
        self._brief = brief
        self.head.be_brief(brief)
        for row in self.rows.values():
            row.be_brief(brief)

    def show_offered(self) -> None:
        """Hide the lanes that do not exist here, and name them with the reasons."""
        absent = [lane for lane in LANES if not self.offered(lane)]
        for lane in LANES:
            self.rows[lane.field].setVisible(lane not in absent and self._wanted(lane))
        told = [lane for lane in absent if lane.field in self._missing and self._wanted(lane)]
        self.absent.setVisible(bool(told))
        self.absent.setText(f"n/a here: {', '.join(lane.title for lane in told)}" if told else "")
        set_tip(self.absent, "\n".join(f"{lane.title}: {self._missing[lane.field]}" for lane in told))

    def whole(self) -> ShadeRange:
        """All of the time that there is to be seen."""
        session, newest = self._session, self.readings.newest()
        if session is None:
            end = math.ceil(max(newest, LEAST_S))
            return (max(0.0, end - IDLE_S), float(end))
        if session.ended_ns is not None:
            return (0.0, max((session.ended_ns - session.t0_ns) / 1e9, NEAREST_S))
        return (0.0, _roomy(newest))

    def _now(self) -> Moment:
        ring, view = self.readings.ring, self._time.on_show
        values = {lane.field: ring.values(lane.field) for lane in LANES}
        step = (view[1] - view[0]) / SPAN_STEPS
        until = math.floor(self.readings.newest() / step) * step
        spans = self.readings.spans()
        closed = [span if span.end_s is not None else replace(span, end_s=until) for span in spans]
        finest = FINEST_PX * (view[1] - view[0]) / max(1, self.width() - LEFT_PX)
        return Moment(ring.times(), values, closed, coarse(closed, view, finest), view)

    def _wanted(self, lane: Lane) -> bool:
        return not self.only or lane.field in self.only

    def _show_pointed(self) -> None:
        """Read all lanes where the pointer is, and name what ran then; the newest when it has gone."""
        at_s = self._time.pointed_s
        self.head.tell(at_s, None if at_s is None else running_at(self.shown.spans, at_s))
        for row in self.rows.values():
            self._read(row)

    def _read(self, row: LaneRow) -> None:
        ring, at_s = self.readings.ring, self._time.pointed_s
        newest = None if self.readings.silent else ring.latest(row.field)
        row.show_value(newest if at_s is None else ring.at(row.field, at_s))


def _roomy(newest: float) -> float:
    """An end of the time axis that moves in steps: new axes for each reading would cost most of a tick."""
    step = 2.0 ** max(0, math.floor(math.log2(max(newest, 1.0))) - 2)
    return max(LEAST_S, (math.floor(newest / step) + 1) * step)
