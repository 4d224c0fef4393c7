"""C++ by its characters: where brackets close and statements end, whatever comments and strings hold."""

import re

from flashscope.kernels.cuda.reading.errors import SourceError

ASIDE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
CLOSING = {"(": ")", "[": "]", "{": "}"}


def bare(text: str) -> str:
    """The text with blanks in place of comments and strings, each character where it was."""
    return ASIDE.sub(lambda found: "\n".join(" " * len(line) for line in found[0].split("\n")), text)


def close_of(plain: str, at: int) -> int:
    """Where the bracket closes that opens here.

    Raises:
        SourceError: Nowhere.
    """
    end = end_of(plain, at + 1, "")
    if end == len(plain) or plain[end] != CLOSING[plain[at]]:
        raise SourceError(f"a bracket is not closed: {excerpt(plain, at)}")
    return end


def end_of(plain: str, at: int, stops: str) -> int:
    """The first of these characters from here on that no bracket holds, or what closes around it."""
    depth = 0
    for place in range(at, len(plain)):
        letter = plain[place]
        if letter in ")]}" or (depth == 0 and letter in stops):
            if depth == 0:
                return place
            depth -= 1
        elif letter in CLOSING:
            depth += 1
    return len(plain)


def start_of(plain: str, at: int, stops: str) -> int:
    """Behind the last of these characters before here that no bracket holds, or what opens around it."""
    depth = 0
    for place in range(at - 1, -1, -1):
        letter = plain[place]
        if letter in "([{" or (depth == 0 and letter in stops):
            if depth == 0:
                return place + 1
            depth -= 1
        elif letter in ")]}":
            depth += 1
    return 0


def excerpt(text: str, at: int) -> str:
    """The line around a place."""
    return text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0].strip()
