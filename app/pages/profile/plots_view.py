"""Four plots over N with one legend, one crosshair and one baseline beside them."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from PySide6.QtCore import Signal

from flashscope.app.figures.series import kernels_of, seqlens_of
from flashscope.app.figures.statuses import STATUS_MARKS
from flashscope.app.look.theme import Theme
from flashscope.app.pages.profile.context_line import ContextLine
from flashscope.app.pages.profile.crosshair_panel import CrosshairPanel
from flashscope.app.pages.profile.four_plots import CELLS, FourPlots
from flashscope.app.pages.profile.in_flight import point_text, running
from flashscope.app.pages.profile.kept_view import KeptView
from flashscope.app.pages.profile.plots_and_panel import PlotsAndPanel
from flashscope.app.plots.sweep.sweep_card import SweepCard
from flashscope.app.widgets.paint_turns import draw_unless_waiting
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.compare.noise import Wander, wanders
from flashscope.profiles.results.findings.headline import Headline, headline
from flashscope.profiles.results.model.curves import Curve, by_curve, curve_with, telling_seqlen
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import UNFINISHED, PointState, Session
from flashscope.profiles.results.quantities.registry import favoured_baseline

MEASURABLE = UNFINISHED | {"done"}


class PlotsView(PlotsAndPanel):
    """Draws rows; knows nothing of engines.

    Attributes:
        seqlen: The sequence length under the crosshair, None before there is one.
        baseline: The kernel that speed-ups are over, None without kernels.
        four: The plots.
        cells: Their cards.
        panel: The legend, and every kernel's figures at the crosshair.
        context: Says and chooses what all views of the session share.
        follows_pointer: Whether the crosshair goes with the pointer, and others stand back behind its curve.
        curve: The problems on show, where a session holds several at the same N; None without rows.

    Signals:
        changing: These parts are about to be drawn anew, in their turns (list of QWidget).
        cursor_moved: The crosshair stands at another sequence length (int).
        baseline_changed: Another baseline.
        quantities_chosen: The four show other quantities: their keys (list of str).
        drawn: They show other rows, kernels or quantities.
        point_requested: A command of the window is to be done with a point: its index, the command's key
            (int, str).
        kernels_hidden: The user has hidden other kernels: all that are (frozenset), of these (tuple).
    """

    changing = Signal(list)
    cursor_moved = Signal(object)  # N, which may be beyond a C int
    baseline_changed = Signal()
    quantities_chosen = Signal(list)
    drawn = Signal()
    kernels_hidden = Signal(object, object)
    point_requested = Signal(int, str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.seqlen: int | None = None
        self.follows_pointer = True
        self.baseline: str | None = None
        self.curve: Curve | None = None
        self._curves: dict[Curve, list[PointRow]] = {}
        self._curve_chosen = False
        self._session: Session | None = None
        self._placed_by_user = False
        self._wanted = ""  # the baseline that was chosen; empty: the usual one
        self._kept: KeptView | None = None  # for the session that is shown next
        self._rows: Sequence[PointRow] = ()  # of the curve on show
        self._kernels: tuple[str, ...] = ()  # of these rows
        self._hidden: set[str] = set()  # of these kernels
        self._wandered: Mapping[str, Wander] = {}
        self.panel = CrosshairPanel(theme, CELLS)
        self.context = ContextLine(theme, self)
        self.context.hide()  # until a window has a place for it
        self.context.curve_chosen.connect(self._choose_curve)
        self.context.baseline_chosen.connect(self._choose_baseline)
        self.context.kernel_toggled.connect(self._show_kernel)
        self.context.stepped.connect(self.step_cursor)
        self.panel.kernel_toggled.connect(self._show_kernel)
        self.panel.kernel_soloed.connect(self._solo)
        self.panel.kernel_pointed_at.connect(self._point_at)
        self.four = FourPlots(theme, self)
        self.cells = self.four.cards
        self.four.quantity_chosen.connect(self.choose_quantity)
        self.four.solo_requested.connect(self._solo)
        self.four.point_requested.connect(self._ask_of)
        self.four.pointed_at.connect(self._point_at)
        self.four.hovered.connect(self._hover)
        self.lay_out(self.cells, self.panel)
        self.full.changed.connect(self._draw_in_turns)

    @property
    def cards(self) -> dict[str, SweepCard]:
        """The plots by the key of what each shows."""
        return {card.quantity.key: card for card in self.cells}

    @property
    def rows(self) -> Sequence[PointRow]:
        """The points of the problems on show."""
        return self._rows

    @property
    def points(self) -> set[int]:
        """Points of the problems on show that the crosshair stands at, by index."""
        return {row.point.index for row in self._rows if row.seqlen == self.seqlen}

    def point_of(self, kernel: str) -> int | None:
        """A kernel's point at the crosshair by its index, that of the first on show where it has none."""
        there = {row.kernel: row.point.index for row in self._rows if row.seqlen == self.seqlen}
        return there.get(kernel, next((there[one] for one in self.kernels if one in there), None))

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels whose curves are on show."""
        return tuple(kernel for kernel in self._kernels if kernel not in self._hidden)

    def show_rows(self, session: Session | None, rows: Sequence[PointRow]) -> None:
        """Draw one curve of these; without a session they are a preview of what would be run."""
        kept = self._kept if session is not self._session else None
        if session is not self._session:
            self._placed_by_user = self._curve_chosen = False
            self.curve = None
            self.four.autorange()
        self._session, self._curves = session, by_curve(rows)
        if kept is not None:
            self._take_up(kept)
            self._kept = None
        self._pick_curve()
        self._draw()

    @property
    def kept(self) -> KeptView:
        """What the user has chosen to see of the session on show."""
        return KeptView(
            session=KeptView.mark_of(self._session),
            baseline=self._wanted,
            kernels=self._kernels,
            hidden=frozenset(self._hidden),
            curve=self.curve if self._curve_chosen else None,
            seqlen=self.seqlen if self._placed_by_user else None,
        )

    def give_back(self, kept: KeptView) -> None:
        """Show what was chosen before; of a session that is shown only after this one, as soon as it is."""
        self._kept = None if kept.is_of(self._session) else kept
        self._take_up(kept)
        self._pick_curve()
        self._draw_in_turns()
        self.baseline_changed.emit()
        if self.seqlen is not None:
            self.cursor_moved.emit(self.seqlen)

    def _take_up(self, kept: KeptView) -> None:
        """Take what was chosen before, as far as it is for what is on show."""
        self._wanted = kept.baseline
        self._kernels, self._hidden = kept.kernels, set(kept.hidden)  # drawing shows all of other kernels
        if kept.is_of(self._session):
            self._curve_chosen = kept.curve is not None
            self.curve = kept.curve or self.curve
            self._placed_by_user = kept.seqlen is not None
            self._place_cursor(kept.seqlen)

    def _pick_curve(self) -> None:
        """Stay with the problems on show; until the user chooses some, follow the point begun last."""
        if not self._curve_chosen and len(self._curves) > 1 and self._session is not None:
            self._follow(self._session)
        if self.curve not in self._curves:
            self.curve = next(iter(self._curves), None)

    def _follow(self, session: Session) -> None:
        if session.outcome is None:
            newest = max(session.cells, key=lambda state: state.began_ns).point  # before any, the first
            self.curve = curve_with(self._curves, newest.index)

    def _draw_in_turns(self) -> None:
        """Draw what the user has chosen."""
        self.changing.emit([*self.cells, self.panel])
        self._draw()

    def _draw(self) -> None:
        """Draw the rows of the curve on show."""
        session = self._session
        self._rows = rows = () if self.curve is None else self._curves[self.curve]
        kernels = kernels_of(rows)
        planned = session.plan.kernels if session is not None else ()
        self.baseline = self._wanted if self._wanted in kernels else favoured_baseline(planned)
        if kernels != self._kernels:
            self._kernels = kernels
            self._hidden.clear()
        self._wandered = {} if session is None else wanders(session)
        self.four.show_rows(session, rows, self.baseline, self._hidden)
        if not self._placed_by_user or self.seqlen not in seqlens_of(rows):
            self._place_cursor(telling_seqlen(rows))
        self._draw_panel_unless_waiting()
        self.drawn.emit()

    def headline(self) -> Headline | None:
        """What there is to be said of what is on show; its kernel shines in the plots from now on.

        None without a session, and where nothing has ended.
        """
        shown = [card.quantity for card in self.cells if self.full.card in {None, card}]
        rows = self._rows if self._session is not None else ()
        told = headline(
            rows,
            self.seqlen,
            self.baseline,
            shown,
            hidden=self._hidden,
            wandered=self._wandered,
            label=self.curve.label if self.curve is not None and len(self._curves) > 1 else "",
            ceilings=self._session.ceilings if self._session is not None else None,
        )
        self.four.show_hero(told.kernel if told is not None else "")
        return told

    def draw_panel_in_steps(self) -> Iterator[None]:
        """Write the legend and every kernel's figures where the crosshair stands, or how its point ended.

        For a panel that has waited, when its turn comes.
        """
        yield from self.four.extract_in_steps()
        self.context.show_curves(list(self._curves), self.curve)
        self.context.show_kernels(self._kernels, self._hidden, self.baseline)
        self.context.show_seqlen(self.seqlen)
        if self._kernels != self.panel.kernels:
            yield from self.panel.set_kernels(self._kernels)
        self.panel.show_hidden(self._hidden)
        self.panel.show_cursor(self.seqlen)
        ended = {row.kernel: row for row in self._rows if row.seqlen == self.seqlen}
        for kernel in self.panel.kernels:
            texts = self.four.texts_at(kernel, self.seqlen)
            row = ended.get(kernel)
            reason = "" if row is None or row.status in MEASURABLE else STATUS_MARKS[row.status].word
            self.panel.show_figures(kernel, texts, reason, point_text(row))
        self.panel.show_doubts(any(card.has_doubted for card in self.cells))
        self.panel.memory.show_rows([ended[kernel] for kernel in self.kernels if kernel in ended])

    def _draw_panel_unless_waiting(self) -> None:
        if not draw_unless_waiting(self.panel, self.draw_panel_in_steps):
            self.changing.emit([self.panel])  # it may be half drawn

    def show_flight(self, states: Sequence[PointState]) -> None:
        """Mark the points in flight in every plot."""
        self.panel.show_flight(states)
        self.four.show_flight(self._session, states if running(self._rows) else ())

    def show_quantities(self, keys: Sequence[str]) -> None:
        """Show these quantities in the four plots; nothing changes unless these are four that are known."""
        if known := self.four.show_quantities(keys):
            self.panel.set_quantities(known)
            self._draw_in_turns()

    def choose_quantity(self, place: int, key: str) -> None:
        """Show a quantity in one of the plots; one that shows it already gets what this one showed."""
        keys = self.four.keys_with(place, key)
        self.show_quantities(keys)
        self.quantities_chosen.emit(keys)

    def show_alone(self, kernel: str) -> None:
        """Show the curves of this kernel and of no other."""
        self.show_kernels([kernel], self._wanted)

    def show_kernels(self, kernels: Collection[str], baseline: str) -> None:
        """Show the curves of these, or of all where there is none of them, over a baseline, or the usual."""
        known = set(kernels) & set(self._kernels)
        self._hidden = set(self._kernels) - known if known else set()
        self._wanted = baseline
        self._draw_in_turns()
        self.baseline_changed.emit()

    def follow_curve(self, curve: Curve) -> None:
        """Show the problems that were chosen in another view, if they are among these."""
        if curve in self._curves and curve != self.curve:
            self._choose_curve(curve)

    def follow_hidden(self, hidden: Collection[str]) -> None:
        """Hide the kernels that were hidden in another view."""
        if self._hidden != set(hidden) & set(self._kernels):
            self._hidden = set(hidden) & set(self._kernels)
            self._draw_in_turns()

    def show_curve(self, label: str) -> None:
        """Show the problems that are called so, if there are any."""
        for curve in self._curves:
            if curve.label == label:
                self._choose_curve(curve)

    @property
    def problem_labels(self) -> list[str]:
        """What the problems of the session are called that can be on show; none without a session."""
        return [curve.label for curve in self._curves] if self._session else []

    def problems(self) -> tuple[Problem, ...]:
        """The problems of the session that are on show, each once; none without a session."""
        rows = self._rows if self._session else ()
        return tuple(dict.fromkeys(row.problem for row in rows))

    def move_cursor(self, seqlen: int) -> None:
        """Stand the crosshair at a measured sequence length, and leave it there as more is measured."""
        self._placed_by_user = True
        if seqlen != self.seqlen:
            self._place_cursor(seqlen)
            self._draw_panel_unless_waiting()
            self.cursor_moved.emit(seqlen)

    def _hover(self, seqlen: int) -> None:
        if self.follows_pointer:
            self.move_cursor(seqlen)

    def show_seqlen(self, seqlen: int) -> None:
        """Stand the crosshair there, if something has been measured there."""
        if seqlen in seqlens_of(self._rows):
            self.move_cursor(seqlen)

    def show_point(self, index: int) -> None:
        """Show the problems of a point, and stay with them, the crosshair at its sequence length."""
        curve = curve_with(self._curves, index)
        if curve is not None:
            self._curve_chosen = True
            self.follow_curve(curve)
            self.move_cursor(next(row.seqlen for row in self._curves[curve] if row.point.index == index))

    def step_cursor(self, step: int) -> None:
        """Move the crosshair to the next or the previous measured sequence length."""
        measured = seqlens_of(self._rows)
        if self.seqlen in measured:
            place = measured.index(self.seqlen) + step
            self.move_cursor(measured[min(max(place, 0), len(measured) - 1)])

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self.panel.apply_theme(theme)
        self.context.apply_theme(theme)
        self.four.apply_theme(theme)

    def _place_cursor(self, seqlen: int | None) -> None:
        self.seqlen = seqlen
        self.four.show_cursor(seqlen)

    def _show_kernel(self, kernel: str, shown: bool) -> None:
        (self._hidden.discard if shown else self._hidden.add)(kernel)
        self._hide()

    def _solo(self, kernel: str) -> None:
        """Show this kernel alone, or all again."""
        others = set(self._kernels) - {kernel}
        self._hidden = set() if self._hidden == others else others
        self._hide()

    def _hide(self) -> None:
        self.kernels_hidden.emit(frozenset(self._hidden), self._kernels)
        self._draw_in_turns()

    def _point_at(self, kernel: str) -> None:
        """Let the curves of all other kernels stand back, in every plot; an empty name: of none."""
        if not self.follows_pointer:
            kernel = ""
        self.four.point_at(kernel)
        self.panel.point_at(kernel)

    def _ask_of(self, kernel: str, command: str) -> None:
        index = self.point_of(kernel)
        if index is not None:
            self.point_requested.emit(index, command)

    def _choose_baseline(self, kernel: str) -> None:
        if kernel not in self._kernels:
            return  # chosen from a list that waits to be drawn anew
        self._wanted = kernel
        self._draw_in_turns()
        self.baseline_changed.emit()

    def _choose_curve(self, curve: Curve) -> None:
        if curve not in self._curves:
            return  # chosen from a list that waits to be drawn anew
        self._curve_chosen = True
        self.curve = curve
        self._draw_in_turns()
