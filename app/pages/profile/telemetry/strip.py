"""The telemetry under the plots: one lane a quantity, all on one time axis, of each device that measured."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import chain

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.figures.lanes import LANES, Lane
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.profile.telemetry.device_lanes import LANE_GAP_PX, DeviceLanes
from flashscope.app.plots.export.contents import ExportCell
from flashscope.app.plots.timeline.common_time import CommonTime
from flashscope.app.plots.timeline.telemetry import LEAST_PX, TelemetryLane
from flashscope.app.plots.timeline.time_plot import TimePlot
from flashscope.app.widgets.paint_turns import draw_unless_waiting
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.app.words.devices.device_names import device_details, device_names
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import Reading, TelemetryStarted

LEAST_LANES = 2  # whole lanes that are in sight


class TelemetryStrip(QWidget):
    """Records every reading, and draws it unless it is frozen.

    The lanes of one device scroll under its ruler. Of several each has a ruler and lanes of its own, and all
    of that scrolls.

    Attributes:
        time: The time axis of all lanes.
        first: The lanes of the first device, or of the one that is watched.
        rows: Its rows, by field.
        ring: Its readings.
        beside: The lanes of the other devices; those that the session has not are hidden.
        others: What these stand in; hidden where there is one device.
        chosen: The one field whose lanes are shown; empty: all.
        only: The fields whose lanes are shown on a stage; empty: it is not on one.

    Signals:
        looked: The first lane has looked at another moment: the others are to be drawn after it.
    """

    looked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.chosen, self.only = "", list[str]()
        self.time = CommonTime(theme, self)
        self.first = DeviceLanes(theme, self.time, 0)
        self.rows, self.ring, self.ruler = self.first.rows, self.first.readings.ring, self.first.head.ruler
        self.beside: list[DeviceLanes] = []
        self._lay_out()
        self.draw()

    def _lay_out(self) -> None:
        self.others = QWidget()
        self._beside = QVBoxLayout(self.others)
        self._beside.setContentsMargins(0, 0, 0, 0)
        self.others.hide()
        self.first.column.addWidget(self.others)
        self._scrolling = Scrolling(self.first)
        keep(self._scrolling, self._scrolling.setMinimumHeight, LEAST_LANES * (LEAST_PX + LANE_GAP_PX))
        self._scrolling.verticalScrollBar().rangeChanged.connect(lambda *_: self._keep_in_line())
        self._outer = QVBoxLayout(self)
        self._outer.setContentsMargins(0, 0, 0, 0)
        self._outer.setSpacing(2)
        self._outer.addWidget(self.first.head)
        self._outer.addWidget(self._scrolling, 1)
        self._outer.addWidget(self.first.absent)

    def _keep_in_line(self) -> None:
        """Let the ruler end where the lanes do: over what scrolls it leaves room for the bar."""
        bar = self._scrolling.verticalScrollBar()
        room = bar.sizeHint().width() if bar.maximum() and self.devices == 1 else 0
        self.first.head.setContentsMargins(0, 0, room, 0)

    @property
    def lanes(self) -> dict[str, TelemetryLane]:
        """The traces of the first device that have been made, by field."""
        return self.first.lanes

    @property
    def devices(self) -> int:
        """How many devices have lanes."""
        return len(self._shown)

    @property
    def _shown(self) -> list[DeviceLanes]:
        """The lanes of each device there is."""
        return [self.first, *(one for one in self.beside if not one.isHidden())]

    def show_session(self, session: Session | None) -> None:
        """Start over with what this session recorded; None: with the readings to come."""
        self._show_devices(session)
        self.time.moment.show_at(None)
        self.time.view.fit()
        for one in self._shown:
            one.show_session(session)
        self.draw()

    def _show_devices(self, session: Session | None) -> None:
        """Have lanes for each device of a session, named where there are several."""
        names = device_names(session) if session is not None else []
        names = names if len(names) > 1 else [""]
        while len(self.beside) < len(names) - 1:
            made = DeviceLanes(self._theme, self.time, len(self.beside) + 1)
            made.take_in_words()
            self.beside.append(made)
            self._beside.addWidget(made)
        for number, one in enumerate((self.first, *self.beside)):
            one.setVisible(number < len(names))
        for number, (one, name) in enumerate(zip(self._shown, names, strict=True)):
            one.head.show_name(name, device_details(session, number) if session and name else "")
        self.others.setVisible(len(names) > 1)
        (self.first.column if len(names) > 1 else self._outer).insertWidget(0, self.first.head)
        self._keep_in_line()

    def take(self, readings: Sequence[Reading]) -> None:
        """Record what is new: of the session on show, or these live readings when there is none.

        Of a session that has much more, the rest is recorded when the strip is drawn.
        """
        self.first.readings.take(readings)

    def rewind(self) -> None:
        """The session has more or fewer of its readings than before; the lanes are drawn in their turns."""
        for one in self._shown:
            one.readings.rewind()

    def watch(self, telemetry: TelemetryStarted) -> None:
        """Say what each device offers."""
        for one in self._shown:
            one.watch(telemetry)

    def value_text(self, field: str) -> str:
        """What the readout of a field of the first device says."""
        return self.rows[field].value_text

    def offered(self, lane: Lane) -> bool:
        """Whether the first device has such a lane."""
        return self.first.offered(lane)

    def show_point(self, index: int) -> None:
        """Frame the span of a point, and of a session that has ended look so near that it is to be seen."""
        session = self.first.readings.session
        for one in self._shown:
            ends = one.frame(index)
            if ends is not None and session is not None and session.ended_ns is not None:
                self.time.look_at(ends)

    @property
    def shows_part(self) -> bool:
        """Whether some of the time is not on show."""
        return self.time.view.leaves_out(self.time.whole)

    def fit(self) -> None:
        """Show all of the time again."""
        self.time.fit()

    def draw(self) -> None:
        """Draw what the rings hold, unless frozen; lanes that wait are drawn in their turns."""
        for lane in LANES:
            draw_unless_waiting(self.rows[lane.field], partial(self.draw_lane, lane))
        draw_unless_waiting(self.others, self.draw_others)

    def draw_lane(self, lane: Lane) -> Iterator[None]:
        """Draw a lane of the first device, unless frozen.

        The first lane looks at the time that all show until it is drawn again.
        """
        if lane is LANES[0]:
            yield from self.first.readings.catch_up()
        if not self._moves:
            return
        if lane is LANES[0]:
            self.time.whole = self.first.whole()
            yield from self.first.look()
            self._share_height()
            self.looked.emit()
        self.first.draw_lane(lane)

    def _share_height(self) -> None:
        """Let the lanes of one device be as high as those of another."""
        own = sum(lane.height for lane in LANES if not self.rows[lane.field].isHidden())
        self.first.column.setStretchFactor(self.others, own * (self.devices - 1))

    def draw_others(self) -> Iterator[None]:
        """Draw the lanes of the other devices, unless frozen."""
        for one in self._shown[1:]:
            yield from one.readings.catch_up()
            if not self._moves:
                continue
            yield from one.look()
            self._say_absent_once(one)
            for lane in LANES:
                one.draw_lane(lane)
                yield

    def _say_absent_once(self, one: DeviceLanes) -> None:
        """Under the lanes of another device name those that it lacks, unless the first lacks the same."""
        if one.absent.text() == self.first.absent.text():
            one.absent.hide()

    @property
    def _moves(self) -> bool:
        return not self.time.frozen and self.isVisible()

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what was recorded while the strip was not to be seen."""
        super().showEvent(event)
        self.draw()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.time.apply_theme(theme)
        for one in (self.first, *self.beside):
            one.apply_theme(theme)

    def plots(self) -> list[tuple[str, TimePlot]]:
        """The rulers and lanes that are on show, with what each shows."""
        return [plot for one in self._shown for plot in one.plots()]

    def export_columns(self) -> list[str]:
        """Columns of the CSV: time and every field, with units, and where there are several the device."""
        return ["time_s", *(lane.column for lane in LANES), *(["device"] if self.devices > 1 else [])]

    def export_rows(self) -> Iterator[list[ExportCell]]:
        """Every reading there is now, those of one device after those of another."""
        return chain.from_iterable([one.export_rows(self.devices > 1) for one in self._shown])

    def show_only(self, fields: Collection[str]) -> None:
        """Show the lanes of these fields alone, with few words, where there are any; none: all."""
        self.only = list(fields)
        self._scrolling.let_scroll(not fields)
        for one in self._shown:
            one.be_brief(bool(fields))
        self._show_wanted()

    def choose(self, field: str) -> None:
        """Show the lanes of this field alone, as to compare devices; empty: all."""
        self.chosen = field
        self._show_wanted()

    def _show_wanted(self) -> None:
        for one in self._shown:
            one.only = self.only or [field for field in (self.chosen,) if field]
            one.show_offered()
            if one is not self.first:
                self._say_absent_once(one)
        self.draw()
