"""The Compare page: choose sessions, see what changed."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.control.bundled import told_sessions
from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.pages.base import Page
from flashscope.app.pages.compare.board import CompareBoard
from flashscope.app.pages.compare.chips import Chips
from flashscope.app.pages.compare.empty import EmptyState
from flashscope.app.pages.compare.findings import Findings
from flashscope.app.pages.compare.last import last_like
from flashscope.app.pages.compare.lineup import MOST, TWO, Lineup
from flashscope.app.pages.compare.partners import partners
from flashscope.app.pages.compare.report import FILTERS, HTML, JSON, proposed, write_report
from flashscope.app.pages.compare.staging import CompareStaging
from flashscope.app.pages.host import Host
from flashscope.app.pages.landing import Landing
from flashscope.app.plots.sweep.quantity_chooser import QuantityChooser
from flashscope.app.widgets.buttons import icon_button, recolour, text_button
from flashscope.app.widgets.clipboard import copy_text
from flashscope.app.widgets.dialogs.saving import write_chosen
from flashscope.app.widgets.keyed import does
from flashscope.app.words.command_line import compare_line
from flashscope.app.words.plain import cut_short
from flashscope.app.words.results.holding import holding_text
from flashscope.app.words.results.sessions import named
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.store import SUFFIX, SessionInfo

FILTER = f"Flashscope sessions (*{SUFFIX})"
NONE_LIKE_IT = "No other run here has the same kernels and problems on the same device."
NO_SESSION = "No session is on show: run a sweep or open one, then compare it."
NOTHING_COMPARED = "There is no comparison to export yet; choose two sessions."


class ComparePage(Page):
    """Up to six sessions beside each other, the first of them the baseline.

    Signals:
        offered: A run has ended that has one like it: words, a button's title, what compares them (str, str,
            callable).
    """

    key = "compare"
    gives_way = True

    offered = Signal(str, str, object)

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        self.lineup, self._chores = Lineup(self), Chores(self)
        self.chips, self.board, self.empty = Chips(theme), CompareBoard(theme), EmptyState()
        self.chooser = QuantityChooser()
        self.chooser.show_quantity(self.lineup.quantity)
        self._stack = QStackedWidget()
        self._lay_out()
        self._connect()
        self._follow()

    def _lay_out(self) -> None:
        words = "Copy the comparison as a command line"
        self._copy = does(icon_button("mdi6.console-line", words, self.copy_command), "compare.copy")
        self._tools = [
            self.chooser,
            does(text_button("Add …", "Add sessions to compare", self.open_files), "compare.open"),
            does(text_button("Export", "Export the comparison as a report", self.export), "compare.export"),
            self._copy,
        ]
        self.staging = CompareStaging(self, self.controller, [*self._tools, self.chips])
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.chips, 1, Qt.AlignmentFlag.AlignTop)
        tools = QHBoxLayout()
        for tool in self._tools:
            tools.addWidget(tool, alignment=Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(tools)
        row.setAlignment(tools, Qt.AlignmentFlag.AlignTop)
        for page in (self.empty, self.board):
            self._stack.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 10)
        column.setSpacing(8)
        column.addLayout(row)
        column.addWidget(self._stack, 1)

    def _connect(self) -> None:
        lineup = self.lineup
        lineup.changed.connect(self._follow)
        lineup.working.connect(self._show_work)
        lineup.found.connect(self._show)
        lineup.refused.connect(self.controller.error_raised)
        self._chores.failed.connect(self.controller.error_raised)
        self.chips.picked.connect(self.board.show_current)
        self.chips.baseline_wanted.connect(lineup.make_baseline)
        self.chips.removal_wanted.connect(lineup.remove)
        self.chips.opening_wanted.connect(self.file_chosen)
        self.board.current_changed.connect(self.chips.show_current)
        self.chooser.chosen.connect(self._choose_quantity)
        self.empty.opening_wanted.connect(self.open_files)
        self.empty.sessions_wanted.connect(lambda: self.page_requested.emit("sessions"))
        self.empty.bundled_wanted.connect(self.compare_bundled)
        self.let_export(card.export_button.exporter for card in (self.board.ratios, self.board.curves))

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""
        board, group = self.board, "Compare"
        like = Action(
            "compare.like", "Compare with the last run like this", self.compare_like, group, everywhere=True
        )
        return [
            Action("compare.open", "Add sessions to compare …", self.open_files, group, "O"),
            like,
            Action("compare.baseline", "Make the chosen session the baseline", self._rebase, group, "B"),
            Action("compare.remove", "Remove the chosen session", self._remove, group, "Del"),
            Action("compare.session", "Choose the next session", self._next_session, group, "S"),
            Action("compare.clear", "Compare nothing", lambda: self.choose([]), group),
            Action("compare.view", "Heat map, or lines over N", board.turn_view, group, "H"),
            Action("compare.all", "Show all of the heat map", board.ratios.show_all, group, "A"),
            Action("compare.next", "Choose the next pair", partial(board.step, 1), group, "Alt+Right"),
            Action("compare.back", "Choose the pair before", partial(board.step, -1), group, "Alt+Left"),
            Action("compare.pairs", "Show the pairs", partial(board.tables.show_tab, 0), group, "R"),
            Action("compare.alone", "Show points alone", partial(board.tables.show_tab, 1), group, "W"),
            Action("compare.audits", "Show audits of models", board.tables.show_audits, group, "U"),
            Action("compare.export", "Export the comparison as a report …", self.export, group, "E"),
            Action("compare.copy", "Copy the comparison as a command line", self.copy_command, group),
        ]

    def join(self, host: Host) -> None:
        """Have what is like a run that ended offered in the window's message line."""
        super().join(host)
        self.offered.connect(host.offer)

    def show_files(self, paths: Sequence[Path]) -> None:
        """Compare these sessions, as another page asks for."""
        self.choose(paths)

    def kept(self) -> Callable[[], None]:
        """Give back what is compared, and by which quantity."""
        quantity, files = self.lineup.quantity, [file for side in self.lineup.sides for file in side]

        def give_back() -> None:
            if self.lineup.quantity is not quantity:
                self.lineup.compare_by(quantity)
            if files != [file for side in self.lineup.sides for file in side]:
                self.choose(files)

        return give_back

    def choose(self, paths: Sequence[Path]) -> None:
        """Compare these sessions, the first of them the baseline."""
        self.lineup.choose(paths)

    def open_files(self) -> None:
        """Let the user choose files to add."""
        folder = str(self.controller.sessions_dir)
        chosen, _filter = QFileDialog.getOpenFileNames(self, "Sessions to compare", folder, FILTER)
        if chosen:
            self.lineup.add([Path(path) for path in chosen])

    def export(self) -> None:
        """Ask where to, and write what is on show as a report or a document."""
        findings = self.board.findings
        if findings is None or len(self.lineup.paths) < TWO:
            self.noticed.emit(NOTHING_COMPARED)
            return
        chosen, kind = QFileDialog.getSaveFileName(
            self, "Export the comparison", proposed(findings), ";;".join(FILTERS)
        )
        if chosen:
            suffixes = FILTERS.get(kind, (HTML, JSON))
            write = partial(write_chosen, Path(chosen), suffixes, partial(write_report, findings))
            self._chores.do(write, lambda file: self.noticed.emit(f"Exported the comparison to {file.name}."))

    def copy_command(self) -> None:
        """Put the comparison on the clipboard as a command line."""
        if len(self.lineup.paths) >= TWO:
            copy_text(compare_line(self.lineup.sides, self.lineup.quantity.key))
            self.noticed.emit("The comparison is on the clipboard as a command line.")

    def compare_bundled(self) -> None:
        """Compare the two recordings that come with the program and share most points."""
        self._chores.do(partial(partners, told_sessions()), self.choose)

    def compare_like(self) -> None:
        """Compare the session on show with the newest other one that did the same."""
        session = self.controller.session
        if session is None:
            self.noticed.emit(NO_SESSION)
        else:
            self._look_for(session, self._compare_with)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour everything painted by hand."""
        super().apply_theme(theme)
        recolour(self._copy, theme)
        self.chips.apply_theme(theme)
        self.board.apply_theme(theme)

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Wait for what is being read and compared."""
        self.lineup.wait()
        self._chores.wait()
        super().closeEvent(event)

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Paint part after part."""
        super().showEvent(event)
        self.board.start_covered()

    def landing(self, files: Sequence[Path]) -> Landing:
        """Recordings dropped here are compared, too, as far as there is room for them."""
        chosen = self.lineup.chosen
        if len(chosen) == MOST:
            return Landing(self, f"Up to {MOST} sessions can be compared: take one away first.")
        base = chosen[0] if chosen else None
        name = "another recording" if base is None else base.path.stem
        if base is not None and base.session is not None:
            name = named(base.session, base.path)
        return Landing(self, f"Compare with {cut_short(name)}", partial(self.lineup.add, files))

    def _follow(self) -> None:
        """Show what is chosen now."""
        chosen = self.lineup.chosen
        self.chips.show_chosen(chosen, min(self.board.current, len(chosen) - 1))
        self.chips.setVisible(bool(chosen) and not self.staging.on)
        self._bring(self.board if len(chosen) >= TWO else self.empty)
        self.empty.show_count(len(chosen))
        for tool in self._tools:
            tool.setVisible(bool(chosen) and not self.staging.on)
        self._tools[1].setEnabled(len(chosen) < MOST)
        for tool in self._tools[2:]:
            tool.setEnabled(len(chosen) >= TWO)

    def _bring(self, part: QWidget) -> None:
        """Bring the comparison or the words to the front."""
        self._stack.setCurrentWidget(part)
        preferred, ignored = QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored
        asks = preferred if part is self.board else ignored  # or words scroll as far as the board would
        self.board.setSizePolicy(preferred, asks)

    def _show_work(self, text: str) -> None:
        if text:
            self.board.show_words(text)

    def _show(self, findings: Findings | None) -> None:
        if findings is None:
            return
        if findings.sheets:
            self.board.show_findings(findings)
        else:
            held = [(one.name, holding_text(one.session)) for one in findings.members]
            self.board.findings = None
            self.empty.show_none(held)
            self._bring(self.empty)

    def _choose_quantity(self, key: str) -> None:
        self.chooser.show_quantity(QUANTITIES[key])
        self.lineup.compare_by(QUANTITIES[key])

    def _rebase(self) -> None:
        if len(self.lineup.paths) >= TWO:
            self.lineup.make_baseline(self.lineup.paths[self.board.current])

    def _remove(self) -> None:
        if len(self.lineup.paths) >= TWO:
            self.lineup.remove(self.lineup.paths[self.board.current])

    def _next_session(self) -> None:
        if self.board.findings is not None:
            self.board.show_current(self.board.current % len(self.board.findings.comparison.contrasts) + 1)

    def take_sweep(self, session: Session) -> None:
        """When a sweep has ended, look whether there is one like it."""
        if session.outcome == "finished":
            self._look_for(session, self._offer)

    def _look_for(self, session: Session, then: Callable[[Session, SessionInfo | None], None]) -> None:
        folder = self.controller.sessions_dir
        self._chores.do(partial(last_like, session, folder), partial(then, session))

    def _offer(self, session: Session, like: SessionInfo | None) -> None:
        if like is not None:
            act = partial(self._compare_with, session, like)
            self.offered.emit(f"There is a run like this one: {named(like, like.path)}.", "Compare", act)

    def _compare_with(self, session: Session, like: SessionInfo | None) -> None:
        controller = self.controller
        path = controller.path if controller.session is session else None
        path = controller.sweep_path if path is None and controller.sweep is session else path
        if like is None:
            self.noticed.emit(NONE_LIKE_IT)
        elif path is not None:  # it has a file soon after it began
            self.choose([like.path, path])
            self.page_requested.emit(self.key)
