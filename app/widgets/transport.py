"""Plays something: buttons of its actions, a scrubber, the place as a count, a speed."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QToolButton, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.widgets.buttons import icon_button, recolour
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.widgets.scrubber import Scrubber
from flashscope.app.widgets.wheel import ChoiceBox

GAP = 6  # pixels
PLAY, PAUSE = "fa6s.play", "fa6s.pause"


class TransportBar(Card):
    """The controls that two players share; each adds its own.

    Args:
        scrubber: Where one is.
        actions: What the buttons do, in their order.
        icons: Theirs by the same keys; the one that is PLAY turns into PAUSE while it plays.
        speeds: What can be chosen, 1.0 for 1x.

    Attributes:
        buttons: By the keys of the actions.
        where: The place in words.
        speed: The choice of the speed.

    Signals:
        sought: The scrubber went to another value.
        speed_chosen: Playing speed, 1.0 for 1x.
    """

    sought = Signal(int)
    speed_chosen = Signal(float)

    def __init__(
        self,
        scrubber: Scrubber,
        actions: Mapping[str, Action],
        icons: Mapping[str, str],
        speeds: Sequence[float],
    ) -> None:
        super().__init__()
        self.scrubber, self._icons, self._speeds = scrubber, icons, speeds
        self.buttons = {key: _button(icon, actions[key]) for key, icon in icons.items()}
        self.where = _Place("–")
        self.where.setProperty("role", "dim")
        self.speed = _speeds(speeds)
        self._playing = False
        scrubber.valueChanged.connect(self.sought)
        self.speed.currentIndexChanged.connect(lambda k: self.speed_chosen.emit(speeds[k]))

    def lay_out(self, *more: QWidget) -> None:
        """Put everything in a line, these at its end; to be called once."""
        motions = side_by_side(*self.buttons.values())
        seeking = side_by_side(self.scrubber, self.where)
        chosen = side_by_side(self.speed, *more)
        self.body.addWidget(Lines((motions, seeking, chosen), (seeking,), GAP))
        outer = self.layout()
        if outer is not None:
            outer.setContentsMargins(8, 4, 8, 4)
            outer.setSpacing(0)

    def leave_room(self, longest: str) -> None:
        """Let the place in words need no more room later on."""
        self.where.longest = longest
        self.where.measure()

    def show_playing(self, playing: bool) -> None:
        """Turn the play button into a pause button or back."""
        if playing != self._playing:
            self._playing = playing
            self._draw_icons()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the icons and the scrubber."""
        self.scrubber.apply_theme(theme)
        self._draw_icons()

    def _draw_icons(self) -> None:
        for key, button in self.buttons.items():
            icon = self._icons[key]
            button.setProperty("iconName", PAUSE if icon == PLAY and self._playing else icon)
            recolour(button, self.scrubber.theme)


class _Place(PlainLabel):
    """Words that need no more room later on than the longest of them, in whichever font."""

    longest = ""

    def measure(self) -> None:
        """Keep the room that they need."""
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance(self.longest) + 4)

    @guarded()
    def changeEvent(self, event: QEvent) -> None:
        """Measure again when the font has changed."""
        super().changeEvent(event)
        if self.longest and event.type() in {QEvent.Type.FontChange, QEvent.Type.StyleChange}:
            self.measure()


def side_by_side(*widgets: QWidget) -> QWidget:
    """Widgets that stay in one line."""
    box = QWidget()
    line = QHBoxLayout(box)
    line.setContentsMargins(0, 0, 0, 0)
    line.setSpacing(GAP)
    for widget in widgets:
        line.addWidget(widget)
    return box


def _speeds(speeds: Sequence[float]) -> QComboBox:
    box = ChoiceBox()
    box.addItems([f"{speed:g}×" for speed in speeds])
    box.setCurrentIndex(speeds.index(1.0))
    box.setAccessibleName("Playing speed")
    set_tip(box, "Playing speed")
    return box


def _button(icon: str, action: Action) -> QToolButton:
    return does(icon_button(icon, action.title, action.trigger), action.key)
