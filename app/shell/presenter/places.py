"""What was scrolled before a stage stands where it stood, once the window is there again."""

from PySide6.QtWidgets import QScrollBar, QWidget
from shiboken6 import isValid

from flashscope.app.shell.presenter.loading import Loading


class ScrollPlaces:
    """Keeps where the scroll bars of a window stand: on a stage nothing scrolls, and they go to their begin.

    Args:
        window: Whose.
        loading: Tells when what was on show before the stage is laid out.
    """

    def __init__(self, window: QWidget, loading: Loading) -> None:
        self._window, self._loading = window, loading
        self._kept: list[tuple[QScrollBar, int]] = []
        self._due = False
        loading.changed.connect(self._look)

    def keep(self) -> None:
        """Keep where they stand now; of those that have still to go back, where they will."""
        if not self._due:
            bars = self._window.findChildren(QScrollBar)
            self._kept = [(bar, bar.value()) for bar in bars if bar.value() != bar.minimum()]
        self._due = False

    def give_back(self) -> None:
        """Have them go back as soon as the window is there."""
        self._due = True

    def _look(self) -> None:
        if not self._due or self._loading.on:
            return
        self._due = False
        for bar, value in self._kept:
            if isValid(bar):
                bar.setValue(value)
        self._kept = []
