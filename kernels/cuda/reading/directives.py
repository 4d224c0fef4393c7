"""The preprocessor's branches: those that the defines take are kept, the others go with their directives."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from flashscope.kernels.cuda.reading.errors import SourceError
from flashscope.kernels.cuda.reading.expression import condition_value

DIRECTIVE = re.compile(r"\s*#\s*(?P<name>\w+)\s*(?P<rest>.*?)\s*(//.*)?$")
MACRO = re.compile(r"(?P<name>\w+)(?P<parameters>\([^)]*\))?\s*(?P<body>.*)")
INCLUDE = re.compile(r'"(?P<file>[^"]+)"')
OPENING, TURNING = ("if", "ifdef", "ifndef"), ("elif", "else")
ALONE = re.compile(r"\s*(?P<name>\w+)(\([^()]*\))?\s*")  # a line that is one macro, with or without arguments
PLAIN = frozenset({"include", "define", "pragma"})


@dataclass
class KnownMacros:
    """What the preprocessor knows at a line.

    Attributes:
        values: Macros that are whole numbers.
        others: Names of all other macros.
        nothing: Those of them that stand for nothing.
        read: Headers that were read.
    """

    values: dict[str, int]
    others: set[str] = field(default_factory=set)
    nothing: set[str] = field(default_factory=set)
    read: set[Path] = field(default_factory=set)

    def has(self, name: str) -> bool:
        """Whether there is a macro of this name."""
        return name in self.values or name in self.others

    def value(self, name: str) -> int:
        """The value of a name in a condition: 0 of one that is no macro, as the language has it.

        Raises:
            SourceError: It is a macro of another kind, or the compiler's own.
        """
        if name in self.others or (name.startswith("__") and name not in self.values):
            raise SourceError(f"{name} is not known as a number")
        return self.values.get(name, 0)

    def define(self, text: str) -> None:
        """Take a macro."""
        found = MACRO.fullmatch(text)
        if found is None:
            raise SourceError(f"the macro {text!r} is not understood")
        name, body = found["name"], found["body"]
        if found["parameters"] is None and body.isdecimal():
            self.values[name] = int(body)
        else:
            self.others.add(name)
            if not body:
                self.nothing.add(name)

    def vanishes(self, line: str) -> bool:
        """Whether a line is a macro that stands for nothing."""
        found = ALONE.fullmatch(line)
        return found is not None and found["name"] in self.nothing


@dataclass
class _Branch:
    """A conditional that is open: whether its lines count, and whether one of its branches has."""

    live: bool
    done: bool
    outer: bool


def without_branches(
    path: Path, text: str, includes: Path, known: Mapping[str, int]
) -> tuple[str, KnownMacros]:
    """A source without the preprocessor's other branches, and what it has defined at its end.

    Includes stay; the headers are read for their macros alone. Lines of a macro that is nothing go, too.

    Raises:
        SourceError: A line is not understood; the text names it.
    """
    state = KnownMacros(dict(known))
    return "\n".join(_lines(path, text, includes, state)) + "\n", state


def _lines(path: Path, text: str, includes: Path, known: KnownMacros) -> Iterator[str]:
    open_: list[_Branch] = []
    for number, line in _logical(text):
        live = not open_ or open_[-1].live
        joined = line.replace("\\\n", " ")
        found = DIRECTIVE.fullmatch(joined) if line.lstrip().startswith("#") else None
        if found is None:
            if live and not known.vanishes(line):
                yield line
            continue
        try:
            kept = _directive(found["name"], found["rest"], open_, known, includes, live=live)
        except SourceError as error:
            raise SourceError(f"{path.name}:{number}: {error}") from error
        if kept:
            yield line
    if open_:
        raise SourceError(f"{path.name}: a conditional has no #endif")


def _logical(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, those that a backslash continues as one."""
    number = 1
    for found in re.finditer(r"(?:[^\n]*\\\n)*[^\n]*\n", text):
        yield number, found[0][:-1]
        number += found[0].count("\n")


def _directive(
    name: str, rest: str, open_: list[_Branch], known: KnownMacros, includes: Path, *, live: bool
) -> bool:
    """Take a directive; whether its line stays."""
    if name in OPENING:
        taken = live and _holds(name, rest, known)
        open_.append(_Branch(taken, taken, live))
    elif name in TURNING or name == "endif":
        if not open_:
            raise SourceError(f"#{name} belongs to no #if")
        _turn(name, rest, open_, known)
    elif live:
        return _plain(name, rest, known, includes)
    return False


def _holds(name: str, rest: str, known: KnownMacros) -> bool:
    if name == "if":
        return bool(condition_value(rest, known.value, known.has))
    return known.has(rest) == (name == "ifdef")


def _turn(name: str, rest: str, open_: list[_Branch], known: KnownMacros) -> None:
    """Go to the next branch, or behind the last."""
    branch = open_[-1]
    if name == "endif":
        open_.pop()
    else:
        free = branch.outer and not branch.done
        branch.live = free and (name == "else" or _holds("if", rest, known))
        branch.done = branch.done or branch.live


def _plain(name: str, rest: str, known: KnownMacros, includes: Path) -> bool:
    if name not in PLAIN:
        raise SourceError(f"#{name} is not understood")
    if name == "define":
        known.define(rest)
    found = INCLUDE.fullmatch(rest) if name == "include" else None
    header = includes / found["file"] if found else None
    if header is not None and header not in known.read:
        known.read.add(header)
        for _ in _lines(header, header.read_text(encoding="utf-8"), includes, known):
            pass
    return True
