"""The kernels of a roofline, each a button that shows or hides its points."""

from collections.abc import Collection, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton

from app.look.theme import Theme
from app.plots.marks import legend_icon
from app.widgets.buttons import size_icon
from app.widgets.flowing import Flowing
from app.widgets.plain import button_text, set_tip


class Legend(Flowing):
    """Holds a button for each kernel.

    Attributes:
        hidden: The kernels that are not on show.

    Signals:
        changed: Others are hidden.
    """

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.hidden: Collection[str] = frozenset()
        self._theme = theme
        self._buttons: dict[str, QPushButton] = {}

    def show_kernels(self, kernels: Sequence[str]) -> None:
        """Offer these, all on show unless they are the ones that were offered before."""
        if tuple(kernels) == tuple(self._buttons):
            return
        self.hidden = frozenset()
        self._buttons = {kernel: self._button(kernel) for kernel in kernels}
        self.put(list(self._buttons.values()))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the marks."""
        self._theme = theme
        for kernel, button in self._buttons.items():
            button.setIcon(legend_icon(kernel, theme))

    def _button(self, kernel: str) -> QPushButton:
        button = QPushButton(button_text(kernel))
        button.setCheckable(True)
        button.setChecked(True)
        button.setProperty("role", "legend")
        button.setIcon(legend_icon(kernel, self._theme))
        size_icon(button, 13)
        set_tip(button, f"Show or hide {kernel}")
        button.toggled.connect(partial(self._toggle, kernel))
        return button

    def _toggle(self, kernel: str, shown: bool) -> None:
        self.hidden = frozenset(self.hidden) - {kernel} if shown else frozenset(self.hidden) | {kernel}
        self.changed.emit()
