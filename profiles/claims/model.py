"""A claim of a document, how it is put to the test, and what came of that."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import msgspec

from flashscope.profiles.claims.lab import Lab

ClaimVerdict = Literal["holds", "does not hold", "cannot be tested"]
CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)

ARITHMETIC = "computed here"
RUN = "run here: NumPy"
LEDGER = "computed here: the exact ledger of what kernels allocate"
NO_SOURCE = "nothing was measured"


class ClaimSource(NamedTuple):
    """One of the texts whose claims are tested; it is not part of this program.

    Attributes:
        number: What it is called here.
        title: Its own title.
    """

    number: str
    title: str


class ClaimResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a test.

    Attributes:
        verdict: Whether the claim holds.
        measured: What was found, with units; of a claim that cannot be tested the reason.
        source: Where the figures come from.
    """

    verdict: ClaimVerdict
    measured: str
    source: str


class Experiment(NamedTuple):
    """An experiment.

    Attributes:
        words: What is done, in a sentence.
        run: Does it.
    """

    words: str
    run: Callable[[Lab], ClaimResult]


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
    trial: Experiment
    part: str = ""

    @property
    def key(self) -> str:
        """The claim's name, unique: document, first line and part."""
        return f"{self.document}-{self.lines[0]}{self.part}"

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        word = "line" if len(self.lines) == 1 else "lines"
        return f"{self.document}, {word} {', '.join(map(str, self.lines))}"


def found(holds: object, measured: str, source: str) -> ClaimResult:
    """The finding of a test that could be made."""
    return ClaimResult(verdict="holds" if holds else "does not hold", measured=measured, source=source)


def untested(reason: str) -> ClaimResult:
    """The finding of a test that cannot be made here."""
    return ClaimResult(verdict="cannot be tested", measured=reason, source=NO_SOURCE)


def not_here(reason: str) -> Experiment:
    """The trial of a claim that no experiment on this machine reaches."""
    return Experiment("None here.", lambda _lab: untested(reason))
