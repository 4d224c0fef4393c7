"""The Traffic page: what each kernel moves to and from DRAM during one run, on the same axes."""

from collections.abc import Collection, Sequence
from functools import partial

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.control.bundled import counted_recording
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.base import Page
from flashscope.app.pages.instead import LeadButton, elsewhere_text
from flashscope.app.pages.traffic.card import TrafficCard, totals_text
from flashscope.app.pages.traffic.shown import (
    CountedPoint,
    groups,
    hidden_kernels_text,
    named,
    nearest,
    none_of_curve,
    others,
    staged,
    too_slow,
    why_none,
)
from flashscope.app.pages.traffic.staging import TrafficStaging
from flashscope.app.plots.export.button import ExportButton
from flashscope.app.plots.export.contents import Export, ExportCell
from flashscope.app.plots.plot_menu import OF_THE_POINT, PlotMenu
from flashscope.app.plots.sweep.legend import Legend
from flashscope.app.plots.timeline.traffic_plot import (
    Rates,
    TrafficAxes,
    read_colour,
    time_unit,
    written_colour,
)
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.empty_view import EmptyView
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import FormulaLabel, PlainLabel
from flashscope.app.words.results.provenance_header import session_header
from flashscope.app.words.units import seqlen_text, thousands
from flashscope.profiles.results.model.curves import Curve
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import Event, PlanStarted, PointMeasured

HEAD_PX, CARD_PX = 110, 62  # what the head of the page takes, and of a card all but the plot itself
PICTURE = (900, 170)  # pixels at 100 % of a plot in an exported picture, at least
MARGIN = 12
HEADING = "DRAM traffic of one run"
QUESTION = "What crosses the memory bus while a kernel runs?"
OPEN, COUNT = "Open the recording with counters", "New sweep with counters …"
BESIDE = 2  # kernels that a stage shows side by side


