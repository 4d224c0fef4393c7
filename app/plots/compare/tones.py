"""The colour of a verdict; its glyph and word say the same."""

from flashscope.app.look.theme import Theme
from flashscope.app.words.results.verdicts import Tone


def tone_colour(tone: Tone, theme: Theme) -> str:
    """The colour on a theme's panel."""
    return {
        "good": theme.ok,
        "bad": theme.error,
        "doubt": theme.warn,
        "quiet": theme.dim,
        "plain": theme.text,
    }[tone]
