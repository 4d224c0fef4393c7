"""C++ whose choices the defines have made: `A ? x : y`, `if (A)`, `if constexpr (A)`.

A condition is resolved where the defines decide it; of one that also asks for what the compiler or the GPU
knows, that is left. An assertion of defines alone holds, as the source compiles, and goes.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from flashscope.kernels.cuda.reading.errors import SourceError
from flashscope.kernels.cuda.reading.expression import condition_value, is_known
from flashscope.kernels.cuda.reading.scan import bare, close_of, end_of, excerpt, start_of

IF = re.compile(r"\bif\s*(?:constexpr\s*)?(?=\()")
ASSERTION = re.compile(r"\bstatic_assert\s*(?=\()")
ELSE = re.compile(r"\s*\belse\b\s*")
NO_SIMPLE_STATEMENT = re.compile(r"(?:if|for|while|do|switch|else|try)\b")
INDENT = " " * 4


class Edit(NamedTuple):
    """Other text for a part of a source."""

    start: int
    end: int
    text: str


Finder = Callable[[str, str], Iterator[Edit]]


def without_choices(text: str, known: Mapping[str, int]) -> str:
    """The source with what its choices come to.

    Raises:
        SourceError: A statement is not understood; the text has its line.
    """
    finders: tuple[Finder, ...] = (
        lambda source, plain: _assertions(source, plain, known),
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


def _assertions(text: str, plain: str, known: Mapping[str, int]) -> Iterator[Edit]:
    """What is asserted of defines alone holds, as the source compiles."""
    del text
    for found in ASSERTION.finditer(plain):
        if is_known(plain[found.end() + 1 : end_of(plain, found.end() + 1, ",")], known):
            yield Edit(found.start(), end_of(plain, found.end(), ";") + 1, "")


def _ternaries(text: str, plain: str, known: Mapping[str, int]) -> Iterator[Edit]:
    for mark in re.finditer(r"\?", plain):
        at = mark.start()
        start = _start_of_condition(plain, at)
        condition = left_of(plain[start:at], known)
        if isinstance(condition, bool):
            colon = _colon(plain, at + 1)
            end = _end_of_other(plain, colon + 1)
            taken = (at + 1, colon) if condition else (colon + 1, end)
            yield Edit(start, end, text[slice(*taken)].strip())
        elif condition != plain[start:at].strip():
            yield Edit(start, at, f"{condition} ")


def left_of(condition: str, known: Mapping[str, int]) -> bool | str:
    """What the defines leave of a condition: its value where they decide it."""
    for operator, deciding in (("||", True), ("&&", False)):
        terms = _terms(condition, operator)
        if len(terms) > 1:
            found = [left_of(term, known) for term in terms]
            if deciding in found:
                return deciding
            left = [term for term in found if isinstance(term, str)]
            return f" {operator} ".join(left) if left else not deciding
    return (
        bool(condition_value(condition, known.__getitem__))
        if is_known(condition, known)
        else condition.strip()
    )


def _terms(condition: str, operator: str) -> list[str]:
    """The parts of a condition between those operators that no bracket holds."""
    terms, start, at = [], 0, 0
    while (at := end_of(condition, at, operator[0])) < len(condition):
        if condition[at : at + 2] == operator:
            terms.append(condition[start:at])
            start = at + 2
        at += 2
    return [*terms, condition[start:]]


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
        condition = left_of(plain[found.end() + 1 : close], known)
        if isinstance(condition, str):
            if condition != plain[found.end() + 1 : close].strip():
                yield Edit(found.end() + 1, close, condition)
            continue
        first = _statement(plain, close + 1)
        turn = ELSE.match(plain, first[1])
        other = _statement(plain, turn.end()) if turn else (first[1], first[1])
        taken = first if condition else other
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
