"""Words as a shell takes them: names of files and kernels hold whatever their makers liked."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from flashscope.profiles.wire.text import harmless

_QUOTED = {ord("'"): "\\'", ord("\\"): "\\\\"}


def shell_line(words: Sequence[str]) -> str:
    """Words as they are typed, on one line that shows all of them."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """A word as it is typed; what a line cannot show is written as bytes in octal (`$'...'`, POSIX 2024)."""
    if "\n" not in word and "\t" not in word and harmless(word) == word:
        return shlex.quote(word)
    return _in_octal(word)


def path_text(path: Path, encoding: str | None) -> str:
    """A path as a stream of this encoding can show it: as it is, or else as a shell takes it."""
    text = str(path)
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return _in_octal(text)
    return text if harmless(text) == text and "\n" not in text else _in_octal(text)


def _in_octal(text: str) -> str:
    return "$'" + "".join(map(_shown, os.fsencode(text))) + "'"


def _shown(byte: int) -> str:
    plain = chr(byte).isascii() and chr(byte).isprintable()
    return chr(byte).translate(_QUOTED) if plain else f"\\{byte:03o}"
