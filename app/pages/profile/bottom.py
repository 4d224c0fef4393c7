"""One of three views of a session: the telemetry, the results as a table, or the user's notes."""

from collections.abc import Iterator, Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QStackedWidget, QVBoxLayout, QWidget

from flashscope.app.figures.lanes import LANES
from flashscope.app.look.theme import Theme
from flashscope.app.pages.profile.notes import NotesPanel
from flashscope.app.pages.profile.results_table import ResultsTable
from flashscope.app.pages.profile.telemetry.span_legend import SpanLegend
from flashscope.app.pages.profile.telemetry.strip import TelemetryStrip
from flashscope.app.plots.export.button import ExportButton
from flashscope.app.plots.export.contents import Export
from flashscope.app.plots.plot_menu import PlotMenu
from flashscope.app.plots.show_all import show_all_button
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.drop_down import choice_of
from flashscope.app.widgets.empty_view import EmptyView
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.glossary import with_line
from flashscope.app.words.results.efficiency import ABOUT, efficiency_lines, efficiency_short
from flashscope.app.words.results.provenance_header import session_header
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import Session

NO_POINTS = "The points of a sweep stand here, a row each."
MOST_WHOLE = 2  # devices that show every lane; more of them one, until another is chosen


class BottomCard(Card):
    """Three views of one session under one title line.

    Attributes:
        on_stage: Whether there is nothing to work with in the title line.

    Signals:
        freeze_toggled: The telemetry's display was frozen or let go (bool).
    """

    freeze_toggled = Signal(bool)

    def __init__(self, theme: Theme, notes: NotesPanel) -> None:
        super().__init__()
        self._theme = theme
        self.on_stage = False
        self._session: Session | None = None
        self.strip = TelemetryStrip(theme)
        self.table = ResultsTable(theme)
        self.table.point_selected.connect(self.strip.show_point)
        for told in (self.strip.time.turned, self.strip.looked):
            told.connect(self._offer_all)
        self._stack = QStackedWidget()
        self.notes = notes
        self.listing = QStackedWidget()
        self.listing.addWidget(self.table)
        self.listing.addWidget(EmptyView(NO_POINTS))
        self._parts = {"telemetry": self.strip, "results": self.listing, "notes": self.notes}
        for part in self._parts.values():
            self._stack.addWidget(part)
        self._make_header()
        self.show_part("telemetry")
        self.setContentsMargins(0, -4, -4, -4)
        self.body.addWidget(self._stack)

    def _make_header(self) -> None:
        self.freeze = does(QPushButton("Freeze"), "profile.freeze")
        self.freeze.setCheckable(True)
        self.freeze.setProperty("role", "quiet")
        set_tip(self.freeze, with_line("freeze", "Readings are recorded all the same"))
        self.freeze.toggled.connect(self._freeze)
        self.legend = SpanLegend(self._theme)
        self.summary = PlainLabel()
        self.summary.setProperty("role", "unit")
        self.summary.hide()
        self.header.insertWidget(0, self.legend, 100)  # all the room there is
        self.export_button = ExportButton("telemetry", self.make_export, self._theme)
        self.plot_menu = PlotMenu(self, self.export_button.exporter, ("profile.autorange", "profile.freeze"))
        lanes = [("every lane", ""), *((lane.title, lane.field) for lane in LANES)]
        self.lane_box = choice_of("Lanes of the devices", lanes)
        set_tip(self.lane_box, "Which lanes each device shows")
        self.lane_box.activated.connect(lambda _: self.strip.choose(self.lane_box.currentData()))
        self._all = show_all_button("the time", self.strip.fit, "profile.autorange")
        self.header.addWidget(self.summary)
        self.header.addWidget(self.lane_box)
        self.header.addWidget(self._all)
        self.header.addWidget(self.freeze)
        self.header.addWidget(self.export_button)

    def show_session(self, session: Session | None) -> None:
        """Another session, whose telemetry moves: what stands still is another's."""
        self._session = session
        self.listing.setCurrentIndex(int(session is not None and not session.points))
        self.strip.show_session(session)
        self.strip.choose(LANES[0].field if self.strip.devices > MOST_WHOLE else "")
        self.lane_box.setCurrentIndex(self.lane_box.findData(self.strip.chosen))
        self._offer_all()
        self.freeze.setChecked(False)
        self.legend.show_kernels(session.plan.kernels if session else ())
        self.notes.show_session()

    def show_rows_in_steps(
        self, rows: Sequence[PointRow], known: Mapping[Problem, PointRow]
    ) -> Iterator[None]:
        """Show points in the table, and over it where the time of the whole sweep went.

        Args:
            rows: The points.
            known: What relative quantities compare with.
        """
        yield from self.table.show_rows_in_steps(rows, known)
        yield
        session = self._session
        self.summary.setText(efficiency_short(session) if session else "")
        yield
        set_tip(self.summary, "\n".join((ABOUT, *efficiency_lines(session))) if session else "")

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.strip.apply_theme(theme)
        self.legend.apply_theme(theme)
        self.table.apply_theme(theme)
        self.export_button.apply_theme(theme)

    def show_part(self, key: str) -> None:
        """Bring the `telemetry`, the `results` or the `notes` to the front."""
        self._stack.setCurrentWidget(self._parts[key])
        self.legend.setVisible(key == "telemetry")
        for tool in (self.freeze, self.export_button):
            tool.setVisible(key == "telemetry" and not self.on_stage)
        self.summary.setVisible(key == "results")
        self._offer_all()

    def _offer_all(self) -> None:
        """Offer the way back from a part of the time, and of several devices a choice of lanes."""
        self._all.setVisible(self.part == "telemetry" and self.strip.shows_part)
        several = self.part == "telemetry" and self.strip.devices > 1
        self.lane_box.setVisible(several and not self.on_stage)

    @property
    def part(self) -> str:
        """Which of them is in front."""
        return next(key for key, part in self._parts.items() if part is self._stack.currentWidget())

    def make_export(self) -> Export:
        """What the export menu writes of the telemetry."""
        session = self._session
        header = session_header(session) if session else {"session": "live readings, not saved"}
        labels, plots = zip(*self.strip.plots(), strict=True)
        return Export(
            title="Telemetry over time",
            labels=labels,
            name="telemetry",
            plots=plots,
            theme=self._theme,
            provenance=header,
            columns=self.strip.export_columns(),
            rows=self.strip.export_rows(),
            kernels=session.plan.kernels if session else (),
        )

    def _freeze(self, frozen: bool) -> None:
        self.strip.time.frozen = frozen
        self.strip.draw()
        self.freeze_toggled.emit(frozen)


def below_handle(card: QWidget) -> QWidget:
    """The card with a gap above, where the splitter's thin handle is."""
    box = QWidget()
    column = QVBoxLayout(box)
    column.setContentsMargins(0, 7, 0, 0)
    column.addWidget(card)
    return box
