"""A claim of a document, how it is put to the test, and what came of that."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import msgspec

from profiles.claims.lab import Lab

Verdict = Literal["holds", "does not hold", "cannot be tested"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

ARITHMETIC = "computed here"
RUN = "run here: NumPy"
LEDGER = "computed here: the exact ledger of what kernels allocate"
NO_SOURCE = "nothing was measured"


class Document(NamedTuple):
    """One of the texts whose claims are tested; it is not part of this program.

    Attributes:
        number: What it is called here.
        title: Its own title.
    """

    number: str
    title: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a test.

    Attributes:
        verdict: Whether the claim holds.
        measured: What was found, with units; of a claim that cannot be tested the reason.
        source: Where the figures come from.
    """

    verdict: Verdict
    measured: str
    source: str


class Trial(NamedTuple):
    """An experiment.

    Attributes:
        words: What is done, in a sentence.
        run: Does it.
    """

    words: str
    run: Callable[[Lab], Finding]


@dataclass(frozen=True)
class Claim:
    """One checkable statement.

    Attributes:
        document: The number of its document.
        lines: Where it stands there.
        says: The claim in our own words.
        trial: How it is tested.
        part: Tells claims of one line apart.
    """

    document: str
    lines: tuple[int, ...]
    says: str
    trial: Trial
    part: str = ""

    @property
    def key(self) -> str:
        """Its name, unique: document, first line and part."""
        return f"{self.document}-{self.lines[0]}{self.part}"

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        word = "line" if len(self.lines) == 1 else "lines"
        return f"{self.document}, {word} {', '.join(map(str, self.lines))}"


def found(holds: object, measured: str, source: str) -> Finding:
    """The finding of a test that could be made."""
    return Finding(verdict="holds" if holds else "does not hold", measured=measured, source=source)


def untested(reason: str) -> Finding:
    """The finding of a test that cannot be made here."""
    return Finding(verdict="cannot be tested", measured=reason, source=NO_SOURCE)


def not_here(reason: str) -> Trial:
    """The trial of a claim that no experiment on this machine reaches."""
    return Trial("None here.", lambda _lab: untested(reason))
