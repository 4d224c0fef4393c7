"""What of a source file runs: without comments, docstrings and blank lines, which change nothing."""

import re
from functools import lru_cache

FILES_KEPT = 512  # a kernel's digest is asked for whenever it is shown

_SHORT = r""""(?:\\.|[^"\\\n])*\""""
_PYTHON = re.compile(
    rf"""(?P<long>{'"' * 3}[\s\S]*?{'"' * 3})|(?P<short>{_SHORT}|'(?:\\.|[^'\\\n])*')|(?P<comment>\#[^\n]*)"""
)
_CUDA = re.compile(rf"(?P<short>{_SHORT})|(?P<comment>//[^\n]*|/\*[\s\S]*?\*/)")
_GOES_ON = tuple("(,=[{+%\\")  # what a text that is a part of a statement comes behind


@lru_cache(FILES_KEPT)
def running(text: str, *, python: bool) -> str:
    """The lines of a file that say what it does.

    Args:
        text: Of a module of Python, or a CUDA source or header.
        python: Which of both. A text in three quotes that begins a statement is taken for a docstring.
    """
    bare = (_PYTHON if python else _CUDA).sub(_kept, text)
    return "\n".join(line.rstrip() for line in bare.splitlines() if line.strip())


def _kept(found: re.Match[str]) -> str:
    if found["comment"]:
        return ""
    if found.lastgroup != "long":
        return found[0]
    before = found.string[: found.start()]
    begins = not before.rpartition("\n")[2].strip() and not before.rstrip().endswith(_GOES_ON)
    return "" if begins else found[0]
