"""The first page: four ways to begin, recent files, and what was found on this machine."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import qtawesome
from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from flashscope.app.control.bundled import NAMES, bundled_sessions, inside_recording, told_sessions
from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.control.quick import quick_plan
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.base import Page
from flashscope.app.pages.host import Host
from flashscope.app.pages.start.recents import RecentsCard
from flashscope.app.pages.start.sessions import RecordingCard, read_teaser
from flashscope.app.pages.start.stories import StoriesCard
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.widgets.term_label import TermLine
from flashscope.app.words.glossary import with_line
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.results.provenance import LABELS
from flashscope.app.words.units import bytes_text
from flashscope.kernels.workload.device import Device
from flashscope.profiles.plan.machine import Machine, ProbeFinding

ICON_PX = 22
SLIDES, OPEN = "stepper.preset.slide", "open"  # actions
LATER_MS = 100  # after the page is shown: it is painted before
TO_TRAFFIC = "Traffic"
RECORDINGS = ("Open", "Libraries", TO_TRAFFIC)  # of the bundled sessions, in their order
LARGE = 1300, 800  # pixels from which on there is room for large sentences
SHELF, LOWER = 3, 2  # shares of what height is left over
WIDE, NARROW = 860, 500  # pixels: where there are fewer, the four cards stand two by two, or in one column


class StartPage(Page):
    """Four cards, recordings, recents, stories, findings."""

    key = "start"
    gives_way = True

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        self._icons: list[tuple[PlainLabel, str]] = []
        self._columns, self._large = 0, False
        heading = PlainLabel("What do you want to see?")
        heading.setProperty("role", "heading")
        self._grid = QGridLayout()
        self._grid.setSpacing(12)
        self._cards = [self._quick_card(), self._bundled_card(), self._stepper_card(), self._open_card()]
        self._recordings = {
            path: RecordingCard(NAMES[path.stem], partial(self.file_chosen.emit, path), theme)
            for path in told_sessions()
        }
        self._unread = dict(self._recordings)
        self._chores = Chores(self)
        self._shelf = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._shelf.setSpacing(12)
        for card in self._recordings.values():
            self._shelf.addWidget(card, 1)
        self._recents = RecentsCard(controller.sessions_dir)
        self._recents.file_chosen.connect(self.file_chosen)
        self._findings = Card("This machine")
        self._lower = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._lower.setSpacing(12)
        self._stories = StoriesCard()
        self._stories.action_requested.connect(self.action_requested)
        for part in (self._recents, self._stories, self._findings):
            self._lower.addWidget(part, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 12, 24, 10)
        column.setSpacing(10)
        column.addWidget(heading)
        column.addLayout(self._grid)
        column.addLayout(self._shelf, SHELF)
        column.addLayout(self._lower, LOWER)
        keep(self, self._arrange)
        self._show_machine(controller.machine)
        controller.machine_found.connect(self._show_machine)
        controller.running_changed.connect(lambda _running: self.quick.setEnabled(not controller.replaying))
        self.apply_theme(theme)

    def apply_theme(self, theme: Theme) -> None:
        """Draw the cards' icons in the accent."""
        super().apply_theme(theme)
        for card in self._recordings.values():
            card.thumbnail.apply_theme(theme)
        for label, name in self._icons:
            label.setPixmap(qtawesome.icon(name, color=theme.accent).pixmap(QSize(px(ICON_PX), px(ICON_PX))))

    @property
    def recording(self) -> QPushButton | None:
        """What opens the first of the recordings, None in a copy without any."""
        return next((card.link for card in self._recordings.values()), None)

    @guarded()
    def resizeEvent(self, event: object) -> None:
        """Put the cards in one row where there is room, else two by two, else one under the other."""
        super().resizeEvent(event)  # type: ignore[arg-type] # Qt's own event, passed on
        self._arrange()

    def join(self, host: Host) -> None:
        """Follow what the window remembers; Return runs the quick sweep of a window that has just opened."""
        super().join(host)
        self._settings = host.settings
        self.quick.setFocus()

    def come_to_front(self) -> None:
        """List the sessions recorded, changed or opened last, each by its name."""
        self._recents.show_opened(self._settings.recents)

    def _read(self, path: Path, shown: RecordingCard) -> None:
        """Have a session read, and shown there if that is still there then."""
        self._chores.do(partial(read_teaser, path), lambda told: shown.tell(told) if isValid(shown) else None)

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Read the recordings once the page has been painted."""
        super().showEvent(event)
        if self._unread:
            QTimer.singleShot(LATER_MS, self._read_recordings)

    def _read_recordings(self) -> None:
        unread, self._unread = self._unread, {}
        for path, card in unread.items():
            self._read(path, card)

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Wait for what is being read."""
        self._unread = {}
        self._chores.wait()
        super().closeEvent(event)

    def _arrange(self) -> None:
        large = self.width() >= px(LARGE[0]) and self.height() >= px(LARGE[1])
        if large != self._large:
            self._large = large
            self._stories.show_large(large)
            for recording in self._recordings.values():
                recording.show_large(large)
        columns = 4 if self.width() >= px(WIDE) else 2 if self.width() >= px(NARROW) else 1
        if columns == self._columns:
            return
        self._columns = columns
        for place, card in enumerate(self._cards):
            self._grid.addWidget(card, place // columns, place % columns)
        beside, under = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        for row in (self._shelf, self._lower):
            row.setDirection(beside if columns > 2 else under)  # noqa: PLR2004 - three stand in it
        for column in range(4):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def _quick_card(self) -> Card:
        self.quick = text_button("Run", "Run a quick sweep", self._run_quick, "primary")
        return self._card(
            "mdi6.speedometer",
            "Run a quick sweep",
            "Standard and tiled attention at four sequence lengths, measured live in under 15 seconds.",
            self.quick,
        )

    def _bundled_card(self) -> Card:
        buttons = [
            text_button(title, f"Open {NAMES[path.stem]}", self._opening(title, path))
            for title, path in zip(RECORDINGS, bundled_sessions(), strict=False)
        ]
        for button in buttons:
            set_tip(button, with_line(button.text(), button.accessibleName()))
        words = "A sweep measured on a real GPU, with its telemetry. Needs no GPU here."
        missing = "This copy of Flashscope comes without a recording."
        return self._card(
            "mdi6.expansion-card", "See a GPU recording", words if buttons else missing, *buttons
        )

    def _opening(self, title: str, recording: Path) -> Callable[[], object]:
        """What opens a recording, in the view that the button is called by."""
        if title != TO_TRAFFIC:
            return partial(self.file_chosen.emit, recording)
        return partial(self.controller.open_session, recording, partial(self.page_requested.emit, "traffic"))

    def _stepper_card(self) -> Card:
        button = text_button("Step", "Step through the slide example", self._step)
        does(button, SLIDES)
        inside = inside_recording()
        timed = () if inside is None else (self._timed_button(inside),)
        return self._card(
            "mdi6.stairs",
            "Step through the softmax",
            "The slide example, scores 1, 3 | 2, 0.5: m, ℓ, α and O by blocks; or flash3 as an H200 ran it.",
            button,
            *timed,
        )

    def _timed_button(self, recording: Path) -> QPushButton:
        to_stepper, told = partial(self.page_requested.emit, "stepper"), "Step through flash3 on an H200"
        button = text_button("flash3", told, partial(self.controller.open_session, recording, to_stepper))
        set_tip(button, with_line("flash3", told))
        return button

    def _open_card(self) -> Card:
        button = text_button(
            "Choose a file", "Open a session file", partial(self.action_requested.emit, OPEN)
        )
        does(button, OPEN)
        return self._card(
            "mdi6.folder-open-outline",
            "Open a session",
            "A .flashscope file from this machine or another. Dropping it on the window opens it too.",
            button,
        )

    def _card(self, icon: str, title: str, words: str, *buttons: QPushButton) -> Card:
        card = Card()
        picture, name = PlainLabel(), PlainLabel(title)
        keep(picture, picture.setFixedWidth, ICON_PX + 4)
        name.setProperty("role", "title")
        self._icons.append((picture, icon))
        row = QHBoxLayout()
        for button in buttons:
            row.addWidget(button)
        row.addStretch(1)
        head = QHBoxLayout()
        head.addWidget(picture)
        head.addWidget(name, 1)
        card.body.addLayout(head)
        card.body.addWidget(_words(words))
        card.body.addStretch(1)
        card.body.addLayout(row)
        return card

    def _run_quick(self) -> None:
        self.page_requested.emit("profile")
        self.controller.run(quick_plan(self.controller.machine))

    def _step(self) -> None:
        self.page_requested.emit("stepper")
        self.action_requested.emit(SLIDES)

    def _show_machine(self, machine: Machine | None) -> None:
        _clear(self._findings)
        if machine is None:
            self._findings.body.addWidget(_words("Looking for devices …"))
        else:
            self._findings.set_unit(cut_short(machine.system, MOST_OF_NAME))
            for device in machine.devices:
                self._findings.body.addWidget(_finding(_device(device)))
            for finding in machine.findings:
                if finding.name == LABELS["cpu"]:  # stands among the devices already
                    continue
                self._findings.body.addWidget(_finding(finding))
        self._findings.body.addStretch(1)


def _words(text: str) -> PlainLabel:
    label = PlainLabel(text)
    label.setProperty("role", "dim")
    label.setWordWrap(True)
    label.setMinimumWidth(1)  # a long word makes no page wider
    label.setAlignment(Qt.AlignmentFlag.AlignTop)
    return label


def _device(device: Device) -> ProbeFinding:
    parts = [device.name, bytes_text(device.memory_bytes)]
    if device.compute_capability is not None:
        parts.append("compute capability " + ".".join(map(str, device.compute_capability)))
    return ProbeFinding(name=LABELS[device.backend], ok=True, detail=" · ".join(parts))


def _finding(finding: ProbeFinding) -> QWidget:
    row = QWidget()
    mark = PlainLabel("✓" if finding.ok else "–")
    mark.setProperty("role", "ok" if finding.ok else "dim")
    mark.setAccessibleName("found" if finding.ok else "not found")
    keep(mark, mark.setFixedWidth, 16)
    grid = QGridLayout(row)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setVerticalSpacing(2)
    grid.setColumnStretch(2, 1)
    grid.addWidget(mark, 0, 0)
    grid.addWidget(TermLine(cut_short(finding.name, MOST_OF_NAME)), 0, 1)
    detail = ElidedLabel(finding.detail)
    detail.setProperty("role", "dim")
    grid.addWidget(detail, 0, 2)
    if finding.remedy:
        remedy = _words(finding.remedy)
        remedy.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        grid.addWidget(remedy, 1, 1, 1, 2)
    return row


def _clear(card: Card) -> None:
    while (item := card.body.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.deleteLater()
