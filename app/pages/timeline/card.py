"""One timeline on its page: what it is of, what the clocks cost, its rows, and which of them are on show."""

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QHBoxLayout, QScrollBar

from flashscope.app.figures.timeline_rows import TimelineRows
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, px
from flashscope.app.plots.marks import mark_pixmap
from flashscope.app.plots.timeline.lanes_plot import LanesPlot
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.inside.timelines import (
    drawn_words,
    lanes_words,
    overhead_text,
    problem_words,
    run_name,
)
from flashscope.app.words.units import digits
from flashscope.profiles.results.model.timeline_facts import TimelineFacts

FINE = 100  # steps of the scroll bar in a lane
STEP = 2  # lanes
FRAME_PX = 46  # of the card around its plot
MOST_OF_IT = 100  # of the title line is the words'


class LanesCard(Card):
    """Shows the rows of one timeline.

    Attributes:
        plot: The rows.
        scrolling: Which of them are on show; hidden while all are.
        told: What it is of, and what the clocks cost.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__("timeline")
        self._mark = PlainLabel()
        self.header.insertWidget(0, self._mark)
        self.told = ElidedLabel()
        self.told.setProperty("role", "unit")
        self.told.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.header.addWidget(self.told, MOST_OF_IT)
        self.plot = LanesPlot(theme)
        self.scrolling = QScrollBar(Qt.Orientation.Vertical)
        self.scrolling.setAccessibleName("Rows on show")
        self.scrolling.valueChanged.connect(lambda value: self.plot.show_from(value / FINE))
        self.plot.room_changed.connect(self._take_room)
        self.plot.box.scrolled.connect(self.scroll_by)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.plot, 1)
        row.addWidget(self.scrolling)
        self.body.addLayout(row, 1)
        self.setContentsMargins(0, -4, -4, -6)
        self.kernel = self._whole = ""
        self._brief: list[str] = []
        self._stays_brief = False
        ZOOM.changed.connect(self._fit)
        self.apply_theme(theme)

    def show_rows(self, rows: TimelineRows, facts: TimelineFacts) -> None:
        """Draw a timeline, and say what it is of."""
        request = rows.timeline.request
        self.kernel = request.kernel
        self.set_title(run_name(request))
        clocks = f"with clocks {digits(facts.overhead)}× the time"
        lanes, text = lanes_words(rows.lanes), overhead_text(rows.timeline, facts)
        self._brief = [one for one in (rows.key, lanes, problem_words(request.problem), clocks) if one]
        self._whole = " · ".join(filter(None, (lanes, text)))
        text = f"{problem_words(request.problem)} · {text}"
        self.be_brief(self._stays_brief)
        self.plot.setAccessibleName(
            f"Timeline of {run_name(request)}: {len(rows.names)} rows of {len(rows.lanes)} lanes over time"
        )
        self.plot.setAccessibleDescription(f"{text}. {rows.timeline.device}, {rows.timeline.source}.")
        self.plot.show_rows(rows)
        self._fit()
        self._show_mark()

    def _fit(self) -> None:
        """Take no more room than all lanes at their full height need, at the zoom in use."""
        if self.kernel:
            self.setMaximumHeight(self.plot.wanted_px + px(FRAME_PX))

    def be_brief(self, brief: bool) -> None:
        """Say which rows are drawn and what they are, as on a stage; or all that there is to say."""
        self._stays_brief = brief
        self._tell()

    def _tell(self) -> None:
        """On a stage as much of it as has room, what tells most first."""
        if not self._stays_brief:
            self.told.set_texts(self._whole)
            return
        drawn, rows = self.plot.drawn, self.plot.rows
        some = drawn_words(rows.timeline, drawn.names, rows.names) if rows and drawn else ""
        told = [some, *self._brief] if some else self._brief
        shorter = [" · ".join(told[:most]) for most in range(len(told) - 1, 0, -1)]
        self.told.set_texts(" · ".join(told), *shorter)

    def scroll_by(self, lanes: float) -> None:
        """Show rows so many lanes further down."""
        self.scrolling.setValue(self.scrolling.value() + round(lanes * FINE))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.plot.apply_theme(theme)
        self._show_mark()

    def _show_mark(self) -> None:
        self._mark.setVisible(bool(self.kernel))
        if self.kernel:
            self._mark.setPixmap(mark_pixmap(self.kernel, self._theme))

    def _take_room(self) -> None:
        """Scroll over the lanes that have no room."""
        room, units = self.plot.room, self.plot.units
        more = max(0, round((units - room) * FINE))
        with QSignalBlocker(self.scrolling):
            self.scrolling.setRange(0, more)
            self.scrolling.setPageStep(round(room * FINE))
            self.scrolling.setSingleStep(STEP * FINE)
        self.scrolling.setVisible(more > 0)
        self._tell()
        self.plot.show_from(self.scrolling.value() / FINE)