class TrafficPage(Page):
    """A plot for each kernel at one N: its walls, beside what a copy reaches."""

    key = "traffic"

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.seqlen: int | None = None  # on show
        self._stale = True
        self._wanted = controller.seqlen
        self._unit = "µs"  # of the time on show
        self._rows: Sequence[PointRow] = ()
        self._groups: dict[Curve, dict[int, list[CountedPoint]]] = {}
        self.cards: dict[str, TrafficCard] = {}  # of what is on show
        self._made: dict[str, TrafficCard] = {}  # of all that was
        self.only: Collection[str] = ()
        self._side_by_side = False
        self.heading = PlainLabel(HEADING)
        self.legend, self.kernels = FormulaLabel(), Legend(theme)
        self.kernels.changed.connect(self._hide)
        controller.kernels_hidden.connect(lambda _hidden: self._changed())
        self.left_out = PlainLabel(wordWrap=True)
        self.export_button = ExportButton("the traffic curves", self.make_export, theme)
        self.plot_menu = PlotMenu(self, self.export_button.exporter, OF_THE_POINT)
        self.let_export([self.export_button.exporter])
        self._lay_out()
        self.staging = TrafficStaging(
            self,
            controller,
            (self.heading, self.kernels, self.export_button),
        )
        controller.events_arrived.connect(self._take_events)
        controller.jumped.connect(self._changed)
        controller.seqlen_chosen.connect(self.show_seqlen)
        controller.curve_chosen.connect(lambda _curve: self._changed())
        self.apply_theme(theme)

    def _lay_out(self) -> None:
        title = self.heading
        title.setProperty("role", "heading")
        self.legend.setProperty("role", "unit")
        self.legend.setWordWrap(True)
        parts = (title, self.legend, self.export_button)
        head = Lines(parts, (title, self.legend), 8)
        self._cards = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._cards.setSpacing(8)
        self.left_out.setProperty("role", "unit")
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(MARGIN, 8, MARGIN, 10)
        column.addWidget(head)
        column.addWidget(self.kernels)
        column.addLayout(self._cards, 1)
        column.addWidget(self.left_out)
        empty = self._empty()
        self.words = empty.words
        self._stack = QStackedWidget()
        self._stack.addWidget(empty)
        self._stack.addWidget(full)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._stack)

    def _empty(self) -> EmptyView:
        """Words and ways on where there is no curve."""
        counted = counted_recording()
        self.open_counted = text_button(OPEN, OPEN, lambda: self.file_chosen.emit(counted), "primary")
        count = text_button(COUNT, COUNT, lambda: self.action_requested.emit("profile.counted"))
        self.lead = LeadButton()
        self.lead.view_chosen.connect(self.page_requested)
        empty = EmptyView(QUESTION)
        empty.add(self.lead, self.open_counted, does(count, "profile.counted"))
        self.open_counted.setHidden(counted is None)
        return empty

    def show_session(self, session: Session | None) -> None:
        """Show another session's curves, or what to do to have some."""
        del session
        self._wanted = None
        self._changed()

    def show_seqlen(self, seqlen: int) -> None:
        """Show the curves at this N, or at the nearest that has any."""
        self._wanted = seqlen
        self._changed()

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Draw what has changed while another page was in front."""
        super().showEvent(event)
        if self._stale:
            self.refresh()

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the labels room where there is some now."""
        super().resizeEvent(event)
        if self.isVisible():
            self._show_cards()

    def _changed(self) -> None:
        self._stale = True
        if self.isVisible():
            self.refresh()

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""
        following, before = partial(self._step, 1), partial(self._step, -1)
        return [
            Action("traffic.next", "Traffic at the next N", following, "View", "Alt+Right", staged=True),
            Action("traffic.back", "Traffic at the previous N", before, "View", "Alt+Left", staged=True),
        ]

    def _step(self, by: int) -> None:
        """Look at the next N that has curves, or at the one before, in every view."""
        there = sorted(self._of_curve())
        if self.seqlen in there:
            place = there.index(self.seqlen) + by
            self.controller.seqlen_chosen.emit(there[min(max(place, 0), len(there) - 1)])

    def show_kernels(self, kernels: Collection[str]) -> None:
        """Show the curves of these, two of them side by side; or of all where none is named."""
        self.only = kernels
        self._changed()

    def refresh(self) -> None:
        """Show the session as it stands now."""
        session, self._stale = self.controller.session, False
        self._rows = () if session is None else rows(session)
        self._groups = groups(self._rows)
        told = "" if self._of_curve() else self._why_none(session)
        self.lead.follow(session)
        self.words.setText(told)  # a long text behind the curves would make the page higher
        self._stack.setCurrentIndex(int(not told))
        self._draw()

    def _why_none(self, session: Session | None) -> str:
        if elsewhere := elsewhere_text(session):
            return elsewhere
        curve = self.controller.curve
        if curve is None or not self._groups:
            return why_none(None if session is None else self._rows)
        return none_of_curve(curve, list(self._groups))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        super().apply_theme(theme)
        self._write_legend()
        self.export_button.apply_theme(theme)
        self.kernels.apply_theme(theme)
        for card in self._made.values():
            card.apply_theme(theme)

    def _write_legend(self) -> None:
        read, written = read_colour(self.theme), written_colour(self.theme)
        self.legend.setText(
            f'GB/s over {self._unit} · <span style="color:{read}">■</span>&nbsp;read '
            f'<span style="color:{written}">■</span>&nbsp;written, on top · dashed: a copy within the memory'
        )

    def make_export(self) -> Export | None:
        """What the export menu writes; None while there is nothing to show."""
        session, shown = self.controller.session, self.counted
        if session is None or not shown:
            return None
        return Export(
            title=f"DRAM traffic of one run at N = {thousands(self.seqlen or 0)}, GB/s over {self._unit}: "
            "read, and on top of it written",
            name="traffic",
            plots=[self.cards[one.row.kernel].plot for one in shown],
            theme=self.theme,
            provenance=session_header(session, [one.row for one in shown]),
            columns=["kernel", "seqlen", "start_us", "read_GB/s", "written_GB/s"],
            rows=[line for one in shown for line in _lines(one)],
            least=QSize(*map(px, PICTURE)),
            heads=[f"{one.row.kernel}: {totals_text(one)}" for one in shown],
        )

    @property
    def counted(self) -> Sequence[CountedPoint]:
        """The points whose curves are on show."""
        all_of = self.only or self.staging.on
        return [one for one in self._offered() if all_of or one.row.kernel not in self.kernels.hidden]

    def _offered(self) -> list[CountedPoint]:
        """The points that have a curve at the N on show; on a stage, of the kernels wanted there."""
        there = [] if self.seqlen is None else self._of_curve().get(self.seqlen, [])
        return (staged if self.staging.on else named)(there, self.only)

    def _of_curve(self) -> dict[int, list[CountedPoint]]:
        """The points of the problems on show that have a curve, by N."""
        first: dict[int, list[CountedPoint]] = next(iter(self._groups.values()), {})
        chosen = self.controller.curve
        if chosen is None or (self.staging.on and chosen not in self._groups):
            return first
        return self._groups.get(chosen, {})

    def _draw(self) -> None:
        there = self._of_curve()
        self.seqlen = nearest(sorted(there), self._wanted) if there else None
        at = "" if self.seqlen is None else f" at N = {seqlen_text(self.seqlen)}"
        self.heading.setText(f"{HEADING}{at}")
        offered = self._offered()
        kernels = [one.row.kernel for one in offered]
        self._make_cards(kernels)
        self._side_by_side = self.staging.on and len(kernels) <= BESIDE
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._cards.setDirection(beside if self._side_by_side else below)
        self.kernels.show_kernels(kernels)
        slow = set(too_slow(offered))
        kept = slow & set(self.kernels.hidden) if self.kernels.touched else slow
        self.kernels.hide_kernels(self.controller.hidden | kept)
        self._show_cards()
        self.staging.changed.emit()

    def _hide(self) -> None:
        """Let other views hide the same kernels; what would stretch the axis here is hidden here alone."""
        offered = self._offered()
        slow = set(too_slow(offered))
        others_of = [one.row.kernel for one in offered if one.row.kernel not in slow]
        self.controller.hide_kernels(set(self.kernels.hidden) - slow, others_of)
        self._show_cards()

    def _show_cards(self) -> None:
        """Draw what is not hidden, on axes that end where the slowest of it does."""
        offered, shown = self._offered(), self.counted
        below = 1 if self._side_by_side else max(1, len(shown))
        height = (self.height() - px(HEAD_PX)) / below - px(CARD_PX)
        axes = TrafficAxes.around(*_extent(shown), height)
        self._unit = time_unit(axes.us)
        self._write_legend()
        drawn = {one.row.kernel for one in shown}
        for kernel, card in self.cards.items():
            card.setVisible(kernel in drawn)
        for one in shown:
            self.cards[one.row.kernel].show_point(one, axes, brief=self.staging.on)
        without = others(self._rows, offered)
        hidden = (
            hidden_kernels_text(offered, self.kernels.hidden, chosen=self.kernels.touched) if offered else ""
        )
        self.left_out.setText(
            " ".join(filter(None, (hidden, without and f"Without a curve here: {without}.")))
        )
        self.left_out.setVisible(bool(self.left_out.text()) and not (self.only or self.staging.on))

    def _make_cards(self, kernels: Sequence[str]) -> None:
        """A card for each of these; one that was made is kept, for its plot takes long to make."""
        if list(self.cards) == list(kernels):
            return
        for card in self.cards.values():
            self._cards.removeWidget(card)
            card.hide()
        for kernel in kernels:
            if kernel not in self._made:
                self._made[kernel] = TrafficCard(kernel, self.theme)
        self.cards = {kernel: self._made[kernel] for kernel in kernels}
        for card in self.cards.values():
            self._cards.addWidget(card, 1)
        self.staging.take_cards(list(self.cards.values()))

    def _take_events(self, events: Sequence[Event]) -> None:
        if any(isinstance(event, PlanStarted | PointMeasured) for event in events):
            self._changed()


def _extent(shown: Sequence[CountedPoint]) -> tuple[float, float]:
    """How far all of it goes: the longest curve in µs, the fastest bin and every copy in GB/s."""
    curves = [Rates.of(one.traffic) for one in shown]
    copies = [figure.value for one in shown if (figure := one.row.measured("copy_gbs")) and figure.value]
    fastest = [float((curve.read + curve.written).max()) for curve in curves]
    return max((float(c.us[-1]) for c in curves), default=1.0), max([*copies, *fastest], default=1.0)


def _lines(one: CountedPoint) -> list[list[ExportCell]]:
    """The bins of a curve for CSV."""
    rates = Rates.of(one.traffic)
    columns = zip(rates.us[:-1].tolist(), rates.read.tolist(), rates.written.tolist(), strict=True)
    return [[one.row.kernel, one.row.seqlen, *cells] for cells in columns]
