"""C++ whose choices the defines have made: `A ? x : y`, `if (A)`, `if constexpr (A)`, macros that drop all.

A condition is resolved where it asks for defines alone; one that also asks for what the compiler or the GPU
knows stays as it is written.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from kernels.cuda.reading.errors import SourceError
from kernels.cuda.reading.expression import is_known, value_of
from kernels.cuda.reading.scan import bare, close_of, end_of, excerpt, start_of

IF = re.compile(r"\bif\s*(?:constexpr\s*)?(?=\()")
ELSE = re.compile(r"\s*\belse\b\s*")
NO_SIMPLE_STATEMENT = re.compile(r"(?:if|for|while|do|switch|else|try)\b")
INDENT = " " * 4


class Edit(NamedTuple):
    """Other text for a part of a source."""

    start: int
    end: int
    text: str


Finder = Callable[[str, str], Iterator[Edit]]


def without_choices(text: str, known: Mapping[str, int], kept: Mapping[str, bool]) -> str:
    """The source with what its choices come to; `kept` are variadic macros that keep their arguments or none.

    Raises:
        SourceError: A statement is not understood; the text has its line.
    """
    finders: tuple[Finder, ...] = (
        lambda source, plain: _macros(source, plain, kept),
        lambda source, plain: _ternaries(source, plain, known),
        lambda source, plain: _ifs(source, plain, known),
    )
    for finder in finders:
        while (edit := next(finder(text, bare(text)), None)) is not None:
            text = _edited(text, edit)
    return text


def _edited(text: str, edit: Edit) -> str:
    """The text with the edit; a line that has nothing left goes, and blanks before what closes."""
    before, after = text[: edit.start], text[edit.end :]
    if not edit.text:
        line = before[before.rfind("\n") + 1 :]
        if not line.strip() and after[:1] == "\n":
            return before[: len(before) - len(line)] + after[1:]
    if edit.text[:1] in {"", ",", ")"} and after[:1] in {")", ","}:
        before = before.rstrip(" ")
    return before + edit.text + after


def _macros(text: str, plain: str, kept: Mapping[str, bool]) -> Iterator[Edit]:
    for name, keeps in kept.items():
        for found in re.finditer(rf"\b{name}(?=\()", plain):
            if not text[text.rfind("\n", 0, found.start()) + 1 :].lstrip().startswith("#"):
                end = close_of(plain, found.end())
                arguments = text[found.end() + 1 : end] if keeps else ""
                start = found.start() - (arguments[:1] == "," and plain[found.start() - 1] == " ")
                yield Edit(start, end + 1, arguments)


def _ternaries(text: str, plain: str, known: Mapping[str, int]) -> Iterator[Edit]:
    for mark in re.finditer(r"\?", plain):
        at = mark.start()
        start = _start_of_condition(plain, at)
        condition = plain[start:at]
        if is_known(condition, known):
            colon = _colon(plain, at + 1)
            end = _end_of_other(plain, colon + 1)
            taken = (at + 1, colon) if value_of(condition, known.__getitem__) else (colon + 1, end)
            yield Edit(start, end, text[slice(*taken)].strip())


def _start_of_condition(plain: str, at: int) -> int:
    """Where the condition before a question mark begins."""
    start = start_of(plain, at, ",;?:")
    if plain[start - 2 : start] == "::":  # another's name, not the define
        return start - 2
    for equals in re.finditer(r"(?<![=!<>])=(?!=)", plain[start:at]):
        start += equals.end()  # the last one: an assignment reaches to its right
        return start + _start_of_condition(plain[start:at] + "?", at - start)
    word = re.match(r"\s*(?:return\b\s*)?", plain[start:at])
    return start + (word.end() if word else 0)


def _colon(plain: str, at: int) -> int:
    """The colon of the question mark before here."""
    colon = _unnested(plain, at, ";")
    if plain[colon : colon + 1] != ":":
        raise SourceError(f"a choice has no other side: {excerpt(plain, colon - 1)}")
    return colon


def _end_of_other(plain: str, at: int) -> int:
    """Where the other side of a choice ends that begins here."""
    end = _unnested(plain, at, ",;")
    if plain[end : end + 1] == "," and re.search(r"\w<", plain[at:end]):
        raise SourceError(f"a comma after < may be a template's: {excerpt(plain, at)}")
    return end


def _unnested(plain: str, at: int, stops: str) -> int:
    """The first of these characters from here on, or a colon that belongs to no choice begun since."""
    nested = 0
    while True:
        at = end_of(plain, at, f"{stops}?:")
        if plain[at : at + 2] == "::":
            at += 1
        elif plain[at : at + 1] == "?":
            nested += 1
        elif plain[at : at + 1] == ":" and nested:
            nested -= 1
        else:
            return at
        at += 1


def _ifs(text: str, plain: str, known: Mapping[str, int]) -> Iterator[Edit]:
    for found in IF.finditer(plain):
        close = close_of(plain, found.end())
        condition = plain[found.end() + 1 : close]
        if not is_known(condition, known):
            continue
        first = _statement(plain, close + 1)
        turn = ELSE.match(plain, first[1])
        other = _statement(plain, turn.end()) if turn else (first[1], first[1])
        taken = first if value_of(condition, known.__getitem__) else other
        yield Edit(found.start(), other[1], _opened(text[slice(*taken)], plain[slice(*taken)]))


def _statement(plain: str, at: int) -> tuple[int, int]:
    """A block or a simple statement from here on."""
    start = at + len(plain[at:]) - len(plain[at:].lstrip())
    if plain[start : start + 1] == "{":
        return start, close_of(plain, start) + 1
    if NO_SIMPLE_STATEMENT.match(plain, start):
        raise SourceError(f"only a block or a simple statement is understood here: {excerpt(plain, start)}")
    return start, end_of(plain, start, ";") + 1


def _opened(text: str, plain: str) -> str:
    """A block's statements without its braces, a level further left."""
    if not plain.startswith("{"):
        return text
    lines = text[1:-1].strip("\n ").split("\n")
    return "\n".join(line.removeprefix(INDENT) for line in lines)
