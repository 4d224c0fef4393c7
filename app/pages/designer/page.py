"""The Designer page: a cut of flash2 or flash3 against the limits of a card, and the cuts around it."""

from collections.abc import Callable, Mapping

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.control.controller import Controller
from flashscope.app.figures.cut_grid import CutCell, CutGrid, Known, cell_of, cut_grid
from flashscope.app.figures.cut_times import RoundTimes, verdict
from flashscope.app.figures.sm_bars import sm_bars
from flashscope.app.figures.tile_grid import SHIPPED
from flashscope.app.look.theme import Theme
from flashscope.app.pages.base import Page
from flashscope.app.pages.designer.beside import why_not_compiled, why_not_timed
from flashscope.app.pages.designer.choices import DesignChoices
from flashscope.app.pages.designer.compare_table import CutTable
from flashscope.app.pages.designer.compile_bar import CompileBar
from flashscope.app.pages.designer.knobs import Knobs
from flashscope.app.pages.designer.landscape_card import LandscapeCard
from flashscope.app.pages.designer.staging import DesignerStaging
from flashscope.app.pages.designer.tiles_view import TilesView
from flashscope.app.plots.designer.sm_picture import SmPicture
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.cuts import compiled_words, cut_sentence, cut_words, problem_line, reasons, rows
from flashscope.app.words.provenance import Provenance, of_machine
from flashscope.kernels.cuda.design.cut import shipped
from flashscope.kernels.cuda.design.refusals import refusals
from flashscope.kernels.cuda.reading.cards import GpuCard, card_of
from flashscope.kernels.workload.cut import CompiledCut, Cut, CutKernel
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.cuts import CutsAsked, CutsToTime, CutTimes

