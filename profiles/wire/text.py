"""Text for people: lists in sentences; what UTF-8 can hold, and what a terminal only shows."""

from collections.abc import Sequence

_KEPT = "\n\t"
_CONTROLS = (
    *range(32),
    *range(0x7F, 0xA0),
    *(0x061C, 0x200E, 0x200F),  # these and the next turn the direction of what is beside them
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    *range(0xD800, 0xE000),  # halves of a character
    0xFFFE,
    0xFFFF,
)
_HARMLESS = {c: "\N{REPLACEMENT CHARACTER}" for c in _CONTROLS if chr(c) not in _KEPT}
_ESCAPED = {c: f"\\u{c:04x}" for c in _CONTROLS[32:]}  # JSON has escaped the first 32


def listed(texts: Sequence[str], between: str = ", ") -> str:
    """Texts as a list in a sentence: `a, b and c`."""
    return " and ".join(filter(None, (between.join(texts[:-1]), *texts[-1:])))


def harmless(text: str) -> str:
    """The text without control characters: they could rewrite a screen, and no XML may hold them."""
    return text.translate(_HARMLESS)


def harmless_json(document: str) -> str:
    """A JSON document that means the same and holds no control characters."""
    return document.translate(_ESCAPED)


def in_utf8(text: str) -> str:
    """The text with what UTF-8 cannot hold, as of a file's name in other bytes, written as an escape."""
    return text.encode("utf-8", "backslashreplace").decode()
