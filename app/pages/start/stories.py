"""The card of the stories that come with the program, and of the tour."""

from functools import partial

from PySide6.QtCore import Signal

from flashscope.app.stage.story import BUNDLED_STORIES
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import PlainLabel

WORDS = {
    "why-tiling-wins": "What memory and time do as N grows, on an H200",
    "online-softmax": "m, ℓ, α and O, block by block",
    "flash1-to-flash3": "What each version changed, and what it gained",
    "inside-flash3": "Where its time goes, as an H200 ran it",
}


class StoriesCard(Card):
    """A story a line, and the tour in the last one.

    Signals:
        action_requested: Do this (the action's key).
    """

    action_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__("Stories, for a stage or for yourself")
        self._words: list[PlainLabel] = []
        self.body.setSpacing(0)
        for name, title in BUNDLED_STORIES.items():
            self._offer(f"stage.story.{name}", title, f"Present: {title}", WORDS[name])
        self._offer("tour", "Take the tour", "Take the tour", "Five steps through this window")
        self.body.addStretch(1)

    def show_large(self, large: bool) -> None:
        """Say what each is about, where there is room for it."""
        for words in self._words:
            words.setVisible(large)

    def _offer(self, key: str, text: str, name: str, about: str) -> None:
        button = does(text_button(text, name, partial(self.action_requested.emit, key), "link"), key)
        button.setMinimumWidth(1)  # a long title makes no page wider
        words = PlainLabel(about, indent=6)
        words.setContentsMargins(0, 0, 0, 8)
        words.setProperty("role", "dim")
        words.hide()
        self._words.append(words)
        self.body.addWidget(button)
        self.body.addWidget(words)
