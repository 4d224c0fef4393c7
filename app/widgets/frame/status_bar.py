"""The bottom line: what runs, how far, how long still, the device's state and the file; or a message."""

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.control.presence import STATES, Presence
from flashscope.app.look.zoom import keep, px
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.frame.error_line import ErrorLine
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.widgets.term_label import TermLine
from flashscope.app.words.results.progress import (
    NS,
    count_text,
    device_state_text,
    elapsed_text,
    job_text,
    left_text,
    memory_text,
    outcome_text,
)
from flashscope.app.words.results.queueing import in_all, total_words, waiting_words
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.model.time_left import seconds_left
from flashscope.profiles.wire.events import Reading

TICK_MS = 500
ROOMY, WIDE = 900, 1400  # widths of the bar in pixels
FILE_PX, MOST_PX = 180, 480  # widths of the file's name


class StatusBar(QFrame):
    """Reads the controller twice a second, not at every event: that would repaint it far too often.

    A message stands in it, in place of all but how far a sweep is: a line of its own would make the page
    lower, and paint every plot of it anew.

    Signals:
        queue_wanted: Show what waits.
    """

    queue_wanted = Signal()

    def __init__(
        self, controller: Controller, presence: Presence, errors: ErrorLine, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("statusBar")
        self._controller, self._presence, self._errors = controller, presence, errors
        self.job = TermLine()
        self.count, self.elapsed, self.left = (PlainLabel() for _ in range(3))
        self.device, self.memory = ElidedLabel(), PlainLabel()
        self.file = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self.bar = QProgressBar(textVisible=False)
        keep(self.bar, self.bar.setFixedSize, 120, 6)
        self.bar.setAccessibleName("Progress of the sweep")
        self.queue = does(
            text_button("", "Show the queue of sweeps", self.queue_wanted.emit, "link"), "queue"
        )
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(16, 2, 16, 2)
        row.setSpacing(16)
        for shown in (self.job, self.bar, self.count, self.elapsed, self.left, self.queue):
            row.addWidget(shown)
        row.addWidget(errors, 1)
        row.addStretch()
        for widget in (self.device, self.memory, self.file):
            row.addWidget(widget)
        for label in (self.count, self.elapsed, self.left, self.device, self.memory, self.file):
            label.setProperty("role", "dim")
        keep(self, self._share_room)
        timer = QTimer(self, interval=TICK_MS)
        timer.timeout.connect(self.refresh)
        timer.start()
        controller.running_changed.connect(lambda _running: self.refresh())
        controller.session_changed.connect(lambda _session: self.refresh())
        controller.queue.changed.connect(self.refresh)
        presence.changed.connect(self.refresh)
        errors.turned.connect(self._share_room)
        self.refresh()

    @guarded(QSize)
    def sizeHint(self) -> QSize:
        """As high as a message, whether there is one or not."""
        return self._with_message(super().sizeHint())

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """As high as a message, like `sizeHint`."""
        return self._with_message(super().minimumSizeHint())

    def _with_message(self, size: QSize) -> QSize:
        around = self.contentsMargins() + self._row.contentsMargins()
        return size.expandedTo(QSize(0, self._errors.sizeHint().height()).grownBy(around))

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where room is short, hide what is not about the sweep, and shorten the file's name."""
        super().resizeEvent(event)
        self._share_room()

    def _share_room(self) -> None:
        alone = self._errors.isHidden()
        for words in (self.job, self.elapsed, self.left):
            words.setVisible(alone)
        self.count.setVisible(alone or not self.bar.isHidden())
        self.queue.setVisible(bool(self._controller.queue.entries))
        self._show_queue()
        for label in (self.device, self.memory, self.file):
            label.setVisible(alone and self.width() >= px(ROOMY))
        self.file.setMaximumWidth(px(FILE_PX if self.width() < px(WIDE) else MOST_PX))

    def refresh(self) -> None:
        """Show the controller's state as it is now."""
        controller, session = self._controller, self._told
        self.bar.setVisible(controller.running and session is not None)
        self._share_room()
        if session is None:
            self.job.setText("Starting the sweep" if controller.running else "Ready")
            for told in (self.count, self.elapsed, self.left) if not controller.running else ():
                told.setText("")  # of a version of a watched kernel, which is not on show
        else:
            self._show_session(session)
        self._show_device()
        self.file.setText(self._file_text())

    @property
    def _told(self) -> Session | None:
        """What runs, or else what is on show."""
        controller = self._controller
        return controller.sweep if controller.measuring else controller.session

    def _file_text(self) -> str:
        path, running = self._controller.path, self._controller.moving and not self._controller.replaying
        if path is None:
            return ""
        if self._presence.state != "there":
            return f"file {STATES[self._presence.state]}"
        return f"{'autosaved' if running else 'file'} · {path.name}"

    def _show_session(self, session: Session) -> None:
        running = self._controller.running
        self.bar.setMaximum(session.plan.cells)
        self.bar.setValue(session.ended_points)
        self.count.setText(count_text(session))
        self.job.setText(job_text(session) if running else outcome_text(session))
        elapsed = self._elapsed(session)
        self.elapsed.setText(f"elapsed {elapsed_text(elapsed)}" if elapsed >= 1 else "")
        measured = running and not self._controller.replaying
        left = seconds_left(session, self._controller.sweep_now_ns) if measured else None
        self.left.setText("" if left is None else f"{left_text(left)} left")

    def _elapsed(self, session: Session) -> float:
        ends = [s.ended_ns for s in session.points if s.ended_ns is not None]
        last = session.ended_ns or max(ends, default=session.t0_ns)
        now = self._controller.now_ns
        return ((last if now is None else now) - session.t0_ns) / NS

    def _show_queue(self) -> None:
        queue = self._controller.queue
        if queue.entries:
            total = total_words(queue.estimates(self._controller.sweep, self._controller.sweep_now_ns))
            waits = waiting_words(queue.waiting)
            if queue.stopped:
                waits = f"queue stopped, {waits}"
            elif self.width() >= px(ROOMY):
                waits = f"{waits}, {in_all(total)}"
            self.queue.setText(waits)
            set_tip(self.queue, queue.stopped or "\n".join(entry.left_told for entry in queue.entries))

    def _show_device(self) -> None:
        controller = self._controller
        reading: Reading | None = controller.live_readings[-1] if controller.live_readings else None
        here = "" if session_is_here(controller) else "this machine: "
        self.device.setText(
            f"{here}{device_state_text(reading)}" if reading and device_state_text(reading) else ""
        )
        total = controller.telemetry.memory_total if controller.telemetry else None
        used = memory_text(reading, total) if reading else ""
        self.memory.setText(f"{'' if self.device.text() else here}memory {used}" if used else "")


def session_is_here(controller: Controller) -> bool:
    """Whether what is on show was measured on this machine, as far as that is known, or nothing is."""
    session, machine = controller.session, controller.machine
    if session is None or machine is None:
        return True
    return session.machine.device(session.backend) == machine.device(session.backend)
