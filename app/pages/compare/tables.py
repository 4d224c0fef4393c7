"""The card of the tables: pairs, filtered by verdict, what has no partner, and audits of models."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.compare.audits import ComparedAudits
from flashscope.app.pages.compare.columns import Numbered, PairTableContext, alone_columns, pair_columns
from flashscope.app.pages.compare.findings import Findings
from flashscope.app.pages.compare.table import ListTable
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.learn.audit_changes import AUDITED
from flashscope.app.words.results.verdicts import spoken

PAIR_WIDTHS = (84, 140, 112, 62, 86, 86, 66, 112)
ALONE_WIDTHS = (150, 150, 144, 112, 70, 104)
SESSION, PROBLEM = 0, 2  # columns that say nothing where there is only one of them
NOT_IN = 1  # of the points alone: of two sessions it is the other one
ALL = "All verdicts"
VERDICT_CHARACTERS = 19
PAIRS, ALONE, AUDITS = range(3)  # the tables by their tabs


class Tables(Card):
    """Three tables, one in front.

    Signals:
        picked: A pair was selected: its place in the comparison (int).
        shown: Another table is in front (int).
    """

    picked = Signal(int)
    shown = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._findings: Findings | None = None
        shown = PairTableContext(self._on_show, lambda: self._theme)
        self.pairs = ListTable("Pairs of points", pair_columns(shown), PAIR_WIDTHS, spread=True)
        self.pairs.picked.connect(self.picked)
        self.alone = ListTable("Points without a partner", alone_columns(shown), ALONE_WIDTHS, spread=True)
        self.audits = ComparedAudits(lambda: self._theme)
        self.verdicts = DropDown()
        self.verdicts.setSizeAdjustPolicy(DropDown.SizeAdjustPolicy.AdjustToContents)
        self.verdicts.setMinimumContentsLength(VERDICT_CHARACTERS)
        self.verdicts.setAccessibleName("Show pairs of this verdict")
        set_tip(self.verdicts, "Show pairs of this verdict")
        self.verdicts.activated.connect(lambda _index: self._filter())
        self.tabs = [
            text_button("Pairs", "Show the pairs", lambda: self.show_tab(PAIRS), "quiet"),
            text_button("Alone", "Show the points without a partner", lambda: self.show_tab(ALONE), "quiet"),
            text_button(AUDITED, "Show the audits of models", lambda: self.show_tab(AUDITS), "quiet"),
        ]
        self._stack = QStackedWidget()
        for tab, key in zip(self.tabs, ("compare.pairs", "compare.alone", "compare.audits"), strict=True):
            does(tab, key)
        tables = (self.pairs, self.alone, self.audits)
        for place, (tab, table) in enumerate(zip(self.tabs, tables, strict=True)):
            tab.setCheckable(True)
            self.header.insertWidget(place, tab)
            self._stack.addWidget(table)
        self.header.addWidget(self.verdicts)
        self.body.addWidget(self._stack, 1)
        self.setContentsMargins(0, -4, -4, -4)
        self.tabs[AUDITS].hide()
        keep(self, self.setMinimumSize, 260, 132)
        self.show_tab(PAIRS)

    def draw(self, findings: Findings) -> None:
        """Show the pairs and lone points of a comparison."""
        self._fill_verdicts(findings)
        self._findings = findings  # the rows must follow at once: theirs are still of the comparison before
        self.pairs.list.set_rows(findings.pairs, self._wanted())
        self.alone.list.set_rows(findings.alone)
        several = len(findings.members) > 2  # noqa: PLR2004 - the baseline and one other
        self.pairs.setColumnHidden(SESSION, not several)
        self.alone.setColumnHidden(NOT_IN, not several)
        self.pairs.setColumnHidden(PROBLEM, len(set(findings.curves.values())) <= 1)
        of_all = f", {len(findings.members) - 1} sessions" if several else ""
        self.tabs[0].setText(f"Pairs ({len(findings.pairs)}{of_all})")
        self.tabs[1].setText(f"Without a partner ({len(findings.alone)})")
        self._draw_audits(findings)
        if not (self.shows(AUDITS) or (findings.pairs and findings.alone)):
            self.show_tab(PAIRS if findings.pairs else ALONE)

    def _draw_audits(self, findings: Findings) -> None:
        """Show the audits: in front when they come, and the pairs when they go."""
        table = self.audits.table.list
        had = table.rows_shown > 0
        self.audits.draw(findings)
        has = table.rows_shown > 0
        self.tabs[AUDITS].setText(f"{AUDITED} ({table.rows_shown})")
        self.tabs[AUDITS].setVisible(any(findings.audits))
        if had != has:
            self.show_tab(AUDITS if has else PAIRS)

    def show_tab(self, place: int) -> None:
        """Bring one of the tables to the front."""
        self._stack.setCurrentIndex(place)
        for number, tab in enumerate(self.tabs):
            tab.setChecked(number == place)
        self.verdicts.setVisible(place == PAIRS)
        self.shown.emit(place)

    def shows(self, place: int) -> bool:
        """Whether this table is in front."""
        return self.tabs[place].isChecked()

    def show_audits(self) -> None:
        """Bring the audits to the front, where there are any."""
        if not self.tabs[AUDITS].isHidden():
            self.show_tab(AUDITS)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the verdicts."""
        self._theme = theme
        for table in (self.pairs, self.alone, self.audits.table):
            table.list.draw_anew()

    def _fill_verdicts(self, findings: Findings) -> None:
        chosen = self.verdicts.currentData()
        self.verdicts.clear()
        self.verdicts.addItem(f"{ALL} ({len(findings.pairs)})", "")
        for word, count in findings.verdicts.items():
            self.verdicts.addItem(f"{word} ({count})", word)
        self.verdicts.setCurrentIndex(max(0, self.verdicts.findData(chosen)))

    def _filter(self) -> None:
        self.pairs.list.set_filter(self._wanted())

    def _wanted(self) -> Callable[[Numbered], bool] | None:
        """Whether a pair has the verdict that is chosen; None: all are shown."""
        word = self.verdicts.currentData()
        return (lambda row: spoken(row[1]).word == word) if word else None

    def _on_show(self) -> Findings:
        if self._findings is None:
            raise LookupError("no comparison is on show")  # an empty table has no cell to write
        return self._findings