MODELLED = "model"
BEING_DONE = "Cuts are being compiled or timed; stop that first."
Build = tuple[Problem, tuple[int, int]]  # what compiled cuts are of: a problem, and a compute capability


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
        self._built: dict[Build, dict[Cut, CompiledCut]] = {}
        self._times: dict[Problem, dict[Cut, RoundTimes]] = {}
        self._own: Cut | None = None  # the shipped cut when it was shown last
        self._far = ""
        self._done = 0
        self.found: CutCell
        self.grid: CutGrid[CutCell]
        self.staging = DesignerStaging(controller, self._provenance)
        self._lay_out()
        self._connect()
        self._offer_cards()
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
        cards = (self.cut_card, self.sm_card, self.table_card)
        column = QVBoxLayout(self.on_gpu)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for part in (self.sentence, self.others, Lines(cards, cards, 8), self.bar):
            column.addWidget(part)
        column.addWidget(self.landscape, 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(12, 8, 12, 10)
        outer.setSpacing(8)
        outer.addWidget(self.choices)
        for view in (self.on_gpu, self.tiles):
            outer.addWidget(view, 1)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sentence.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def _connect(self) -> None:
        controller, cuts = self.controller, self.controller.cuts
        self.choices.changed.connect(self._follow)
        self.choices.kernel_changed.connect(self._take_kernel)
        self.knobs.changed.connect(self._follow)
        self.landscape.changed.connect(self._show)
        self.landscape.plot.picked.connect(self.show_cut)
        self.bar.one_asked.connect(self.compile_one)
        self.bar.all_asked.connect(self.compile_all)
        self.bar.time_asked.connect(self.time_cuts)
        self.bar.stopped.connect(cuts.cancel)
        cuts.timed.connect(self._take_timed)
        cuts.progressed.connect(self._take_progress)
        controller.running_changed.connect(lambda _running: self._give_way())
        controller.occupied_changed.connect(lambda _reason: self._give_way())
        controller.live.changed.connect(self._show_state)
        for asked in (controller.timelines, controller.stalls):
            asked.changed.connect(self._give_way)
        self.bar.shipped_asked.connect(self.show_shipped)
        cuts.compiled.connect(self._take_compiled)
        cuts.changed.connect(self._show_state)
        controller.machine_found.connect(lambda _machine: self._offer_cards())
        self.let_export([one.export_button.exporter for one in (self.landscape, self.tiles)])

    @property
    def card(self) -> GpuCard:
        """The GPU whose limits count."""
        return self.choices.cards.card

    def _provenance(self) -> Provenance:
        """A model of the card, but where what this machine measured is on show."""
        if not self.choices.on_cpu and not self.landscape.measured:
            return Provenance("model", "cuda", self.card.name)
        backend: Backend = "cpu" if self.choices.on_cpu else "cuda"
        of = "tiles of flash2" if self.choices.on_cpu else f"cuts of {self.choices.kernel}"
        return replace(of_machine(self.controller.machine, backend), of=of)

    @property
    def problem(self) -> Problem:
        """What the cuts compute."""
        return self.choices.problem(self.knobs.head_dim.chosen)

    @property
    def shipped(self) -> Cut:
        """The cut that the kernel ships with for this problem."""
        return shipped(self.choices.kernel, self.problem, self.card.target)

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""

        def act(key: str, title: str, do: Callable[[], None], keys: str) -> Action:
            return Action(f"designer.{key}", title, do, "Designer", keys)

        def turn(name: str, by: int) -> Callable[[], None]:
            return lambda: (self.tiles if self.choices.on_cpu else self.knobs).turn(name, by)

        return [
            *self.bar.actions_offered,
            act("kernel", "Design the next kernel", self.choices.next_kernel, "K"),
            act("time", "Time all cuts that fit on this machine", self.time_cuts, "T"),
            act("more-keys", "Take more keys a tile", turn("block_k", 1), "Right"),
            act("fewer-keys", "Take fewer keys a tile", turn("block_k", -1), "Left"),
            act("more-rows", "Take more rows a tile", turn("groups", 1), "Down"),
            act("fewer-rows", "Take fewer rows a tile", turn("groups", -1), "Up"),
            act("colours", "Colour the cuts by the next quantity", self.landscape.next_colours, "Q"),
        ]

    def show_session(self, session: Session | None) -> None:
        """Offer the GPU of the session on show."""
        del session
        self._offer_cards()

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
        """Time the cuts side by side; where the card is not this machine's, the tiles of flash2 in NumPy."""
        if not self._is_here:
            self.choices.show_kernel("numpy")
        if self.choices.on_cpu:
            self.tiles.start()
        elif not self._why_not_timed:
            own, problem = self.shipped, self.problem
            cells = (cell for row in self.grid.cells for cell in row)
            cuts = dict.fromkeys((*(cell.cut for cell in cells if not cell.refused), own))
            self._times.pop(problem, None)
            self.controller.cuts.ask(
                CutsToTime(problem=problem, backend="cuda", cuts=tuple(cuts), shipped=own)
            )

    @property
    def _is_here(self) -> bool:
        """Whether the card that is chosen is this machine's."""
        machine = self.controller.machine
        device = machine.device("cuda") if machine else None
        return device is not None and card_of(device) == self.card

    @property
    def _why_not_timed(self) -> str:
        """Why no cut can be timed now; empty: one can."""
        return BEING_DONE if self.controller.cuts.asked else why_not_timed(self.controller)

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
        return self._built.setdefault((self.problem, self.card.compute_capability), {})

    @property
    def _left(self) -> list[Cut]:
        """Cuts side by side that could be compiled and were not."""
        cells = (cell for row in self.grid.cells for cell in row)
        return [cell.cut for cell in cells if not cell.refused and cell.compiled is None]

    def _ask(self, cuts: list[Cut]) -> None:
        why = BEING_DONE if self.controller.cuts.asked else why_not_compiled(self.controller)
        if cuts and not why and not self.choices.on_cpu:
            self._done = 0
            capability = self.card.compute_capability
            self.controller.cuts.ask(
                CutsAsked(problem=self.problem, compute_capability=capability, cuts=tuple(cuts))
            )

    def _give_way(self) -> None:
        """Compile no more beside what it would disturb; what is compiled is kept."""
        if isinstance(self.controller.cuts.asked, CutsAsked) and why_not_compiled(self.controller):
            self.controller.cuts.cancel()
        self._show_state()

    def _take_compiled(self, asked: CutsAsked, compiled: CompiledCut) -> None:
        of = asked.problem, asked.compute_capability
        self._built.setdefault(of, {})[compiled.cut] = compiled
        self._done += 1
        self._show()

    def _take_timed(self, asked: CutsToTime, timed: CutTimes) -> None:
        if asked.backend == "cuda":
            of = self._times.setdefault(asked.problem, {})
            of[timed.cut] = of.get(timed.cut, RoundTimes()).with_one(timed)
            self._show()

    def _take_progress(self, done: int, total: int) -> None:
        self._far = f"Timed {done:,} of {total:,} runs …"
        self._show_state()

    def _offer_cards(self) -> None:
        machine, session = self.controller.machine, self.controller.session
        here = machine.device("cuda") if machine else None
        recorded = session.machine.device("cuda") if session and session.machine else None
        before = self.card
        self.choices.cards.offer((("this machine", here), ("of the session on show", recorded)))
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

    def _follow(self) -> None:
        """Show what was chosen; the shipped cut becomes that of another problem or card."""
        if not self.choices.on_cpu and self.knobs.cut == self._own:
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
        known = Known(self._compiled, self._times_here)
        self._cuts[cut.kernel], self._own = cut, own
        self.found = cell_of(cut, problem, card, known)
        beside = cell_of(own, problem, card, known)
        self.landscape.take_kernel(cut)
        self.grid = cut_grid(cut, self.landscape.knob, problem, card, known)
        told = f"{problem_line(problem)} on {card.name}"
        self.landscape.show_grid(self.grid, cut, own, f"{cut.kernel}: {told}")
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
        self.cut_card.set_title(f"{found.cut.kernel}: {found.cut.block_q} × {found.cut.block_k}")
        self.knobs.setAccessibleName(f"{found.cut.kernel}: {cut_words(found.cut)}")
        self.sm_card.set_unit(self.card.name)

    def _show_state(self) -> None:
        asked = self.controller.cuts.asked
        if asked is None:
            self._far = ""
        elif isinstance(asked, CutsAsked):
            self._far = f"Compiled {self._done} of {len(asked.cuts)} …"
        self._far = self._far or ("Each is checked first …" if asked else "")
        wanted = {self.found.cut, self.shipped} - self._compiled.keys()
        told = verdict(self._times_here, self.shipped)
        if self.found.compiled:
            told = f"{told} {compiled_words(self.found.compiled)}".lstrip()
        self.bar.show_state(
            self._far, one=bool(wanted), every=bool(self._left), time=self._is_here, told=told
        )
        self.bar.block(why_not_compiled(self.controller), why_not_timed(self.controller))

    @property
    def _times_here(self) -> Mapping[Cut, RoundTimes]:
        """How long cuts of this problem took, where the card is this machine's."""
        return self._times.get(self.problem, {}) if self._is_here else {}
