"""The four plots over N with one legend, one crosshair and one baseline beside them."""

from collections.abc import Sequence
from textwrap import fill

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QWidget

from app.pages.profile.crosshair_panel import WIDTH, CrosshairPanel
from app.pages.profile.in_flight import in_flight_value
from app.plots import SWEEP_PLOTS
from app.plots.series import UNFINISHED, extract, kernels_of, seqlens_of, telling_seqlen
from app.plots.speedup import SPEEDUP
from app.plots.status_marks import STATUS_MARKS
from app.plots.sweep_card import SweepCard
from app.theme import Theme
from kernels.problem import Problem
from profiles.groups import Group, grouped
from profiles.session import PointState, Session
from profiles.summary import PointRow

HINT_COLUMNS = 22  # characters of a line that fit into the narrowest plot
PLOTS_PX = 400  # two plots side by side need this much
FAVOURED_BASELINE = "standard"
MEASURABLE = UNFINISHED | {"done"}
EMPTY_HINTS = {
    "runtime": "Press Run (Ctrl+Return)\nto measure, or open\na saved session.",
    "speed-up": "Not measured yet.",
    "throughput": "Not measured yet.",
}


class PlotsView(QWidget):
    """Draws rows; knows nothing of engines.

    Attributes:
        seqlen: The sequence length under the crosshair, None before there is one.
        baseline: The kernel that speed-ups are over, None without kernels.
        panel: The legend, and every kernel's figures at the crosshair.
        group: The problems on show, where a session holds several at the same N; None without rows.

    Signals:
        cursor_moved: The crosshair stands at another sequence length (int).
        baseline_changed: Another baseline.
    """

    cursor_moved = Signal(int)
    baseline_changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.seqlen: int | None = None
        self.baseline: str | None = None
        self.group: Group | None = None
        self._groups: dict[Group, list[PointRow]] = {}
        self._group_chosen = False
        self._session: Session | None = None
        self._placed_by_user = False
        self._rows: Sequence[PointRow] = ()  # of the group on show
        self._all_rows: Sequence[PointRow] = ()
        self._hidden: set[str] = set()  # kernels
        self.panel = CrosshairPanel(theme)
        self.panel.group_chosen.connect(self._choose_group)
        self.panel.baseline_chosen.connect(self._choose_baseline)
        self.panel.kernel_toggled.connect(self._show_kernel)
        self.cards = {metric.key: SweepCard(metric, theme) for metric in SWEEP_PLOTS}
        grid = QGridLayout()
        grid.setSpacing(8)
        for index, card in enumerate(self.cards.values()):
            grid.addWidget(card, index // 2, index % 2)
            grid.setRowStretch(index // 2, 1)
            grid.setColumnStretch(index % 2, 1)
            card.plot.hovered.connect(self.move_cursor)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 7)
        self._row.setSpacing(8)
        self._row.addLayout(grid, 1)
        self._row.addWidget(self.panel)

    def minimumSizeHint(self) -> QSize:
        """As narrow as the panel: it goes under the plots where there is no room beside them."""
        return QSize(WIDTH, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the panel beside the plots, or under them."""
        super().resizeEvent(event)
        beside = self.width() >= WIDTH + PLOTS_PX
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if direction != self._row.direction():
            self._row.setDirection(direction)
            self.panel.setMaximumWidth(WIDTH if beside else self.maximumWidth())

    def show_rows(self, session: Session | None, rows: Sequence[PointRow]) -> None:
        """Draw one group of these; without a session they are a preview of what would be run."""
        if session is not self._session:
            self._placed_by_user = self._group_chosen = False
            self.group = None
        self._session, self._all_rows, self._groups = session, rows, grouped(rows)
        self._pick_group()
        self._draw()

    def _pick_group(self) -> None:
        """Stay with the group on show; until the user chooses one, follow the point in flight."""
        running = next((group for group, members in self._groups.items() if _running(members)), None)
        if running is not None and not self._group_chosen:
            self.group = running
        if self.group not in self._groups:
            self.group = next(iter(self._groups), None)

    def _draw(self) -> None:
        """Draw the rows of the group on show."""
        session = self._session
        self._rows = rows = () if self.group is None else self._groups[self.group]
        places = list(self._groups)
        labels = [group.label for group in places]
        self.panel.set_groups(labels, places.index(self.group) if self.group in self._groups else -1)
        kernels = kernels_of(rows)
        if self.baseline not in kernels:
            self.baseline = FAVOURED_BASELINE if FAVOURED_BASELINE in kernels else next(iter(kernels), None)
        if kernels != self.panel.kernels:
            self._hidden.clear()
            self.panel.set_kernels(kernels)
        self.panel.set_baseline(self.baseline)
        for card in self.cards.values():
            card.show_rows(session, rows, self.baseline, self._hidden)
        if not self._placed_by_user or self.seqlen not in seqlens_of(rows):
            self._place_cursor(telling_seqlen(rows))
        else:
            self._read_out()

    def show_hints(self, *, empty: bool, blocked: str = "") -> None:
        """Say in the empty plots what to do, or why Run cannot; the footprint's shows its model already."""
        hints = {**EMPTY_HINTS, **({"runtime": fill(blocked, HINT_COLUMNS)} if blocked else {})}
        for key, card in self.cards.items():
            card.plot.show_hint(hints.get(key, "") if empty else "")

    def show_flight(self, states: Sequence[PointState]) -> None:
        """Mark the points in flight in every plot."""
        self.panel.show_flight(states)
        shown = states if _running(self._rows) else ()
        for key, card in self.cards.items():
            values = {state.point.kernel: in_flight_value(key, state) for state in shown}
            card.show_flight(shown[0].point.problem.seqlen_q if shown else None, values)

    def speedups(self) -> list[float | None]:
        """The speed-up of every row of every group, in the order the rows were given."""
        found: dict[PointRow, float | None] = {}
        for members in self._groups.values():
            series = {one.kernel: one for one in extract(members, SPEEDUP, self.baseline)}
            for row in members:
                found[row] = series[row.kernel].at(row.seqlen) if row.status == "done" else None
        return [found[row] for row in self._all_rows]

    def problems(self) -> tuple[Problem, ...]:
        """The problems of the session that are on show, each once; none without a session."""
        points = self._session.points if self._session else ()
        shown = set(self._rows)
        pairs = zip(self._all_rows, points, strict=False)  # no points for a preview's rows
        return tuple(dict.fromkeys(state.point.problem for row, state in pairs if row in shown))

    def move_cursor(self, seqlen: int) -> None:
        """Stand the crosshair at a measured sequence length, and leave it there as more is measured."""
        self._placed_by_user = True
        if seqlen != self.seqlen:
            self._place_cursor(seqlen)
            self.cursor_moved.emit(seqlen)

    def step_cursor(self, step: int) -> None:
        """Move the crosshair to the next or the previous measured sequence length."""
        measured = seqlens_of(self._rows)
        if self.seqlen in measured:
            place = measured.index(self.seqlen) + step
            self.move_cursor(measured[min(max(place, 0), len(measured) - 1)])

    def autorange(self) -> None:
        """Follow the data in every plot."""
        for card in self.cards.values():
            card.plot.autorange()

    def toggle_log(self) -> None:
        """Switch every y axis between logarithmic and linear."""
        for card in self.cards.values():
            card.plot.toggle_log()

    def toggle_grid(self) -> None:
        """Show or hide every grid."""
        for card in self.cards.values():
            card.plot.toggle_grid()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self.panel.apply_theme(theme)
        for card in self.cards.values():
            card.apply_theme(theme)

    def _place_cursor(self, seqlen: int | None) -> None:
        self.seqlen = seqlen
        self.panel.show_cursor(seqlen)
        for card in self.cards.values():
            card.plot.set_cursor_at(seqlen)
        self._read_out()

    def _read_out(self) -> None:
        """Write every kernel's figures where the crosshair stands, or how its point ended."""
        ended = {row.kernel: row.status for row in self._rows if row.seqlen == self.seqlen}
        for kernel in kernels_of(self._rows):
            texts = [card.text_at(kernel, self.seqlen) for card in self.cards.values()]
            status = ended.get(kernel, "done")
            self.panel.show_figures(kernel, texts, "" if status in MEASURABLE else STATUS_MARKS[status].word)

    def _show_kernel(self, kernel: str, shown: bool) -> None:
        (self._hidden.discard if shown else self._hidden.add)(kernel)
        self._draw()

    def _choose_baseline(self, kernel: str) -> None:
        self.baseline = kernel
        self._draw()
        self.baseline_changed.emit()

    def _choose_group(self, place: int) -> None:
        self._group_chosen = True
        self.group = list(self._groups)[place]
        self._draw()


def _running(rows: Sequence[PointRow]) -> bool:
    """Whether the point in flight is one of these."""
    return any(row.status == "running" for row in rows)
