"""The bar under the panels: step, tile, play, scrub, speed, breakpoints and the row watched."""

from collections.abc import Mapping

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.look.theme import Theme
from flashscope.app.pages.stepper.player import SPEEDS
from flashscope.app.pages.stepper.scrubber import StepScrubber
from flashscope.app.stepper.breakpoints import Breakpoints
from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.events import EventKind
from flashscope.app.stepper.step_view import StepView
from flashscope.app.widgets.number_fields import WholeField
from flashscope.app.widgets.plain import set_tip
from flashscope.app.widgets.remark import remark
from flashscope.app.widgets.transport import PLAY, TransportBar
from flashscope.app.words.glossary import line_of

ICONS = {
    "stepper.start": "fa6s.backward-fast",
    "stepper.previous_event": "fa6s.angles-left",
    "stepper.previous_tile": "fa6s.backward-step",
    "stepper.back": "fa6s.chevron-left",
    "stepper.play": PLAY,
    "stepper.forward": "fa6s.chevron-right",
    "stepper.next_tile": "fa6s.forward-step",
    "stepper.next_event": "fa6s.angles-right",
    "stepper.end": "fa6s.forward-fast",
}
BREAKS: tuple[tuple[EventKind | None, str], ...] = (
    ("max-rises", "The running maximum rises"),
    ("alpha-below", "α is below the threshold"),
    (None, "A tile ends"),
    ("non-finite", "A value is not finite"),
)
THRESHOLDS = (0.1, 0.25, 0.5, 0.9)


class Transport(TransportBar):
    """Buttons of the page's own actions and the controls beside them.

    Attributes:
        scrubber: Where one is, in steps.
        controls: What is picked and pressed in it; nothing is typed into these.
        by_name: The controls that do not mean something in every mode, by the names that modes have for them.

    Signals:
        breakpoints_changed: Other breakpoints are set (Breakpoints).
        choice_changed: Another row is to be watched (RowChoice).
    """

    scrubber: StepScrubber
    breakpoints_changed = Signal(object)
    choice_changed = Signal(object)

    def __init__(self, theme: Theme, actions: Mapping[str, Action]) -> None:
        super().__init__(StepScrubber(theme), actions, ICONS, SPEEDS)
        self.row = WholeField()
        self.row.setPrefix("row ")
        self.row.setKeyboardTracking(False)  # or a row that follows would change under what is typed
        self.row.setAccessibleName("Row watched")
        set_tip(self.row, "The query row whose state is shown; click a row of S or P to choose it")
        self.follow = QPushButton("Follow")
        self.follow.setCheckable(True)
        self.follow.setChecked(True)
        set_tip(self.follow, line_of(self.follow.text()))
        self.breaks = QToolButton()
        self._kinds: dict[EventKind | None, QAction] = {}
        self._thresholds: dict[float, QAction] = {}
        self._fill_breaks()
        self.controls = (*self.buttons.values(), self.speed, self.breaks, self.follow)
        self.by_name: dict[str, QWidget] = {"breaks": self.breaks, "row": self.row, "follow": self.follow}
        self.lay_out(self.breaks, self.row, self.follow)
        self.apply_theme(theme)
        self._connect()

    @property
    def breakpoints(self) -> Breakpoints:
        """What playing stops at."""
        chosen = {kind for kind, action in self._kinds.items() if action.isChecked()}
        below = next((v for v, action in self._thresholds.items() if action.isChecked()), 0.5)
        kinds = frozenset(kind for kind in chosen if kind is not None)
        return Breakpoints(kinds, tile=None in chosen, alpha_below=below)

    def show_view(self, view: StepView) -> None:
        """Move the handle, the count and the row to the step on show."""
        with QSignalBlocker(self.scrubber), QSignalBlocker(self.row):
            self.scrubber.setValue(view.cursor.at)
            if not self.row.being_typed:
                self.row.setValue(view.row)
        self.scrubber.update()
        self.where.setText(f"{view.cursor.at} / {view.cursor.last}")

    def show_rows(self, rows: int) -> None:
        """Let rows 0 to `rows` - 1 be watched, and leave room for the largest count."""
        with QSignalBlocker(self.row):
            self.row.setRange(0, rows - 1)
        self._leave_room()

    def _leave_room(self) -> None:
        last = self.scrubber.maximum()
        self.leave_room(f"{last} / {last}")

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the icons and the scrubber, and leave room as its font needs it."""
        super().apply_theme(theme)
        self._leave_room()

    def _fill_breaks(self) -> None:
        menu = QMenu(self)
        menu.setAccessibleName("Breakpoints")
        menu.addSection("Stop playing when")
        for kind, title in BREAKS:
            action = menu.addAction(title)
            action.setCheckable(True)
            action.toggled.connect(self._tell_breaks)
            self._kinds[kind] = action
        menu.addSection("Threshold of α")
        group = QActionGroup(menu)
        for value in THRESHOLDS:
            action = menu.addAction(f"α < {value:g}")
            action.setCheckable(True)
            action.setChecked(value == 0.5)  # noqa: PLR2004 - the default of Breakpoints
            action.toggled.connect(self._tell_breaks)
            group.addAction(action)
            self._thresholds[value] = action
        self.breaks.setMenu(menu)
        self.breaks.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.breaks.setText("Break: off")
        self.breaks.setAccessibleName("Breakpoints")
        set_tip(self.breaks, "Where playing stops by itself")

    def _tell_breaks(self) -> None:
        count = sum(action.isChecked() for action in self._kinds.values())
        self.breaks.setText(f"Break: {count or 'off'}")
        self.breakpoints_changed.emit(self.breakpoints)

    def _connect(self) -> None:
        self.row.valueChanged.connect(self._tell_choice)
        self.follow.toggled.connect(self._tell_choice)

    def _tell_choice(self) -> None:
        """Watch a row; the one at its place in the block on show is told, where that is another."""
        asked = self.row.value()
        self.choice_changed.emit(RowChoice(asked, self.follow.isChecked()))
        shown = self.row.value()
        if shown != asked:
            where = f"which is in this block where row {asked} is in its own"
            remark(self.row, f"Row {shown} is watched, {where}: Follow is on.")
