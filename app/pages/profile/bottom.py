"""What stands under the plots: the live telemetry, the results as a table, or the user's notes."""

from collections.abc import Iterator, Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from flashscope.app.figures.lanes import LANES
from flashscope.app.look.theme import Theme
from flashscope.app.pages.profile.notes import NotesPanel
from flashscope.app.pages.profile.results_table import ResultsTable
from flashscope.app.pages.profile.span_legend import SpanLegend
from flashscope.app.pages.profile.telemetry_strip import TelemetryStrip
from flashscope.app.plots.export.button import ExportButton
from flashscope.app.plots.export.contents import Export
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.efficiency import ABOUT, efficiency_lines, efficiency_short
from flashscope.app.words.provenance_header import session_header
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import Session


class BottomCard(Card):
    """Three views of one session under one title line.

    Signals:
        freeze_toggled: The telemetry's display was frozen or let go (bool).
    """

    freeze_toggled = Signal(bool)

    def __init__(self, theme: Theme, notes: NotesPanel) -> None:
        super().__init__()
        self._theme = theme
        self._session: Session | None = None
        self.strip = TelemetryStrip(theme)
        self.table = ResultsTable(theme)
        self.table.point_selected.connect(self.strip.show_point)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.strip)
        self.notes = notes
        self._stack.addWidget(self.table)
        self._stack.addWidget(self.notes)
        self.tabs = QButtonGroup(self)
        self._make_header()
        self.setContentsMargins(0, -4, -4, -4)
        self.body.addWidget(self._stack)

    def _make_header(self) -> None:
        for index, (title, hint) in enumerate(
            (
                ("Telemetry", "The device over time"),
                ("Results", "One row a point; select one to move the crosshair"),
                ("Notes", "What you say of points and moments"),
            )
        ):
            tab = QPushButton(title)
            tab.setCheckable(True)
            tab.setChecked(index == 0)
            tab.setProperty("role", "quiet")
            set_tip(tab, hint)
            self.tabs.addButton(does(tab, f"profile.{title.lower()}"), index)
            self.header.insertWidget(index, tab)
        self.tabs.idToggled.connect(self._turn)
        self.freeze = does(QPushButton("Freeze"), "profile.freeze")
        self.freeze.setCheckable(True)
        self.freeze.setProperty("role", "quiet")
        set_tip(self.freeze, "Stop the display; readings are recorded all the same")
        self.freeze.toggled.connect(self._freeze)
        self.legend = SpanLegend(self._theme)
        self.summary = PlainLabel()
        self.summary.setProperty("role", "unit")
        self.summary.hide()
        self.header.insertWidget(3, self.legend, 1)
        self.export_button = ExportButton("telemetry", self.make_export, self._theme)
        self.header.addWidget(self.summary)
        self.header.addWidget(self.freeze)
        self.header.addWidget(self.export_button)

    def show_session(self, session: Session | None) -> None:
        """Another session."""
        self._session = session
        self.strip.show_session(session)
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
        self.table.results.apply_theme(theme)
        self.export_button.apply_theme(theme)

    def show_tab(self, index: int) -> None:
        """Bring the telemetry (0), the results (1) or the notes (2) to the front."""
        self.tabs.button(index).setChecked(True)

    def make_export(self) -> Export:
        """What the export menu writes of the telemetry."""
        session = self._session
        header = session_header(session) if session else {"session": "live readings, not saved"}
        shown = [lane for lane in LANES if self.strip.offered(lane)]
        return Export(
            title="Telemetry over time",
            labels=["N", *(f"{lane.title}, {lane.unit}" for lane in shown)],
            name="telemetry",
            plots=[self.strip.ruler, *(self.strip.rows[lane.field].lane for lane in shown)],
            theme=self._theme,
            provenance=header,
            columns=self.strip.export_columns(),
            rows=self.strip.export_rows(),
            kernels=session.plan.kernels if session else (),
        )

    def _turn(self, index: int, chosen: bool) -> None:
        if chosen:
            self._stack.setCurrentIndex(index)
            self.freeze.setVisible(index == 0)
            self.legend.setVisible(index == 0)
            self.export_button.setVisible(index == 0)
            self.summary.setVisible(index == 1)

    def _freeze(self, frozen: bool) -> None:
        self.strip.frozen = frozen
        self.strip.draw()
        self.freeze_toggled.emit(frozen)


def below_handle(card: QWidget) -> QWidget:
    """The card with a gap above, where the splitter's thin handle is."""
    box = QWidget()
    column = QVBoxLayout(box)
    column.setContentsMargins(0, 7, 0, 0)
    column.addWidget(card)
    return box
