"""All parts that show a comparison, drawn in turns; a pair chosen in one is chosen in all."""

from collections.abc import Iterator

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from flashscope.app.control.chores import Chores
from flashscope.app.control.guard import guarded
from flashscope.app.figures.strands import NO_PLACE
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.compare.detail import PairDetail
from flashscope.app.pages.compare.findings import Findings
from flashscope.app.pages.compare.head import CompareHead
from flashscope.app.pages.compare.legend import KernelLegend
from flashscope.app.pages.compare.plot_cards import CurvesCard, RatioCard
from flashscope.app.pages.compare.tables import AUDITS, PAIRS, Tables
from flashscope.app.widgets.paint_turns import PaintTurns
from flashscope.app.widgets.split import Split
from flashscope.profiles.results.model.curves import Curve

BESIDE_PX = 820  # from which two cards stand beside each other
SPACING = 8
HEIGHTS = (290, 250)  # of plots and tables to begin with


class CompareBoard(QWidget):
    """Shows findings.

    Attributes:
        findings: What is on show, None before the first.
        place: The pair chosen, -1 without one.
        legend: The kernels of both plots.
        below: What stands under the plots.
        current: The session whose circumstances and map are on show, from 1.

    Signals:
        current_changed: Another session is the current one (int).
    """

    current_changed = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.findings: Findings | None = None
        self.place, self.current = NO_PLACE, 1
        self._curve: Curve | None = None
        self._past: list[Findings] = []  # shown before
        self._chores = Chores(self)
        self._hidden: set[str] = set()
        self._view_chosen = False  # by hand: then it stays
        self._over_n = False  # as on a stage
        self.head, self.ratios, self.curves = CompareHead(theme), RatioCard(theme), CurvesCard(theme)
        self.legend = KernelLegend(theme)
        self.tables, self.detail = Tables(theme), PairDetail(theme)
        self._rows = [_row((self.ratios, 5), (self.curves, 4)), _row((self.tables, 9), (self.detail, 4))]
        self._lay_out()
        self._connect()
        self._turns = PaintTurns(
            self,
            {
                self.head: self._draw_head,
                self.legend: self._draw_legend,
                self.ratios: self._draw_ratios,
                self.curves: self._draw_curves,
                self.tables: self._draw_tables,
                self.detail: self._draw_detail,
            },
        )

    def _lay_out(self) -> None:
        boxes = []
        for layout, margins in zip(self._rows, ((0, 0, 0, 5), (0, 5, 0, 0)), strict=True):
            layout.setContentsMargins(*margins)
            box = QWidget()
            box.setLayout(layout)
            boxes.append(box)
        above, self.below = boxes
        self._split = Split(above, self.below, HEIGHTS)
        self._split.handle(1).setAccessibleName("Height of the tables")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACING)
        column.addWidget(self.head)
        column.addWidget(self.legend)
        column.addWidget(self._split, 1)

    def _connect(self) -> None:
        for part in (self.ratios, self.curves):
            part.picked.connect(self._choose_in_plot)
        self.tables.picked.connect(self.choose)
        self.tables.shown.connect(lambda place: self.detail.setVisible(place != AUDITS))
        self.head.picked.connect(self.show_current)
        self.ratios.view_chosen.connect(self.turn_view)
        self.legend.toggled.connect(self._toggle)
        self.curves.curve_chosen.connect(self._choose_curve)

    @guarded(bool)
    def hasHeightForWidth(self) -> bool:
        """No: what wraps in it scrolls, or is as high as it is."""
        return False

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """As narrow as one card: they go under each other where there is no room."""
        return QSize(px(280), super().minimumSizeHint().height())

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put cards beside or under each other."""
        super().resizeEvent(event)
        beside = self.width() >= px(BESIDE_PX)
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        for row in self._rows:
            if direction != row.direction():
                row.setDirection(direction)

    def show_words(self, text: str) -> None:
        """Say what is being done, in place of the verdicts."""
        self.head.show_words(text)

    def show_findings(self, findings: Findings) -> None:
        """Show another comparison; a pair that is in it too stays chosen, else the largest change is."""
        kept = self._kept(findings)
        if self.findings is not None:
            self._past.append(self.findings)
        self.findings = findings
        if self._curve not in findings.sheets:
            self._curve = next(iter(findings.sheets))
            self._hidden.clear()
        self._choose_view(findings)
        self.place = findings.telling if kept == NO_PLACE else kept
        self.current = min(self.current, len(findings.comparison.contrasts))
        if self.place != NO_PLACE:
            self.current, self._curve = findings.pairs[self.place][0], findings.curve_at(self.place)
        self.current_changed.emit(self.current)
        self._turns.start()

    def show_current(self, number: int) -> None:
        """Show what differs around another session, its map, and of the point chosen its pair there."""
        if self.findings is not None and 0 < number < len(self.findings.members):
            self._turn_to(number)
            self.choose(self.findings.twin(self.place, number))

    def choose(self, place: int) -> None:
        """Show a pair on every card."""
        if self.findings is None or not 0 <= place < len(self.findings.pairs):
            return
        self.place = place
        number, curve = self.findings.pairs[place][0], self.findings.curve_at(place)
        if number != self.current:
            self._turn_to(number)
        if curve != self._curve:
            self._choose_curve(curve)
        self.ratios.show_place(place)
        self.curves.plot.show_place(place)
        self.tables.pairs.show_number(place)
        self.detail.show_pair(self.findings, place)

    def _choose_in_plot(self, place: int) -> None:
        """Show a pair that was picked in a plot; the audits, which hide its samples, make way."""
        if self.tables.shows(AUDITS):
            self.tables.show_tab(PAIRS)
        self.choose(place)

    def step(self, by: int) -> None:
        """Choose the next pair of the table, or the one before."""
        self.tables.show_tab(PAIRS)
        self.tables.pairs.step(by)

    def turn_view(self) -> None:
        """Lines over N instead of the heat map, and back."""
        self._view_chosen = True
        self.ratios.show_view("lines" if self.ratios.view == "map" else "map")
        self._turns.start([self.ratios])

    def show_over_n(self, alone: bool) -> None:
        """Show lines over N whatever there is to compare, or what tells more."""
        self._over_n = alone
        if self.findings is not None:
            self._choose_view(self.findings)
            self._turns.start([self.legend, self.ratios])

    def _choose_view(self, findings: Findings) -> None:
        if self._over_n:
            self.ratios.show_view("lines")
        elif not self._view_chosen:
            self.ratios.show_view("map" if findings.many else "lines")

    def apply_theme(self, theme: Theme) -> None:
        """Recolour; what is many is drawn anew, in turns."""
        for part in (self.head, self.legend, self.ratios, self.curves, self.tables, self.detail):
            part.apply_theme(theme)
        self.start_covered()

    def start_covered(self) -> None:
        """Paint part after part, as when the page has just been shown."""
        if self.findings is not None:
            self._turns.start_covered()

    def _kept(self, findings: Findings) -> int:
        """Where the pair chosen stands in other findings, -1 if it does not."""
        if self.findings is None or self.place == NO_PLACE:
            return NO_PLACE
        number, pair = self.findings.pairs[self.place]
        path = self.findings.members[number].path

        def likeness(place: int) -> tuple[bool, bool]:
            return findings.members[findings.pairs[place][0]].path == path, place == self.place

        return max(findings.alike(pair), key=likeness, default=NO_PLACE)

    def _turn_to(self, number: int) -> None:
        self.current = number
        self.current_changed.emit(number)
        self._turns.start([self.head, self.ratios, self.curves])

    def _toggle(self, kernel: str, shown: bool) -> None:
        (self._hidden.discard if shown else self._hidden.add)(kernel)
        self._turns.start([self.ratios, self.curves])

    def _choose_curve(self, curve: Curve) -> None:
        self._curve = curve
        self._turns.start([self.legend, self.ratios, self.curves])

    def _draw_head(self) -> None:
        if self.findings is not None:
            self.head.show_findings(self.findings, self.current)

    def _draw_legend(self) -> None:
        """Name what is drawn: the kernels of both plots, on a stage of the ratios alone."""
        if self.findings is not None and self._curve is not None:
            sheet = self.findings.sheets[self._curve]
            strands = sheet.ratios if self._over_n else (*sheet.ratios, *sheet.curves)
            drawn = {strand.kernel for strand in strands if strand.value.size}
            self.legend.show_kernels([one for one in sheet.kernels if one in drawn], self._hidden)

    def _draw_ratios(self) -> Iterator[None]:
        if self.findings is not None and self._curve is not None:
            self.ratios.lines.show_current(self.current)
            yield from self.ratios.draw(self.findings, self._curve, self.current, self._hidden)
            self.ratios.show_place(self.place)
            self._split.share_out()  # a map asks for more height than lines

    def _draw_curves(self) -> Iterator[None]:
        if self.findings is not None and self._curve is not None:
            self.curves.plot.show_current(self.current)
            yield from self.curves.draw(self.findings, self._curve, self._hidden)
            self.curves.plot.show_place(self.place)

    def _draw_tables(self) -> None:
        if self.findings is not None:
            self.tables.draw(self.findings)
            self.tables.pairs.show_number(self.place)

    def _draw_detail(self) -> None:
        if self.findings is not None and self.place != NO_PLACE:
            self.detail.show_pair(self.findings, self.place)
        else:
            self.detail.show_nothing()
        self._let_go()

    def _let_go(self) -> None:
        """Drop what nothing shows any more, in the background: of ten thousand pairs it takes long."""
        past, self._past = self._past, []
        self._chores.do(past.clear)


def _row(*parts: tuple[QWidget, int]) -> QBoxLayout:
    layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
    layout.setSpacing(SPACING)
    for part, stretch in parts:
        layout.addWidget(part, stretch)
    return layout
