"""The Watch page: a kernel's versions, one a save, and two of them side by side."""

from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QPushButton, QStackedWidget, QVBoxLayout, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.control.own.watch import Prepared
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.base import Page
from flashscope.app.pages.registry import SHOWING
from flashscope.app.pages.watch.columns import version_rows
from flashscope.app.pages.watch.empty import WATCH, EmptyWatch
from flashscope.app.pages.watch.side_by_side import SideBySide
from flashscope.app.pages.watch.staging import WatchStaging
from flashscope.app.pages.watch.table import VersionTable
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.widgets.split import Split
from flashscope.app.words.own.watching import RIGHTS, watch_sentence
from flashscope.app.words.results.queueing import problems_words
from flashscope.app.words.units import seqlen_text
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.profiles.watching.versions import Version

LENGTHS = tuple(128 << k for k in range(8))
SENTENCE_PX, STRIP_PX = 320, 98
STOP, AGAIN = "Stop watching", "Watch again"
FASTEST = "fastest of ours"
NO_SESSION = "v{} has no session: nothing of it was measured."
NOTHING_CHOSEN = "There is no version yet."


class StripView(QWidget):
    """What the page shows of a kernel that is, or was, watched."""

    @guarded(bool)
    def hasHeightForWidth(self) -> bool:
        """No: its words would make the whole page as high as it would like to be."""
        return False


