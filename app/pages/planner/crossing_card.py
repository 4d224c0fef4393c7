"""The card of where a tiled kernel overtakes standard: as recorded, or found here."""

from PySide6.QtCore import Signal

from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import PlainLabel, button_text, set_tip

FIND, STOP = "Find it here", "Stop"
NAMES = {FIND: "Find by measuring where tiled overtakes standard", STOP: "Stop the search"}


class CrossingCard(Card):
    """Words, and the button that searches.

    Signals:
        pressed: Search, or stop that.
    """

    pressed = Signal()

    def __init__(self) -> None:
        super().__init__("Where tiled overtakes standard")
        self.recorded, self.found = PlainLabel(wordWrap=True), PlainLabel(wordWrap=True)
        self.button = does(text_button(FIND, NAMES[FIND], self.pressed.emit), "planner.find")
        self.recorded.setProperty("role", "dim")
        self.found.hide()
        self.header.addWidget(self.button)
        self.body.setSpacing(4)
        for part in (self.recorded, self.found):
            self.body.addWidget(part)

    def show_recorded(self, text: str) -> None:
        """What the session on show says."""
        self.recorded.setText(text)

    def show_found(self, text: str) -> None:
        """How the search goes, or what it found."""
        self.found.setText(text)
        self.found.setVisible(bool(text))

    def show_active(self, active: bool, missing: str) -> None:
        """Offer to stop while it searches, else to search or, in the tip, say what is in the way."""
        text = STOP if active else FIND
        self.button.setText(button_text(text))
        self.button.setAccessibleName(NAMES[text])
        self.button.setEnabled(active or not missing)
        set_tip(self.button, NAMES[text] if active else missing or NAMES[text])
