"""The line above the views of a place: their tabs, and what all of them share."""

from PySide6.QtWidgets import QBoxLayout, QWidget

from flashscope.app.widgets.frame.place_tabs import PlaceTabs
from flashscope.app.widgets.lines import Arranging, broken

MARGINS = 4, 0, 12, 0
SPACING = 12


class PlaceBar(Arranging):
    """The tabs, and to the right of them what is shared, or under them where there is no room beside.

    Attributes:
        tabs: The views of the place in front.
    """

    def __init__(self, tabs: PlaceTabs) -> None:
        super().__init__()
        self.tabs = tabs
        self._shared: dict[str, QWidget] = {}
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._line.setContentsMargins(*MARGINS)
        self._line.setSpacing(0)
        self._line.addWidget(tabs)

    def share(self, place: str, shared: QWidget) -> None:
        """Have this stand there whenever a view of a place is in front."""
        self._shared[place] = shared
        self._line.addWidget(shared, 1)

    def show_place(self, place: str) -> None:
        """Show what the views of this place share, which is nothing before a session is on show."""
        for key, shared in self._shared.items():
            shared.setVisible(key == place)
        self._arrange()

    def _arrange(self) -> None:
        room = self.width() - MARGINS[0] - MARGINS[2]
        lines = broken(
            [self.tabs, *self._shared.values()], lambda part: part.sizeHint().width(), SPACING, room
        )
        beside, under = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        direction = beside if len(lines) == 1 else under
        if direction != self._line.direction():
            self._line.setDirection(direction)
