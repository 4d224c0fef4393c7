"""What the words on screen mean: every term, quantity and kernel in a line."""

import re
from collections.abc import Iterator
from functools import lru_cache

from flashscope.app.words.glossary.ranks import RANKS
from flashscope.app.words.glossary.results import RESULTS
from flashscope.app.words.glossary.stalls import STALLS
from flashscope.app.words.glossary.terms import TERMS, Meaning
from flashscope.app.words.glossary.views import VIEWS
from flashscope.app.words.glossary.window import WINDOW
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.profiles.results.quantities.registry import QUANTITIES

__all__ = ["GLOSSARY", "Meaning", "found", "line_of", "lines_in", "with_line"]


def _entries() -> Iterator[Meaning]:
    """What quantities and kernels say of themselves is said once, where they are declared."""
    yield from TERMS
    yield from RESULTS
    yield from WINDOW
    yield from VIEWS
    yield from STALLS
    yield from RANKS
    for quantity in QUANTITIES.values():
        also = (quantity.short,) if quantity.short.lower() != quantity.title.lower() else ()
        yield Meaning(quantity.title, quantity.about, also)
    for spec in KERNELS:
        yield Meaning(spec.name, f"{spec.idea[:1].upper()}{spec.idea[1:]}.")


GLOSSARY: tuple[Meaning, ...] = tuple(sorted(_entries(), key=lambda term: term.name.casefold()))
"""All of them, in the order of the alphabet."""
_NOWHERE = 4
_BETWEEN = re.compile(r" ?[·,:&|] ?")
_NUMBERS = re.compile(r"(?<!\S)[=(<>≤≥≈]*\d\S*|(?<!\S)[=<>≤≥≈]+(?!\S)")  # with what is beside them
_MARKS = " ▸▾▲▼◆○✓?"
_LINES = {name.casefold(): term.line for term in GLOSSARY for name in term.also} | {
    term.name.casefold(): term.line for term in GLOSSARY
}


def line_of(name: str) -> str:
    """What a word on screen means; empty where it is no term."""
    return _LINES.get(name.casefold(), "")


@lru_cache(maxsize=1024)
def lines_in(text: str) -> str:
    """What the terms in a short text mean, a line each: the whole of it, else its parts without numbers.

    Parts stand between dots, commas and the like, as in `ms · median, q1–q3` or `drift 1.02×`.
    """
    whole = line_of(text)
    if whole:
        return whole
    parts = (_NUMBERS.sub("", part).strip(_MARKS) for part in _BETWEEN.split(text))
    return "\n".join(dict.fromkeys(filter(None, (line_of(part.removeprefix("no ")) for part in parts))))


def with_line(name: str, tip: str) -> str:
    """The tip of what stands for terms and does something: what they mean, then what it does.

    A tip that is one of these lines is not said twice.
    """
    lines = lines_in(name)
    said = {_bare(line) for line in lines.splitlines()}
    return "\n".join(filter(None, (lines, "" if _bare(tip) in said else tip)))


def _bare(sentence: str) -> str:
    return sentence.strip().rstrip(".").casefold()


def found(query: str) -> list[Meaning]:
    """The terms that have the query in their names, those that begin with it first; then in their lines."""
    wanted = query.casefold().strip()
    placed = ((_place(term, wanted), term) for term in GLOSSARY)
    return [term for place, term in sorted(placed, key=lambda one: one[0]) if place < _NOWHERE]


def _place(term: Meaning, wanted: str) -> int:
    """Where the query is found in a term, the best place first."""
    names = [name.casefold() for name in (term.name, *term.also)]
    if wanted in names:
        return 0
    if any(name.startswith(wanted) for name in names):
        return 1
    if any(wanted in name for name in names):
        return 2
    return 3 if wanted in term.line.casefold() else _NOWHERE
