"""What is over the two columns: the GPU, the kernel of the build, the order, what it takes, the legend."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.look.kind_colours import kind_colours
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.ladder.sass.job import BuildAsked, ShownBuild
from flashscope.app.pages.ladder.source_diff import PROBLEMS
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import FormulaLabel, PlainLabel, set_tip
from flashscope.app.widgets.segments import Segments
from flashscope.app.words.inside.sass import build_text, occupancy_text, takes_text
from flashscope.kernels.cuda.reading.cards import CARDS, GpuCard, card_of
from flashscope.kernels.cuda.sass.kinds import KINDS
from flashscope.profiles.plan.machine import Machine

ORDERS = (
    ("line", "By line", "Under each line of the source its instructions"),
    ("address", "By address", "In the order in which they lie in memory"),
)
LEGEND_PX = 380  # where there is less beside the boxes it has a line of its own


class SassHead(QWidget):
    """Chooses what is compiled for, and says what came of it.

    Signals:
        changed: Another GPU is chosen.
        ordered: Another kernel of the build, or another order.
    """

    changed = Signal()
    ordered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.cards, self.entries = DropDown(), DropDown()
        self.order = Segments("Order of the instructions", ORDERS)
        self.legend, self.takes = FormulaLabel(), PlainLabel(wordWrap=True)
        self.cards.setAccessibleName("GPU that it is compiled for")
        self.entries.setAccessibleName("Kernel of the build")
        self.legend.setAccessibleName("Kinds of instructions, and how many of each")
        self.takes.setAccessibleName("What the build takes")
        self.legend.setProperty("role", "unit")
        self.legend.setWordWrap(True)
        keep(self.legend, self.legend.setMinimumWidth, LEGEND_PX)
        set_tip(self.cards, "The GPU that it is compiled for; it need not be there")
        set_tip(self.legend, "\n".join(f"{kind.title}: {kind.about}" for kind in KINDS))
        self.order.choose_quietly("line")
        self._offer(CARDS)
        self.entries.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(Lines((self.cards, self.entries, self.order, self.legend), (self.legend,), 8))
        column.addWidget(self.takes)
        self.cards.currentIndexChanged.connect(lambda _place: self.changed.emit())
        self.entries.currentIndexChanged.connect(lambda _place: self.ordered.emit())
        self.order.chosen.connect(lambda _key: self.ordered.emit())

    @property
    def card(self) -> GpuCard:
        """The chosen GPU."""
        found: GpuCard = self.cards.currentData()
        return found

    @property
    def entry(self) -> int:
        """The chosen kernel of the build."""
        return max(0, self.entries.currentIndex())

    def show_machine(self, machine: Machine | None) -> None:
        """Offer the GPU of this machine first, and choose it."""
        gpu = machine.device("cuda") if machine is not None else None
        here = None if gpu is None else card_of(gpu)
        if here is None:
            return
        before = self.card
        self._offer((here, *(card for card in CARDS if card.name != here.name)))
        if here != before:
            self.changed.emit()

    def _offer(self, cards: Sequence[GpuCard]) -> None:
        with QSignalBlocker(self.cards):
            self.cards.clear()
            for card in cards:
                self.cards.addItem(f"{card.name} ({card.target.arch})", card)

    def show_build(self, asked: BuildAsked, shown: ShownBuild) -> None:
        """Offer the kernels of a build, the one with most instructions chosen."""
        kernels = shown.listing.kernels
        names = [one.entry for one in kernels]
        if names != [self.entries.itemText(at) for at in range(self.entries.count())]:
            with QSignalBlocker(self.entries):
                self.entries.clear()
                self.entries.addItems(names)
                self.entries.setCurrentIndex(_longest(shown))
        self.entries.setHidden(len(names) == 1)
        told = build_text(shown.listing, asked.card.name, PROBLEMS[asked.label])
        kernel = kernels[self.entry]
        self.takes.setText(f"{takes_text(kernel)} {occupancy_text(kernel, asked.card)} {told}")

    def show_none(self) -> None:
        """Say nothing: there is no build."""
        self.entries.hide()
        self.takes.setText("")
        self.legend.setText("")

    def show_legend(self, theme: Theme, counts: Mapping[int, int]) -> None:
        """Name the kinds that there are, with their numbers."""
        colours = kind_colours(theme)
        there = ((at, f"{kind.title} {counts[at]:,}") for at, kind in enumerate(KINDS) if counts.get(at))
        marks = (
            f'<span style="color:{colours[at]}">■</span>&nbsp;{told.replace(" ", "&nbsp;")}'
            for at, told in there
        )
        self.legend.setText("&nbsp; ".join(marks))


def _longest(shown: ShownBuild) -> int:
    sizes = [len(one.instructions) for one in shown.listing.kernels]
    return sizes.index(max(sizes))
