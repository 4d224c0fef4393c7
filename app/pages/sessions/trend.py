"""The sessions over time: how one quantity of a kernel developed, on each machine."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from flashscope.app.control.chores import Chores
from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.pages.sessions.trend_card import Trend, TrendCard
from flashscope.app.pages.sessions.trend_runs import joined
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel, button_text
from flashscope.app.widgets.term_label import TermLabel, tell_terms
from flashscope.app.widgets.wheel import ChoiceBox
from flashscope.app.words.units import seqlen_text
from flashscope.profiles.results.findings.trend import Entry, Kind, entries_by_curve
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.store import SessionInfo
from flashscope.profiles.store.collection import entries, holding

NOTHING = "No session on show has a figure of this kernel at this N."
READING = "Reading {} sessions …"
PROBLEM_PX = 280  # that the box of problems insists on: more, beside its name at 250 %, does not fit 1280


class SessionsTrend(QWidget):
    """A plot over dates, and what is chosen to be drawn.

    Attributes:
        card: The plot.

    Signals:
        entry_chosen: A session's point was clicked (Entry).
        drawn: Other curves are on show.
    """

    entry_chosen = Signal(object)
    drawn = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._infos: Sequence[SessionInfo] = ()
        self._asked: object = None
        self._shown = False
        self._several = False  # whether a point stands for several runs
        self._chores = Chores(self)
        self.card = TrendCard(theme)
        self.card.plot.entry_chosen.connect(self.entry_chosen)
        self.words = PlainLabel(wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.words.setProperty("role", "dim")
        self.kernel, self.seqlen, self.quantity = ChoiceBox(), ChoiceBox(), ChoiceBox()
        self.problem = ChoiceBox()
        self.problem.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.problem.widest = PROBLEM_PX
        self.problem.setAccessibleName("Problem over time")
        self.problem.currentIndexChanged.connect(self._draw)
        self._curves: dict[Kind, list[Entry]] = {}
        names = {"Kernel": self.kernel, "N": self.seqlen, "Quantity": self.quantity}
        for quantity in QUANTITIES.values():
            self.quantity.addItem(quantity.title, quantity.key)
        tell_terms(self.quantity)
        parts: list[QWidget] = []
        for name, choice in names.items():
            choice.setAccessibleName(f"{name} over time")
            choice.currentIndexChanged.connect(self._read)
            parts.append(_called(name, choice))
        line = Lines((*parts, _called("Problem", self.problem)), (), 8)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(line)
        column.addWidget(self.words)
        column.addWidget(self.card, 1)

    @guarded(bool)
    def hasHeightForWidth(self) -> bool:
        """No: its words would make the whole page as high as its plot would like to be."""
        return False

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Draw what was to be shown while another place was in front."""
        super().showEvent(event)
        if not self._shown:
            self._shown = True
            self._read()

    def show_infos(self, infos: Sequence[SessionInfo]) -> None:
        """Draw these sessions."""
        readable = [info for info in infos if not info.error]
        if readable == self._infos and self._shown:
            return
        self._infos, self._shown = readable, self.isVisible()
        kernels = dict.fromkeys(kernel for info in self._infos for kernel in info.kernels)
        held = Counter(seqlen for info in self._infos for seqlen in info.seqlens)
        often = max(held, key=lambda seqlen: (held[seqlen], seqlen), default=0)
        _offer(self.kernel, {kernel: button_text(kernel) for kernel in kernels}, "flash2")
        _offer(self.seqlen, {seqlen: seqlen_text(seqlen) for seqlen in sorted(held)}, often)
        self._read()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.card.apply_theme(theme)

    def wait(self) -> None:
        """Return when nothing is being read; to be called before this goes."""
        self._asked = None
        self._chores.wait()

    def _read(self) -> None:
        kernel, seqlen = self.kernel.currentData(), self.seqlen.currentData()
        if not self.isVisible() or kernel is None or seqlen is None:
            return
        quantity = QUANTITIES[self.quantity.currentData()]
        asked = self._asked = object()
        held = holding(self._infos, kernel, seqlen)
        self._tell(READING.format(len(held)))
        read = partial(self._entries, asked, held, kernel, seqlen, quantity)
        self._chores.do_instead(read, partial(self._take, asked))

    def _entries(
        self, asked: object, held: Sequence[SessionInfo], kernel: str, seqlen: int, quantity: Quantity
    ) -> list[Entry]:
        """On another thread: what the sessions say, as far as it is still asked for."""
        found: list[Entry] = []
        for one in entries(held, kernel, seqlen, quantity):
            if asked is not self._asked:
                break
            if isinstance(one, Entry):
                found.append(one)
        return found

    def _take(self, asked: object, found: list[Entry]) -> None:
        if asked is not self._asked:
            return
        infos = {str(info.path): info for info in self._infos}
        drawn = joined([entry for entry in found if entry.figure is not None], infos)
        self._several = len(drawn) < sum(entry.figure is not None for entry in found)
        self._tell("" if drawn else NOTHING)
        self._curves = entries_by_curve(drawn)
        often = Counter(entry.kind.problem for entry in drawn).most_common()
        _offer(self.problem, {problem: button_text(problem) for problem, _ in often}, often and often[0][0])
        self._draw()

    def _draw(self) -> None:
        """Draw the curves of the chosen problem, one for each machine."""
        problem, quantity = self.problem.currentData(), QUANTITIES[self.quantity.currentData()]
        shown = {kind: entries for kind, entries in self._curves.items() if kind.problem == problem}
        backends = {str(info.path): info.backend for info in self._infos}
        kernel, seqlen = self.kernel.currentData(), self.seqlen.currentData()
        self.card.draw(Trend(shown, quantity, kernel, seqlen, self._several, backends))
        self.drawn.emit()

    def _tell(self, text: str) -> None:
        self.words.setText(text)
        self.words.setVisible(bool(text))


def _called(name: str, choice: QComboBox) -> QWidget:
    """A box behind its name, which stay together."""
    both = QWidget()
    row = QHBoxLayout(both)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    row.addWidget(TermLabel(name))
    row.addWidget(choice)
    return both


def _offer(choice: QComboBox, offered: Mapping[Any, str], first: object) -> None:
    """Let one of these be chosen; what is chosen already stays so."""
    kept = choice.currentData()
    choice.blockSignals(True)
    choice.clear()
    for value, text in offered.items():
        choice.addItem(text, value)
    tell_terms(choice)
    wanted = kept if kept in offered else first
    choice.setCurrentIndex(max(0, choice.findData(wanted)))
    choice.blockSignals(False)
