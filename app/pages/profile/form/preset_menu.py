"""The presets of the form as a menu: the user's own, built-in ones, and what can be done with them."""

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtWidgets import QMenu, QPushButton

from flashscope.app.control.presets import OwnPreset, Presets
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.menus import pop_up
from flashscope.app.widgets.plain import button_text, set_tip
from flashscope.profiles.plan.presets import PRESETS

Act = Callable[[OwnPreset], object]
NONE_YET = "None of your own yet"
UNREADABLE = "Your presets cannot be read: why?"
TIP = "Fill the form from a preset, or keep what it says as one"


class PresetButton(QPushButton):
    """Opens the menu.

    Args:
        presets: The user's own.

    Signals:
        chosen: Fill the form from this one (OwnPreset).
        built_in: Run this one (str).
        save_wanted: Keep what the form says.
        unreadable: Tell why the file of the presets cannot be read (str).
        rename_wanted, delete_wanted: This one is to have another name, or to go (str).
    """

    chosen = Signal(object)
    built_in = Signal(str)
    save_wanted = Signal()
    unreadable = Signal(str)
    rename_wanted = Signal(str)
    delete_wanted = Signal(str)

    def __init__(self, presets: Presets) -> None:
        super().__init__("Presets …")
        self._presets = presets
        self.setAccessibleName("Presets of the form")
        self.setProperty("role", "link")
        does(self, "profile.presets")
        set_tip(self, TIP)
        self.clicked.connect(self.open)

    def open(self) -> None:
        """Show the menu under the button."""
        pop_up(self.menu_now(), self.mapToGlobal(self.rect().bottomLeft()))

    def menu_now(self) -> QMenu:
        """The menu as the presets are now; what is wrong with one stands in its tip."""
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        own, trouble = self._presets.all()
        self._offer(menu, own, self.chosen.emit, usable=True)
        if trouble:
            menu.addAction(UNREADABLE).triggered.connect(lambda _checked=False: self.unreadable.emit(trouble))
        elif not own:
            menu.addAction(NONE_YET).setEnabled(False)
        menu.addSeparator()
        menu.addAction("Save what the form says …").triggered.connect(self.save_wanted)
        for title, signal in (("Rename", self.rename_wanted), ("Delete", self.delete_wanted)):
            submenu = menu.addMenu(title)
            submenu.setEnabled(bool(own))
            self._offer(submenu, own, partial(_emit_name, signal), usable=False)
        built_in = menu.addMenu("Run a built-in one")
        for name, preset in PRESETS.items():
            line = built_in.addAction(f"{name}: {preset.about}")
            line.triggered.connect(lambda _checked=False, name=name: self.built_in.emit(name))
        return menu

    @staticmethod
    def _offer(menu: QMenu, presets: Iterable[OwnPreset], act: Act, *, usable: bool) -> None:
        """A line for each; one without a request is not usable, it can only be renamed and deleted."""
        for preset in presets:
            runs = f"  ({preset.runs} runs)" if preset.runs > 1 else ""
            line = menu.addAction(f"{button_text(preset.name)}{runs}")
            line.setEnabled(preset.request is not None or not usable)
            why = f"It cannot be used: {preset.reason}." if preset.reason else ""
            set_tip(line, why or preset.name)
            line.triggered.connect(lambda _checked=False, preset=preset: act(preset))


def _emit_name(signal: SignalInstance, preset: OwnPreset) -> None:
    signal.emit(preset.name)
