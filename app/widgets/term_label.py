"""A word on screen that says what it means."""

from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.glossary import line_of


class TermLabel(PlainLabel):
    """A label whose tip is its text's line in the glossary; one that is no term has no tip."""

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(text)
        set_tip(self, line_of(text))