class WatchPage(Page):
    """A sentence and what it is measured by, over the strip of versions, over two of them side by side."""

    key = "watch"

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        self.watch = controller.watch_own
        self.sentence, self.problem = PlainLabel(wordWrap=True), PlainLabel(wordWrap=True)
        self.lengths, self.peers = DropDown(), DropDown()
        self.again = does(QPushButton("Measure again"), "watch.again")
        self.toggle = does(QPushButton(STOP), "watch.toggle")
        self.clear = does(QPushButton("Clear"), "watch.clear")
        self.table = VersionTable(lambda: self.theme)
        self.comparison = SideBySide(theme)
        self.empty = EmptyWatch()
        self.stack = QStackedWidget()
        self._shown: Prepared | None = None
        self._lay_out()
        self.staging = WatchStaging(controller)
        self._connect()
        self.refresh()

    def _lay_out(self) -> None:
        self.sentence.setProperty("role", "title")
        self.sentence.setAccessibleName("What is watched")
        keep(self.sentence, self.sentence.setMinimumWidth, SENTENCE_PX)
        self.problem.setProperty("role", "dim")
        self.lengths.setAccessibleName("N that versions are measured at")
        self.peers.setAccessibleName("Kernel that versions are timed beside")
        set_tip(self.lengths, "N that versions are measured at")
        set_tip(self.peers, "Kernel that versions are timed beside, in turns")
        set_tip(self.again, "Measure what the file holds once more, as a version of its own (R)")
        set_tip(self.clear, "Forget the versions, and stop; their sessions stay in the Library")
        keep(self.table, self.table.setMinimumHeight, STRIP_PX)
        parts = (self.sentence, self.lengths, self.peers, self.again, self.toggle, self.clear)
        full = StripView()
        column = QVBoxLayout(full)
        column.setContentsMargins(12, 8, 12, 10)
        column.setSpacing(8)
        column.addWidget(Lines(parts, (self.sentence,), 8))
        column.addWidget(self.problem)
        split = Split(self.table, self.comparison, shares=(190, 330))
        split.handle(1).setAccessibleName("Height of the strip of versions")
        column.addWidget(split, 1)
        self.stack.addWidget(self.empty)
        self.stack.addWidget(full)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.stack)

    def _connect(self) -> None:
        self.watch.changed.connect(self.refresh)
        self.empty.wanted.connect(self.action_requested)
        self.lengths.activated.connect(lambda _row: self._plan_anew())
        self.peers.activated.connect(lambda _row: self._plan_anew())
        self.again.clicked.connect(self.watch.measure_again)
        self.toggle.clicked.connect(self.stop_or_go_on)
        self.clear.clicked.connect(self.forget)
        self.table.chosen_changed.connect(self._compare)
        self.comparison.open_button.clicked.connect(self.open_chosen)

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""
        whole = self.comparison.whole.toggle
        return [
            Action("watch.toggle", "Stop watching, or watch again", self.stop_or_go_on, "Watch", "S"),
            Action("watch.again", "Measure the file once more", self.watch.measure_again, "Watch", "R"),
            Action("watch.next", "Choose the next version", partial(self._step, 1), "Watch", "N"),
            Action("watch.before", "Choose the version before", partial(self._step, -1), "Watch", "P"),
            Action("watch.whole", "Show the whole source, or its changes", whole, "Watch", "W"),
            Action("watch.open", "Open the session of the chosen version", self.open_chosen, "Watch", "O"),
            Action("watch.clear", "Clear the strip of versions", self.forget, "Watch"),
        ]

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        super().apply_theme(theme)
        self.comparison.apply_theme(theme)
        self.table.list.draw_anew()

    def come_to_front(self) -> None:
        """Let the keys go to the strip, where there is one: in a box letters would choose its entries."""
        if self._shown is not None:
            self.table.setFocus()

    def back(self) -> bool:
        """Follow the newest version again; whether others were chosen."""
        chosen = bool(self.table.picks)
        self.table.pick()
        return chosen

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Wait for what is being worked out."""
        self.comparison.close_down()
        super().closeEvent(event)

    def stop_or_go_on(self) -> None:
        """Look at the file no more, or again; before anything is watched, watch something."""
        if self.watch.active:
            self.watch.stop()
        elif self.watch.prepared is not None:
            self.watch.start(self.watch.prepared.asked)
        else:
            self.action_requested.emit(WATCH)

    def forget(self) -> None:
        """Clear the strip; it can be undone."""
        if self.watch.prepared is None:
            return
        strip = self.watch.clear()

        def forth() -> str:
            self.watch.clear()
            return ""

        self.controller.edits.note("Strip of versions cleared", forth, partial(self.watch.put_back, strip))

    def open_chosen(self) -> None:
        """Show the session of the chosen version, else of the newest, in Measure; or say that it has none."""
        versions = self._versions()
        told = next((one for one in self.watch.told if versions and one.version is versions[-1]), None)
        path = told.recording.path if told is not None and told.recording is not None else None
        if path is not None:
            self.file_chosen.emit(path)
            self.page_requested.emit(SHOWING)
        else:
            self.noticed.emit(NO_SESSION.format(told.version.number) if told else NOTHING_CHOSEN)

    def refresh(self) -> None:
        """Show how it stands."""
        prepared, watch = self.watch.prepared, self.watch
        self.stack.setCurrentIndex(int(prepared is not None))
        if prepared is None:
            self._shown = None
            self.table.show_versions([])
            return
        if prepared is not self._shown:
            first, self._shown = self._shown is None, prepared
            self._show_plan(prepared)
            if first and self.isVisible():
                self.table.setFocus()
        self.sentence.setText(
            watch_sentence(
                prepared.watched.path.name,
                prepared.plan.kernels,
                active=watch.active,
                missing=watch.missing,
                waits=self._waits(),
            )
        )
        self.toggle.setText(STOP if watch.active else AGAIN)
        for part in (self.again, self.lengths, self.peers):
            part.setEnabled(watch.active)
        self.table.show_versions(version_rows(watch))
        self._compare()

    def _waits(self) -> str:
        """Which version waits for something else than another version, and for what."""
        waiting, why = self.watch.waiting, self.watch.why_waits
        return f"v{waiting.number} waits: {why}" if waiting and why and not self.watch.in_flight else ""

    def _show_plan(self, prepared: Prepared) -> None:
        """Say what versions are measured by, and what else they could be."""
        request = prepared.asked.request
        rights = [RIGHTS] if prepared.asked.own.function else []
        self.problem.setText(" ".join((f"{problems_words(prepared.plan)}.", *rights)))
        set_tip(self.sentence, str(prepared.watched.path))
        with QSignalBlocker(self.lengths), QSignalBlocker(self.peers):
            self.lengths.clear()
            for seqlen in sorted({*LENGTHS, *request.seqlens}):
                self.lengths.addItem(f"N = {seqlen_text(seqlen)}", seqlen)
            self.lengths.setCurrentIndex(self.lengths.findData(request.seqlens[0]))
            self.peers.clear()
            self.peers.addItem(f"beside the {FASTEST}", AUTO)
            for peer in prepared.peers:
                self.peers.addItem(f"beside {peer}", peer)
            self.peers.setCurrentIndex(max(0, self.peers.findData(request.kernels[0])))

    def _plan_anew(self) -> None:
        """Measure by what is chosen now, what the file holds first."""
        if self.watch.prepared is None:
            return
        asked = self.watch.prepared.asked
        request = replace(
            asked.request, seqlens=(self.lengths.currentData(),), kernels=(self.peers.currentData(),)
        )
        if request != asked.request:
            self.watch.start(asked._replace(request=request))

    def _compare(self) -> None:
        versions = self._versions()
        self.comparison.setVisible(bool(versions))
        if versions and self.watch.prepared is not None:
            self.comparison.show_versions(versions, self.watch.prepared.watched.path.name)

    def _versions(self) -> tuple[Version, ...]:
        """What is compared, the older first: those chosen, else the newest beside what it follows."""
        ended = {one.version.number: one.version for one in self.watch.told}
        picked = tuple(ended[number] for number in sorted(self.table.picks) if number in ended)
        if picked or not ended:
            return picked
        newest = ended[max(ended)]
        named = next((one for one in ended.values() if one.name == newest.before), None)
        before = named or ended.get(newest.number - 1)
        return (newest,) if before is None else (before, newest)

    def _step(self, by: int) -> None:
        """Choose the version after the one that is chosen, or before."""
        numbers = [one.version.number for one in self.watch.told]
        if numbers:
            at = numbers.index(self.table.picks[-1]) + by if self.table.picks else len(numbers) - 1
            self.table.pick(numbers[min(max(at, 0), len(numbers) - 1)])
