"""The screen that the audience sees: which it is, how large everything is on it, and that it stays on."""

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QWidget

from flashscope.app.control.appearance import Appearance
from flashscope.app.control.settings import SCALES, Settings
from flashscope.app.shell.full_screen import FullScreen
from flashscope.app.shell.presenter.awake import Awake

HEIGHT = 900  # pixels of the highest screen on which LEAST is large enough for row 30
LEAST = SCALES[-1]  # percent: the smallest text has 20 pt then, the thinnest curve 3 pixels


class Venue(QObject):
    """Lets a window fill the audience's screen, in a size that can be read from afar.

    Attributes:
        turning: Whether the window and everything in it is on its way into its size.

    Signals:
        settled: The window is in its size.
    """

    settled = Signal()

    def __init__(
        self, window: QWidget, full_screen: FullScreen, appearance: Appearance, settings: Settings
    ) -> None:
        super().__init__(window)
        self._window, self._full_screen = window, full_screen
        self._appearance, self._settings = appearance, settings
        self._awake = Awake()
        self._filled_before = False
        self._awaited: int | None = None  # percent, once the window fills the screen
        self.turning = False
        appearance.changed.connect(self._settle)
        full_screen.filled.connect(self._go_on)

    def _settle(self) -> None:
        self.turning = self._awaited is not None
        if not self.turning:
            self.settled.emit()

    def _go_on(self) -> None:
        """Make everything large: it takes long, and nothing is painted meanwhile."""
        percent, self._awaited = self._awaited, None
        if percent is not None:
            self._zoom(percent)
            if not self.turning:
                self.settled.emit()

    @property
    def filling(self) -> bool:
        """Whether the window is on its way to fill the screen, or back."""
        return self._full_screen.turning

    @property
    def screens(self) -> tuple[QScreen, QScreen]:
        """The audience's and the speaker's; the same where there is one alone."""
        speaker = QGuiApplication.primaryScreen()
        others = [screen for screen in QGuiApplication.screens() if screen is not speaker]
        return (others[0] if others else speaker), speaker

    @property
    def speaker_apart(self) -> bool:
        """Whether the speaker has a screen that the audience does not see."""
        audience, speaker = self.screens
        return audience is not speaker

    def place(self, notes: QWidget) -> None:
        """Put the speaker's window on the speaker's screen."""
        _, speaker = self.screens
        room = speaker.availableGeometry()
        notes.setGeometry(
            room.adjusted(*(room.width() // 8, room.height() // 8), -room.width() // 8, -room.height() // 8)
        )
        notes.show()

    def take(self) -> None:
        """Fill the audience's screen, and then be large."""
        audience, speaker = self.screens
        self._filled_before = self._full_screen.on
        self._awake.begin()
        if not self._filled_before:
            self._full_screen.toggle(audience if audience is not speaker else None)
        height = (audience if audience is not speaker else self._window.screen()).geometry().height()
        self._awaited, self.turning = zoom_on(height), True
        if self._filled_before or not self._full_screen.turning:
            self._go_on()

    def stand_as(self, size: QSize) -> None:
        """Be of this size in place of the audience's screen's: for a picture."""
        self._full_screen.stand_as(size)

    def give_back(self) -> None:
        """Make the window what it was before."""
        self._awaited = None
        self._awake.end()
        if self._full_screen.on and not self._filled_before:
            self._full_screen.toggle()
        self._zoom(self._settings.scale)

    def _zoom(self, percent: int) -> None:
        self._appearance.zoom(percent)
        self.turning = self._appearance.turning


def zoom_on(height: int) -> int:
    """How large everything is on a screen of so many pixels of height, in percent."""
    return round(LEAST * max(1, height / HEIGHT))
