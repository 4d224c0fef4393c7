"""Text from elsewhere, such as a name in a file, as it can be shown: not too long, and without control."""

import re

from flashscope.profiles.wire.text import harmless

MOST_SHOWN = 2_000  # characters of a label or a tool tip: laying out a million takes seconds
MOST_OF_NAME = 48  # on a button, in a list or in a legend, which are as wide as their text
MOST_DETAILS = 20_000  # where text can be scrolled

BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[kMGT]i?B|TB/s|GB/s|[TG]FLOP/s|[mµn]?s|[MG]Hz|W|J|mJ)(?!\w))")

EQUALS = re.compile(r"(?<=\b\w) (?== [\d−])|(?<=\b\w =) (?=[\d−])")
COUNTED = re.compile(r"(?<=\d) (?=tiles?\b)|(?<=\d×) (?=(?:faster|slower|less|more)\b)")


def unbroken(text: str) -> str:
    """The text with figures bound to their units, and letters to their values, for lines that may break."""
    for space in (BEFORE_UNIT, COUNTED, EQUALS):
        text = space.sub("\N{NO-BREAK SPACE}", text)
    return text


def cut_short(text: str, most: int = MOST_SHOWN) -> str:
    """The text, or its beginning and an ellipsis where it is longer than `most` characters.

    What would control the screen, such as turn the direction of what follows, becomes a visible mark.
    """
    return harmless(text if len(text) <= most else f"{text[: most - 1]}…")
