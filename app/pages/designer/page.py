"""The Designer page: a cut of flash2 or flash3 against the limits of a card, and the cuts around it."""

from collections.abc import Sequence

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.control.bundled import cuts_recording
from flashscope.app.control.controller import Controller
from flashscope.app.figures.cut_grid import CutCell, CutGrid, Known, cell_of, cut_grid
from flashscope.app.figures.cut_times import verdict
from flashscope.app.figures.landscapes import maker_of
from flashscope.app.figures.sm_bars import sm_bars
from flashscope.app.figures.tile_grid import SHIPPED
from flashscope.app.look.theme import Theme
from flashscope.app.pages.base import Page
from flashscope.app.pages.designer.actions import designer_actions
from flashscope.app.pages.designer.beside import why_not_beside
from flashscope.app.pages.designer.cards import shown_card
from flashscope.app.pages.designer.choices import DesignChoices
from flashscope.app.pages.designer.compare_table import CutTable
from flashscope.app.pages.designer.compile_bar import CompileBar
from flashscope.app.pages.designer.knobs import Knobs
from flashscope.app.pages.designer.landscape_card import RATIO, RUNTIME, LandscapeCard
from flashscope.app.pages.designer.lineup import LandscapeLineup
from flashscope.app.pages.designer.place import found_gpus, is_in_use
from flashscope.app.pages.designer.staging import DesignerStaging
from flashscope.app.pages.designer.tiles_view import TilesView
from flashscope.app.pages.designer.tried import CutPlace, Tried, known_beside
from flashscope.app.plots.designer.sm_picture import SmPicture
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.inside.cuts import (
    compiled_words,
    cut_sentence,
    cut_words,
    problem_line,
    reasons,
    rows,
    tile_words,
)
from flashscope.kernels.cuda.design.cut import shipped
from flashscope.kernels.cuda.design.refusals import refusals
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.workload.cut import CompiledCut, Cut, CutKernel
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.cuts import CutRequest, CutsAsked, CutsEnded, CutsToTime, CutTimes
from flashscope.profiles.wire.events import Event, LandscapeReady

MODELLED = "model"
BEING_DONE = "Cuts are being compiled or timed; stop that first."


