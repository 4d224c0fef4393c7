"""The kernels of plots, each a button that shows or hides what is drawn of it, or shows it alone."""

from collections.abc import Collection, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QPushButton

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.plots.marks import legend_icon
from flashscope.app.widgets.buttons import size_icon
from flashscope.app.widgets.flowing import Flowing
from flashscope.app.widgets.plain import button_text, set_tip
from flashscope.app.words.glossary import with_line

TIP = "Click: show or hide {0}. Double-click: show {0} alone, and again all."


class KernelButton(QPushButton):
    """The button of one kernel.

    Signals:
        alone: It was double-clicked.
    """

    alone = Signal()

    def __init__(self, kernel: str) -> None:
        super().__init__(button_text(kernel))
        self.setCheckable(True)
        self.setChecked(True)
        self.setProperty("role", "legend")
        size_icon(self, 13)
        set_tip(self, with_line(kernel, TIP.format(kernel)))

    @guarded()
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Ask for this kernel alone; the first of the two clicks has hidden or shown it."""
        event.accept()
        self.alone.emit()


class Legend(Flowing):
    """Holds a button for each kernel.

    Attributes:
        hidden: The kernels that are not on show.
        touched: Whether the user has chosen which these are.

    Signals:
        changed: Others are hidden.
    """

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.hidden: Collection[str] = frozenset()
        self.touched = False
        self._theme = theme
        self._buttons: dict[str, KernelButton] = {}

    def show_kernels(self, kernels: Sequence[str]) -> None:
        """Offer these, all on show unless they are the ones that were offered before."""
        if tuple(kernels) == tuple(self._buttons):
            return
        self.hidden, self.touched = frozenset(), False
        self._buttons = {kernel: self._button(kernel) for kernel in kernels}
        self.put(list(self._buttons.values()))

    def hide_kernels(self, kernels: Collection[str]) -> None:
        """Hide these and no others; nothing is told of it."""
        self.hidden = frozenset(kernels) & self._buttons.keys()
        for kernel, button in self._buttons.items():
            button.blockSignals(True)
            button.setChecked(kernel not in self.hidden)
            button.blockSignals(False)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the marks."""
        self._theme = theme
        for kernel, button in self._buttons.items():
            button.setIcon(legend_icon(kernel, theme))

    def _button(self, kernel: str) -> KernelButton:
        button = KernelButton(kernel)
        button.setIcon(legend_icon(kernel, self._theme))
        button.toggled.connect(partial(self._toggle, kernel))
        button.alone.connect(partial(self._show_alone, kernel))
        return button

    def _toggle(self, kernel: str, shown: bool) -> None:
        self._choose(frozenset(self.hidden) - {kernel} if shown else frozenset(self.hidden) | {kernel})

    def _show_alone(self, kernel: str) -> None:
        """Show it alone, or all where it has been alone: the click before has hidden it then."""
        others = self._buttons.keys() - {kernel}
        self._choose(frozenset() if others and others <= set(self.hidden) else others)

    def _choose(self, hidden: Collection[str]) -> None:
        self.touched = True
        self.hide_kernels(hidden)
        self.changed.emit()
