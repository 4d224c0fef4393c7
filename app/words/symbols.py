"""The letters of the online softmax on screen: m, ℓ, α and O, one way everywhere."""

import re

IN_ASCII = {"ℓ": "l", "α": "alpha"}
_LONE_L = re.compile(r"(?<![\w'’.-])l(?![\w'’.-])")


def scripted(text: str) -> str:
    """A text in which the running sum, a lone l, is the script one, unlike any 1 or I."""
    return _LONE_L.sub("ℓ", text)


def spelled(text: str, encoding: str | None) -> str:
    """A text with those letters written out that a terminal's encoding lacks; None: it has all."""
    for letter, plain in IN_ASCII.items():
        if letter in text and not _has(encoding or "utf-8", letter):
            text = text.replace(letter, plain)
    return text


def _has(encoding: str, letter: str) -> bool:
    try:
        letter.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
