"""What is over the code of stalls: which profile, in which order, sampling one here, and what it says."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from flashscope.app.control.inside.stalls import Stalls
from flashscope.app.figures.stall_bars import OTHERS, PARTS, parts_of
from flashscope.app.look.stall_colours import stall_colours
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.ladder.stalls.changes_table import NAME as WHERE
from flashscope.app.pages.ladder.stalls.changes_table import TIP as WHERE_TIP
from flashscope.app.pages.ladder.stalls.reading import ReadProfile
from flashscope.app.pages.ladder.stalls.shelf import Shelved, names_of
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import FormulaLabel, PlainLabel, set_tip
from flashscope.app.widgets.segments import Segments
from flashscope.app.words.inside.stall_reasons import reason_line, reason_title
from flashscope.app.words.inside.stalls import sentence, taken_text
from flashscope.app.words.units import share_text

ORDERS = (
    ("line", "By line", "Under each line of the source its instructions"),
    ("address", "By address", "In the order in which they lie in memory"),
    ("samples", "Most first", "The instructions with most samples first"),
)
VIEWS = (("code", "Code", "Samples beside lines and instructions"), ("changes", WHERE, WHERE_TIP))
SAMPLE, GIVE_UP, KEEP = "ladder.sample", "ladder.give-up", "ladder.keep"
SAMPLE_WORDS = "Sample the stalls of the kernel and of the step before on this machine's GPU"
KEEP_WORDS = "Keep in the session on show"
STEPS = ("compiling with lines", "launching under ncu", "sampling", "reading the samples")
IDLE = "While nothing issued: samples in cycles in which no warp of that quarter of the SM did."
LEGEND_PX, BAR_PX = 380, 90


class StallsHead(QWidget):
    """Chooses a profile, and says what it tells.

    Signals:
        chosen: Another profile is chosen.
        ordered: Another order, or the other view.
        asked: Sample one here.
        kept: Keep the one on show.

    Args:
        stalls: What is sampled; it can be given up here.
    """

    chosen = Signal()
    ordered = Signal()
    asked = Signal()
    kept = Signal()

    def __init__(self, stalls: Stalls) -> None:
        super().__init__()
        self.profiles = DropDown()
        self.profiles.setAccessibleName("Stall profile on show")
        self.order, self.view = (
            Segments("Order of the instructions", ORDERS),
            Segments("View of stalls", VIEWS),
        )
        self.order.choose_quietly("line")
        self.view.choose_quietly("code")
        self.sample = does(text_button("Sample here", SAMPLE_WORDS, self.asked.emit), SAMPLE)
        self.cancel = does(text_button("Cancel", "Stop sampling", stalls.give_up), GIVE_UP)
        self.keep = does(text_button("Keep", KEEP_WORDS, self.kept.emit), KEEP)
        self.progress, self.bar = PlainLabel(), QProgressBar(textVisible=False, minimum=0, maximum=len(STEPS))
        self.bar.setAccessibleName("Steps of sampling that are done")
        keep(self.bar, self.bar.setFixedWidth, BAR_PX)
        self.words, self.taken = PlainLabel(wordWrap=True), PlainLabel(wordWrap=True)
        self.words.setProperty("role", "title")
        self.words.setAccessibleName("What the samples say")
        self.taken.setProperty("role", "dim")
        self.taken.setAccessibleName("How the samples were taken")
        self.legend = FormulaLabel()
        self.legend.setProperty("role", "unit")
        self.legend.setWordWrap(True)
        self.legend.setAccessibleName("Reasons, and their shares of the samples")
        keep(self.legend, self.legend.setMinimumWidth, LEGEND_PX)
        tools = (self.sample, self.progress, self.bar, self.cancel, self.keep)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(Lines((self.profiles, self.view, self.order, *tools), (), 8))
        for part in (self.words, self.taken, self.legend):
            column.addWidget(part)
        self.profiles.currentIndexChanged.connect(lambda _place: self.chosen.emit())
        for segments in (self.order, self.view):
            segments.chosen.connect(lambda _key: self.ordered.emit())
        self.show_asked("", 0, asked=False)

    @property
    def place(self) -> int:
        """Which of the profiles on offer is chosen; -1: none is there."""
        return self.profiles.currentIndex()

    def offer(self, there: Sequence[Shelved], place: int) -> None:
        """Offer these, one of them chosen; nobody is told."""
        with QSignalBlocker(self.profiles):
            self.profiles.clear()
            self.profiles.addItems(names_of(there))
            self.profiles.setCurrentIndex(place)
        self.profiles.setVisible(bool(there))

    def show_asked(self, kernel: str, done: int, *, asked: bool) -> None:
        """Show how far sampling is in place of the button; the other way round where nothing is sampled."""
        self.sample.setVisible(not asked)
        for part in (self.progress, self.bar, self.cancel):
            part.setVisible(asked)
        if asked:
            self.progress.setText(f"{kernel}: {STEPS[min(done, len(STEPS) - 1)]} …")
            self.bar.setValue(done)

    def block(self, reason: str) -> None:
        """Let nothing be sampled, for this reason; empty: let it again."""
        self.sample.setEnabled(not reason)
        set_tip(self.sample, reason or SAMPLE_WORDS)

    def offer_keeping(self, why_not: str, *, fresh: bool) -> None:
        """Offer to keep what is in no session."""
        self.keep.setVisible(fresh)
        self.keep.setEnabled(not why_not)
        set_tip(self.keep, why_not or f"{KEEP_WORDS}: it is gone with the window otherwise")

    def show_read(self, read: ReadProfile | None, theme: Theme) -> None:
        """Say what a profile tells; None: there is none."""
        there = read is not None
        for part in (self.words, self.taken, self.legend, self.view, self.order):
            part.setVisible(there)
        if read is not None:
            self.words.setText(sentence(read.profile, read.facts, read.text))
            self.taken.setText(taken_text(read.profile, read.facts))
            self.show_legend(read, theme)
            self.view.buttons["changes"].setEnabled(bool(read.changes))
            if not read.changes:
                self.view.choose_quietly("code")

    def show_legend(self, read: ReadProfile, theme: Theme) -> None:
        """Name the parts of the bars, with their shares; their meanings are in the tip."""
        colours, total = stall_colours(theme), max(1, read.facts.total)
        parts = parts_of(read.facts.reasons)
        names = [*map(reason_title, PARTS), "other reasons"]
        marks = [
            f'<span style="color:{colours[at]}">■</span>&nbsp;'
            + f"{names[at]} {share_text(parts[at] / total)}".replace(" ", "&nbsp;")
            for at in range(OTHERS + 1)
            if parts[at]
        ]
        self.legend.setText("&nbsp; ".join([*marks, f"· {share_text(read.facts.idle)} while nothing issued"]))
        told = (f"{reason_title(one)}: {reason_line(one)}" for one in read.facts.reasons)
        set_tip(self.legend, "\n".join([IDLE, *told]))
