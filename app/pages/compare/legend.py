"""The kernels of a comparison: a click on a name hides its lines."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QPushButton

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, px
from flashscope.app.plots.marks import legend_icon
from flashscope.app.widgets.flowing import Flowing
from flashscope.app.widgets.plain import button_text, set_tip
from flashscope.app.words.glossary import with_line

ICON_PX = 14


class KernelLegend(Flowing):
    """One button a kernel.

    Signals:
        toggled: A kernel is to be shown or hidden (str, bool).
    """

    toggled = Signal(str, bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._buttons: dict[str, QPushButton] = {}
        ZOOM.changed.connect(self._recolour)

    @property
    def shown(self) -> tuple[str, ...]:
        """The kernels that are not hidden."""
        return tuple(kernel for kernel, button in self._buttons.items() if button.isChecked())

    def show_kernels(self, kernels: Sequence[str], hidden: Collection[str]) -> None:
        """Name these, those that are hidden faintly."""
        if tuple(kernels) != tuple(self._buttons):
            self._make(kernels)
        for kernel, button in self._buttons.items():
            button.setChecked(kernel not in hidden)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the marks."""
        self._theme = theme
        self._recolour()

    def _make(self, kernels: Sequence[str]) -> None:
        self._buttons = {kernel: self._button(kernel) for kernel in kernels}
        self.put(list(self._buttons.values()))
        self._recolour()

    def _button(self, kernel: str) -> QPushButton:
        button = QPushButton(button_text(kernel))
        button.setCheckable(True)
        button.setProperty("role", "legend")
        button.setAccessibleName(f"Show {kernel}")
        set_tip(button, with_line(kernel, "Click to hide or show its lines"))
        button.clicked.connect(lambda shown: self.toggled.emit(kernel, shown))
        return button

    def _recolour(self) -> None:
        for kernel, button in self._buttons.items():
            button.setIcon(legend_icon(kernel, self._theme))
            button.setIconSize(QSize(px(ICON_PX), px(ICON_PX)))
        self.fit()
