"""Lines that commands print: what was asked for on stdout, what happens meanwhile on stderr."""

import sys

KEPT = "\n\t"
_CONTROLS = {c: "\N{REPLACEMENT CHARACTER}" for c in (*range(32), *range(127, 160)) if chr(c) not in KEPT}


def say(text: str) -> None:
    """A line on stdout."""
    print(harmless(text))


def tell(text: str) -> None:
    """A line on stderr, at once."""
    sys.stderr.write(harmless(text) + "\n")
    sys.stderr.flush()


def harmless(text: str) -> str:
    """The text without control characters: from a file, they could move the cursor or rewrite the screen."""
    return text.translate(_CONTROLS)
