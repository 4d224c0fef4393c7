"""Playback: one step after another, at 0.25 to 8 times the normal speed."""

from PySide6.QtCore import QObject, QTimer, Signal

STEP_MS = 600  # at 1x
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


class Player(QObject):
    """A timer with a speed.

    Signals:
        ticked: Time for the next step.
        playing_changed: It started or stopped (bool).
    """

    ticked = Signal()
    playing_changed = Signal(bool)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setInterval(STEP_MS)
        self._timer.timeout.connect(self.ticked)

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self._timer.isActive()

    def set_speed(self, speed: float) -> None:
        """Play this many times as fast as 1x."""
        self._timer.setInterval(round(STEP_MS / speed))

    def set_playing(self, playing: bool) -> None:
        """Start or stop."""
        if playing == self.playing:
            return
        if playing:
            self._timer.start()
        else:
            self._timer.stop()
        self.playing_changed.emit(playing)