class DesignerPage(Page):
    """Sliders, a sentence, an SM, a comparison and a landscape.

    Attributes:
        found: The cut on show, and what the compiler made of it.
        grid: The cuts around it.
    """

    key = "designer"

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        self.choices, self.knobs, self.bar = DesignChoices(), Knobs(theme), CompileBar()
        self.sentence, self.others = PlainLabel(wordWrap=True), PlainLabel(wordWrap=True)
        self.picture, self.table, self.landscape = SmPicture(theme), CutTable(), LandscapeCard(theme)
        self.cut_card, self.sm_card = Card("Cut", MODELLED), Card("One SM")
        self.table_card = Card("Beside the shipped cut", MODELLED)
        self.on_gpu, self.tiles = QWidget(), TilesView(controller, theme, self.choices.cpu_problem)
        self._cuts: dict[CutKernel, Cut] = {}  # those last chosen
        self.lineup, self.tried = LandscapeLineup(controller.keeping, self), Tried()
        self._own: Cut | None = None  # the shipped cut when it was shown last
        self._far, self._done = "", 0
        self.found: CutCell
        self.grid: CutGrid[CutCell]
        self._lay_out()
        aside = (self.choices, self.lineup, self.sentence, self.others, self.cards, self.bar)
        self.staging = DesignerStaging(controller, self, aside)
        self._connect()
        self.show_session(controller.session)
        if self._own is None:
            self._take_kernel()
        self.apply_theme(theme)

    def _lay_out(self) -> None:
        self.sentence.setProperty("role", "title")
        self.sentence.setAccessibleName("Whether the cut runs")
        self.others.setProperty("role", "dim")
        self.cut_card.body.addWidget(self.knobs)
        self.cut_card.body.addStretch(1)
        self.sm_card.body.addWidget(self.picture, 1)
        self.table_card.body.addWidget(self.table)
        self.table_card.body.addStretch(1)
        cards = self.cut_card, self.sm_card, self.table_card
        column = QVBoxLayout(self.on_gpu)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self.cards = Lines(cards, cards, 8)
        for part in (self.sentence, self.others, self.cards, self.bar):
            column.addWidget(part)
        column.addWidget(self.landscape, 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(12, 8, 12, 10)
        outer.setSpacing(8)
        outer.addWidget(self.choices)
        outer.addWidget(self.lineup)
        for view in (self.on_gpu, self.tiles):
            outer.addWidget(view, 1)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sentence.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def _connect(self) -> None:
        controller, cuts = self.controller, self.controller.cuts
        self.choices.changed.connect(self._design)
        self.choices.kernel_changed.connect(self._design)
        self.lineup.changed.connect(self._show_landscape)
        self.lineup.recorded_asked.connect(self.open_recorded)
        self.tiles.made.connect(self.lineup.take_recorded)
        self.tiles.begun.connect(self._design)
        self.knobs.changed.connect(self._follow)
        self.landscape.changed.connect(self._show)
        self.landscape.plot.picked.connect(self.show_cut)
        self.bar.one_asked.connect(self.compile_one)
        self.bar.all_asked.connect(self.compile_all)
        self.bar.time_asked.connect(self.time_cuts)
        self.bar.stopped.connect(cuts.cancel)
        cuts.timed.connect(self._take_timed)
        cuts.progressed.connect(self._take_progress)
        cuts.done.connect(self._take_end)
        controller.keeping.kept.connect(self._take_kept)
        controller.jumped.connect(self._take_kept)
        controller.events_arrived.connect(self._take_events)
        controller.running_changed.connect(lambda _running: self._give_way())
        controller.occupied_changed.connect(lambda _reason: self._give_way())
        self.bar.shipped_asked.connect(self.show_shipped)
        cuts.compiled.connect(self._take_compiled)
        cuts.changed.connect(self._show_state)
        controller.devices.moved.connect(self._forget)
        controller.machine_found.connect(lambda _machine: self._offer_cards())
        controller.machine_found.connect(lambda _machine: self._show_state())
        self.let_export([one.export_button.exporter for one in (self.landscape, self.tiles)])

    @property
    def card(self) -> GpuCard:
        """The GPU whose limits count."""
        return self.choices.cards.card

    @property
    def problem(self) -> Problem:
        """What the cuts compute."""
        shown = self.lineup.shown
        return shown.problem if shown else self.choices.problem(self.knobs.head_dim.chosen)

    @property
    def shipped(self) -> Cut:
        """The cut that the kernel ships with for this problem; of a landscape, shipped with then."""
        shown = self.lineup.shown
        return shown.shipped if shown else shipped(self.choices.kernel, self.problem, self.card.target)

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""
        return designer_actions(self)

    def show_session(self, session: Session | None) -> None:
        """Offer the GPU of the session on show, and show its landscapes."""
        self._offer_cards()
        self.lineup.take_session(() if session is None else session.landscapes)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour what is painted by hand."""
        super().apply_theme(theme)
        for part in (self.knobs, self.picture, self.landscape, self.tiles):
            part.apply_theme(theme)

    def show_cut(self, cut: Cut) -> None:
        """Show another cut of the kernel."""
        self.knobs.show_cut(cut)
        self._show()

    def show_shipped(self) -> None:
        """Go back to what the kernel ships with for this problem."""
        if self.choices.on_cpu:
            self.tiles.choose(SHIPPED)
        else:
            self.show_cut(self.shipped)

    def time_cuts(self) -> None:
        """Time the cuts side by side; where the card is not the one in use, the tiles of flash2 in NumPy."""
        if not is_in_use(self.controller, self.card):
            self.choices.show_kernel("numpy")
        if self.choices.on_cpu:
            self.tiles.start()
        elif not self._why_not:
            self._design()
            maker = maker_of(self.grid, self.problem, self.shipped)
            self.tried.begin(maker)
            self.landscape.show_quantity(RUNTIME)
            self.controller.cuts.ask(maker.asked)

    def open_recorded(self) -> None:
        """Show the landscapes that come with the program, if this copy has them."""
        path = cuts_recording()
        if path is not None:
            self.file_chosen.emit(path)

    @property
    def _why_not(self) -> str:
        """Why no cut can be compiled or timed now; empty: one can."""
        return BEING_DONE if self.controller.cuts.asked else why_not_beside(self.controller)

    def compile_one(self) -> None:
        """Compile the cut on show, and the shipped one beside it."""
        wanted = dict.fromkeys((self.found.cut, self.shipped))
        self._ask([cut for cut in wanted if cut not in self._compiled])

    def compile_all(self) -> None:
        """Compile what nothing refuses of the cuts side by side."""
        self._ask(self._left)

    @property
    def _compiled(self) -> dict[Cut, CompiledCut]:
        """What the compiler made of the cuts of this problem for cards like this."""
        return self.tried.compiled(CutPlace(self.problem, self.card))

    @property
    def _left(self) -> list[Cut]:
        """Cuts side by side that could be compiled and were not."""
        cells = (cell for row in self.grid.cells for cell in row)
        return [cell.cut for cell in cells if not cell.refused and cell.compiled is None]

    def _ask(self, cuts: list[Cut]) -> None:
        if cuts and not self._why_not and not self.choices.on_cpu:
            self._done = 0
            capability = self.card.compute_capability
            self.controller.cuts.ask(
                CutsAsked(problem=self.problem, compute_capability=capability, cuts=tuple(cuts))
            )

    def _give_way(self) -> None:
        """Compile no more beside what it would disturb; what is compiled is kept."""
        if isinstance(self.controller.cuts.asked, CutsAsked) and why_not_beside(self.controller):
            self.controller.cuts.cancel()
        self._show_state()

    def _forget(self) -> None:
        """What was tried is not known of the device that is in use now."""
        self.tried.forget()
        self._show()

    def _take_compiled(self, asked: CutRequest, compiled: CompiledCut) -> None:
        self.tried.take_compiled(asked, compiled, self.card)
        self._done += 1
        self._show()

    def _take_timed(self, asked: CutsToTime, timed: CutTimes) -> None:
        if asked.backend == "cuda":
            self.tried.take_timed(asked.problem, timed)
            self._show()

    def _take_end(self, asked: CutRequest, ended: CutsEnded) -> None:
        if isinstance(asked, CutsToTime) and asked.backend == "cuda":
            landscape = self.tried.end(ended)
            if landscape is not None:
                self.lineup.take_recorded(landscape)

    def _take_events(self, events: Sequence[Event]) -> None:
        if any(isinstance(event, LandscapeReady) for event in events):
            self._take_kept()

    def _take_kept(self) -> None:
        session = self.controller.session
        self.lineup.take_kept(() if session is None else session.landscapes)

    def _take_progress(self, done: int, total: int) -> None:
        self._far = f"{done:,} of {total:,} steps: compiled, checked, timed …"
        self._show_state()

    def _offer_cards(self) -> None:
        session = self.controller.session
        recorded = session.machine.device("cuda") if session and session.machine else None
        before, shown = self.card, self.lineup.shown
        kept = shown.device if shown is not None else None
        self.choices.cards.offer(
            (*found_gpus(self.controller), ("of the session on show", recorded), ("recorded", kept))
        )
        if self.card != before and self._own:
            self._follow()

    def _take_kernel(self) -> None:
        """Show the cut of the other kernel that was chosen last, first the shipped one; or tiles of NumPy."""
        self.on_gpu.setVisible(not self.choices.on_cpu)
        self.tiles.setVisible(self.choices.on_cpu)
        if self.choices.on_cpu:
            self._show()
        else:
            self.show_cut(self._cuts.get(self.choices.kernel) or self.shipped)

    def _design(self) -> None:
        """Show what the boxes say, and no landscape any more."""
        self.lineup.show_one(None)

    def _show_landscape(self) -> None:
        """Show a landscape that was recorded, its boxes as it was timed; else what the boxes say."""
        shown = self.lineup.shown
        self.tiles.show_landscape(shown if shown is not None and shown.kernel == "numpy" else None)
        if shown is None:
            self._take_kernel()
            return
        self._offer_cards()
        if card := shown_card(shown.device):
            self.choices.cards.choose(card)
        self.choices.show_landscape(shown.kernel, shown.problem)
        if not self.choices.on_cpu:
            self.knobs.head_dim.choose(shown.problem.head_dim)
            self._cuts[shown.kernel] = shown.shipped
            self.landscape.take_kernel(shown.shipped)
            self.landscape.show_rows(shown.rows)
            compared = self.lineup.compared
            alike = compared is not None and compared.kernel == shown.kernel
            self.landscape.show_quantity(RATIO if alike else RUNTIME)
        self._take_kernel()

    def _follow(self) -> None:
        """Show what was chosen; the shipped cut becomes that of another problem or card."""
        shown = self.lineup.shown
        if shown is not None and self.knobs.head_dim.chosen != shown.problem.head_dim:
            self.lineup.show_one(None)
        elif not self.choices.on_cpu and self.knobs.cut == self._own:
            self.show_shipped()
        else:
            self._show()

    def _show(self) -> None:
        """Work out all that is on show; it takes milliseconds."""
        if self.choices.on_cpu:
            self.tiles.show_problem(self.choices.cpu_problem)
            self.staging.changed.emit()
            return
        problem, card, cut, own = self.problem, self.card, self.knobs.cut, self.shipped
        known = self._known
        self._cuts[cut.kernel], self._own = cut, own
        self.found = cell_of(cut, problem, card, known)
        beside = cell_of(own, problem, card, known)
        self.landscape.take_kernel(cut)
        self.grid = cut_grid(cut, self.landscape.knob, problem, card, known)
        told = f"{problem_line(problem)} on {card.name}"
        self.landscape.show_grid(self.grid, cut, own, f"{cut.kernel}: {told}", self.lineup.shown)
        self.knobs.mark(lambda name, value: bool(refusals(replace(cut, **{name: value}), problem, card)), own)
        self.picture.show_bars(sm_bars(self.found.found, card))
        self.table.show_rows(rows(self.found.found, beside.found, card, self.found.compiled, beside.compiled))
        self._say()
        self._show_state()
        self.staging.changed.emit()

    def _say(self) -> None:
        found, cell = self.found.found, self.found
        mark = "×" if cell.refused else "✓"
        self.sentence.setText(f"{mark} {cut_sentence(found, self.card, cell.compiled)}")
        self.others.setText("\n".join(reasons(found).splitlines()[1:]))
        self.others.setVisible(len(found.refused) > 1)
        self.cut_card.set_title(f"{found.cut.kernel}: {tile_words(found.cut)}")
        self.knobs.setAccessibleName(f"{found.cut.kernel}: {cut_words(found.cut)}")
        self.sm_card.set_unit(self.card.name)

    def _show_state(self) -> None:
        asked = self.controller.cuts.asked
        if asked is None:
            self._far = ""
        elif isinstance(asked, CutsAsked):
            self._far = f"Compiled {self._done} of {len(asked.cuts)} …"
        self._far = self._far or ("Each is checked first …" if asked else "")
        self.bar.show_work("time" if isinstance(asked, CutsToTime) else "compile")
        wanted = {self.found.cut, self.shipped} - self._known.compiled.keys()
        told = verdict(self._known.times, self.shipped)
        if self.found.compiled:
            told = f"{told} {compiled_words(self.found.compiled)}"
        time = is_in_use(self.controller, self.card)
        self.bar.show_state(self._far, one=bool(wanted), every=bool(self._left), time=time, told=told.strip())
        self.bar.block(why_not_beside(self.controller))

    @property
    def _known(self) -> Known:
        """What is known of cuts: what a landscape on show says, or what was tried here."""
        shown = self.lineup.shown
        if shown is not None:
            return known_beside(shown, self.lineup.compared, self._compiled)
        return self.tried.known(CutPlace(self.problem, self.card), here=is_in_use(self.controller, self.card))
