"""The queue as a list: the sweep that runs on top, then what waits, in the order in which it will begin."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.control.queue import QueuedSweep
from flashscope.app.control.queue_edits import cancel_all, take_out
from flashscope.app.look.zoom import keep, px
from flashscope.app.widgets.buttons import DialogButtons, text_button
from flashscope.app.widgets.focus_home import FocusHome
from flashscope.app.widgets.pick_list import ASIDE_ROLE, AsideDelegate
from flashscope.app.widgets.plain import PlainLabel, plain_tip, set_tip
from flashscope.app.words.results.progress import count_text, left_text
from flashscope.app.words.results.queueing import estimate_words, in_all, sweep_words, total_words
from flashscope.profiles.results.model.time_left import seconds_left

SIZE = 680, 420  # pixels at 100 %
TICK_MS = 500
NOTHING_RUNS = "Nothing runs."
NOTHING_WAITS = "Nothing waits. A sweep that you run while another one runs waits here."
KEPT = "The queue lasts as long as this window: what waits when it is closed is not kept."
KEYS = {"Move up": "Alt+Up", "Move down": "Alt+Down", "Take out": "Del"}


class QueueSheet(FocusHome, QDialog):
    """Follows the queue while it is open; beside it the window can be used.

    Args:
        controller: Has the queue, and the sweep that runs.
        parent: The window.

    Attributes:
        list: What waits.
        cancel, go_on, up, down, out, all: What can be done with the sweep that runs, and with what waits.
    """

    def __init__(self, controller: Controller, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Queue of sweeps")
        self._controller, self._queue = controller, controller.queue
        self._shown: tuple[QueuedSweep, ...] = ()
        self._make_parts()
        self._lay_out()
        self.resize(min(px(SIZE[0]), parent.width()), min(px(SIZE[1]), parent.height()))
        timer = QTimer(self, interval=TICK_MS)
        timer.timeout.connect(self._show_times)
        timer.start()
        self._queue.changed.connect(self.refresh)
        controller.running_changed.connect(self.refresh)
        self.refresh()
        self.list.setFocus()

    @property
    def focus_home(self) -> QListWidget:
        """The list."""
        return self.list

    def _make_parts(self) -> None:
        self.running, self.progress, self.stopped = (PlainLabel() for _ in range(3))
        self.running.setWordWrap(True)
        self.progress.setProperty("role", "dim")
        self.stopped.setProperty("role", "warn")
        self.stopped.setWordWrap(True)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName("Progress of the sweep that runs")
        keep(self.bar, self.bar.setFixedSize, 120, 6)
        self.total = PlainLabel()
        self.total.setProperty("role", "unit")
        self.empty = PlainLabel(NOTHING_WAITS)
        self.empty.setProperty("role", "dim")
        self.list = WaitingList()
        self.list.moved.connect(self.move_by)
        self.list.left.connect(self.take_out)
        self.list.currentRowChanged.connect(lambda _row: self._enable())
        self.cancel = text_button("Cancel", "Cancel the sweep that runs", self._controller.cancel)
        set_tip(self.cancel, "Cancel this sweep; the next one begins")
        self.go_on = text_button("Go on", "Go on with the queue", self._queue.go_on, "primary")
        self.up = self._of_chosen("Move up", lambda: self.move_by(-1))
        self.down = self._of_chosen("Move down", lambda: self.move_by(1))
        self.out = self._of_chosen("Take out", self.take_out)
        self.all = text_button(
            "Cancel all", "Cancel the sweep and all that wait", lambda: cancel_all(self._controller)
        )
        edits = self._controller.edits
        for keys, act in (("Ctrl+Z", edits.undo), ("Ctrl+Shift+Z", edits.redo)):
            QShortcut(QKeySequence(keys), self).activated.connect(act)

    @staticmethod
    def _of_chosen(text: str, act: Callable[[], None]) -> QPushButton:
        """A button for the chosen row, whose key its tip names."""
        button = text_button(text, f"{text}: the chosen sweep", act)
        set_tip(button, f"{text} ({KEYS[text]})")
        return button

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setSpacing(8)
        column.addWidget(_caption("Running"))
        now = QHBoxLayout()
        now.addWidget(self.running, 1)
        now.addWidget(self.cancel, alignment=Qt.AlignmentFlag.AlignTop)
        column.addLayout(now)
        told = QHBoxLayout()
        for widget in (self.bar, self.progress):
            told.addWidget(widget)
        told.addStretch(1)
        column.addLayout(told)
        halted = QHBoxLayout()
        halted.addWidget(self.stopped, 1)
        halted.addWidget(self.go_on)
        column.addLayout(halted)
        heading = QHBoxLayout()
        heading.addWidget(_caption("Waiting"))
        heading.addStretch(1)
        heading.addWidget(self.total)
        column.addLayout(heading)
        column.addWidget(self.empty)
        column.addWidget(self.list, 1)
        column.addLayout(self._footer())

    def _footer(self) -> QVBoxLayout:
        buttons = QHBoxLayout()
        for button in (self.up, self.down, self.out):
            buttons.addWidget(button)
        buttons.addStretch(1)
        buttons.addWidget(self.all)
        close = DialogButtons(QDialogButtonBox.StandardButton.Close)
        close.rejected.connect(self.reject)
        buttons.addWidget(close)
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)
        kept = PlainLabel(KEPT)
        kept.setProperty("role", "unit")
        kept.setWordWrap(True)
        footer = QVBoxLayout()
        footer.addLayout(buttons)
        footer.addWidget(kept)
        return footer

    def refresh(self, *_: object) -> None:
        """Show what runs and waits now; the chosen sweep stays chosen, wherever it stands."""
        if self._queue.entries != self._shown:
            self._fill(self._queue.entries)
        stopped, waits_for = self._queue.stopped, self._queue.waits_for
        self.stopped.setText(f"The queue has stopped: {stopped}" if stopped else f"It waits: {waits_for}")
        self.stopped.setVisible(bool(stopped or waits_for))
        self.go_on.setVisible(bool(stopped))
        self.empty.setVisible(not self._shown)
        self._show_times()
        self._enable()

    def move_by(self, by: int) -> None:
        """Move the chosen sweep up (by < 0) or down."""
        entry = self._chosen
        if entry is not None:
            self._queue.move(entry.number, by)

    def take_out(self) -> None:
        """Let the chosen sweep wait no more; it can be undone."""
        entry = self._chosen
        if entry is not None:
            take_out(self._controller, [entry])

    @property
    def _chosen(self) -> QueuedSweep | None:
        row = self.list.currentRow()
        return self._shown[row] if 0 <= row < len(self._shown) else None

    def _fill(self, entries: tuple[QueuedSweep, ...]) -> None:
        chosen, row = self._chosen, self.list.currentRow()
        self._shown = entries
        self.list.clear()
        for entry in entries:
            item = QListWidgetItem(entry.left_told)
            item.setData(Qt.ItemDataRole.ToolTipRole, plain_tip(entry.left_told))
            self.list.addItem(item)
        numbers = [entry.number for entry in entries]
        same = numbers.index(chosen.number) if chosen is not None and chosen.number in numbers else row
        self.list.setCurrentRow(min(max(same, 0), len(entries) - 1))

    def _show_times(self) -> None:
        """How far the sweep is that runs, and how long each is to take."""
        controller, session = self._controller, self._controller.sweep
        self._show_running()
        for row, entry in enumerate(self._shown):
            item, told = self.list.item(row), estimate_words(self._queue.seconds(entry))
            item.setData(ASIDE_ROLE, told)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{entry.left_told}, {told}")
        total = total_words(self._queue.estimates(session, controller.sweep_now_ns)) if self._shown else ""
        self.total.setText(in_all(total) if controller.measuring else total)

    def _show_running(self) -> None:
        measuring, session = self._controller.measuring, self._controller.sweep
        entry = self._queue.running
        for widget in (self.cancel, self.bar, self.progress):
            widget.setVisible(measuring)
        if not measuring:
            self.running.setText(NOTHING_RUNS)
            return
        words = sweep_words(session.plan) if session is not None else "A sweep is starting."
        self.running.setText(words if entry is None else entry.told)
        if session is not None:
            left = seconds_left(session, self._controller.sweep_now_ns)
            self.bar.setMaximum(session.plan.cells)
            self.bar.setValue(session.ended_points)
            more = "" if left is None else f" · {left_text(left)} left"
            self.progress.setText(f"{count_text(session)}{more}")

    def _enable(self) -> None:
        row, last = self.list.currentRow(), len(self._shown) - 1
        self.up.setEnabled(row > 0)
        self.down.setEnabled(0 <= row < last)
        self.out.setEnabled(0 <= row <= last)
        self.all.setEnabled(bool(self._shown))


class WaitingList(QListWidget):
    """What waits, a row each, with its time at the right.

    Signals:
        moved: The chosen row is to move up (-1) or down (1).
        left: It is to be taken out.
    """

    moved = Signal(int)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Sweeps that wait")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(AsideDelegate(self))

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete takes the chosen row out; with Alt the arrows move it."""
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.key() == Qt.Key.Key_Delete:
            self.left.emit()
        elif event.modifiers() & Qt.KeyboardModifier.AltModifier and event.key() in steps:
            self.moved.emit(steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)


def _caption(text: str) -> PlainLabel:
    label = PlainLabel(text)
    label.setProperty("role", "caption")
    return label
