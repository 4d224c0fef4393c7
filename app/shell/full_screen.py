"""A window that fills the screen, also where no window manager makes it."""

from time import monotonic

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QScreen
from PySide6.QtWidgets import QWidget

from flashscope.app.control.guard import guarded

ANSWER_MS = 200  # in which a window manager makes a window as large as it was asked to
LATE_S = 2.0  # in which what it says may be of what was asked before
MOST_ASKED = 3  # times, before it has its way


class FullScreen(QObject):
    """Lets a window fill its screen, and be what it was again.

    A window manager does both. A bare X server does neither, and Qt soon says there that the window does not
    fill the screen: then this sees to it.

    Signals:
        filled: The window fills the screen and is laid out in it, or will not do so by itself.
    """

    filled = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._before = QRect()
        self._alone = False  # there is no window manager, and the window fills the screen
        self._wanted = False
        self._asked_s, self._asked = float("-inf"), 0  # when that was asked first, and how often
        self._check = QTimer(self, interval=ANSWER_MS, singleShot=True)
        self._check.timeout.connect(self._fill)
        self._back = QTimer(self, interval=ANSWER_MS, singleShot=True)
        window.installEventFilter(self)

    @property
    def on(self) -> bool:
        """Whether the window fills the screen, or soon does: what was asked last, until it is late."""
        return self._alone or (self._wanted if self._waits else self._window.isFullScreen())

    @property
    def _waits(self) -> bool:
        """Whether the window manager may still answer what was asked before."""
        return monotonic() - self._asked_s < LATE_S

    @property
    def turning(self) -> bool:
        """Whether the window is still to be told that it fills the screen, or does no more."""
        waited = self._back if self._window.size() == self._window.screen().size() else self._check
        return waited.isActive()

    def toggle(self, screen: QScreen | None = None) -> None:
        """Fill the screen, another one if it is named, or leave it."""
        if self.on:
            self._leave()
            return
        self._before = self._window.geometry()
        if screen is not None:
            self._window.setGeometry(screen.geometry())
        self._ask(wanted=True)
        self._back.stop()
        self._check.start()

    def stand_as(self, size: QSize) -> None:
        """Be of this size in place of the screen's, whatever was asked before: for a picture."""
        self._asked_s = float("-inf")
        self._check.stop()
        self._window.showNormal()
        self._window.resize(size)

    def _leave(self) -> None:
        self._check.stop()
        self._back.start()
        self._ask(wanted=False)
        if self._alone:
            self._alone = False
            self._window.setGeometry(self._before)

    def _ask(self, *, wanted: bool) -> None:
        self._wanted, self._asked_s, self._asked = wanted, monotonic(), 0
        self._say()

    def _say(self) -> None:
        self._asked += 1
        full, state = Qt.WindowState.WindowFullScreen, self._window.windowState()
        self._window.setWindowState(state | full if self._wanted else state & ~full)

    def _ask_again(self) -> None:
        """Qt forgets what is asked while it believes that it is so, as it does before the last answer."""
        astray = self._window.isFullScreen() is not self._wanted and not self._alone
        if astray and self._waits and self._asked < MOST_ASKED:
            self._say()

    def _fill(self) -> None:
        screen = self._window.screen().geometry()
        if self._window.size() != screen.size():
            self._alone = True
            self._window.setGeometry(screen)
        self.filled.emit()

    @guarded(bool)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tell of the window manager's answer, once what is in the window has its size, and heed it."""
        answered = event.type() == QEvent.Type.Resize and self._check.isActive()
        if answered and self._window.size() == self._window.screen().size():
            QTimer.singleShot(0, self.filled.emit)
        if event.type() == QEvent.Type.WindowStateChange:
            QTimer.singleShot(0, self._ask_again)
        return super().eventFilter(watched, event)
