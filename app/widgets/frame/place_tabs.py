"""The views of the place in front, as tabs; a place with one view has none."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTabBar, QWidget

from flashscope.app.control.actions import ActionRegistry
from flashscope.app.widgets.plain import button_text, plain_tip
from flashscope.app.words.glossary import with_line


class Tab(NamedTuple):
    """A view as the tabs show it: its key, one or two words."""

    key: str
    title: str


class PlaceTabs(QTabBar):
    """Brings views of one place to the front.

    Args:
        registry: Knows the keys that do the same.

    Signals:
        chosen: Key of the view to show.
    """

    chosen = Signal(str)

    def __init__(self, registry: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._registry, self._tabs = registry, tuple[Tab, ...]()
        self.setObjectName("placeTabs")
        self.setAccessibleName("Views of this place")
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(True)
        self.currentChanged.connect(self._choose)

    def show_view(self, place: str, tabs: Sequence[Tab], key: str) -> None:
        """Mark a view of a place, whose tabs these are."""
        self.blockSignals(True)
        if tuple(tabs) != self._tabs:
            self._fill(tabs)
        self.setCurrentIndex(self.keys.index(key))
        self.blockSignals(False)
        self.setAccessibleName(f"Views of {place}")
        self.setVisible(len(tabs) > 1)

    @property
    def keys(self) -> list[str]:
        """The keys of the views on offer."""
        return [tab.key for tab in self._tabs]

    def _fill(self, tabs: Sequence[Tab]) -> None:
        self._tabs = tuple(tabs)
        while self.count():
            self.removeTab(0)
        for place, tab in enumerate(tabs):
            self.addTab(button_text(tab.title))
            action = self._registry.known(f"page.{tab.key}")
            keys = ", ".join(action.shown_keys) if action else ""
            keyed = f"{tab.title} ({keys})" if keys else ""
            self.setTabToolTip(place, plain_tip(with_line(tab.title, keyed)))

    def _choose(self, index: int) -> None:
        if 0 <= index < len(self._tabs):
            self.chosen.emit(self._tabs[index].key)
