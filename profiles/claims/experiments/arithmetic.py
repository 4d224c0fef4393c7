"""Numbers that follow from others: computed again, and compared to the digits that are printed."""

import re
from collections.abc import Callable
from typing import NamedTuple

from flashscope.profiles.claims.lab import Lab
from flashscope.profiles.claims.model import ARITHMETIC, ClaimResult, Experiment, found

STEPS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_PRINTED = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<prefix>[KMGT]?)(?P<unit>B?)")


class Printed(NamedTuple):
    """A number as a document prints it: its value, half of its last digit, and its prefix."""

    value: float
    half: float
    prefix: str

    @classmethod
    def of(cls, text: str) -> "Printed":
        """Read `1.07 TB`, `32 MB`, `1.52`."""
        match = _PRINTED.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is no printed number")
        _, _, decimals = match["number"].partition(".")
        return cls(float(match["number"]), 0.5 * 10 ** -len(decimals), match["prefix"])

    def agrees(self, value: float) -> bool:
        """Whether a value is printed so."""
        return abs(value - self.value) <= self.half * (1 + 1e-9)


def computed_number(
    printed: str, formula: Callable[[], float], words: str, within: float = 0.0
) -> Experiment:
    """A plain number: `formula` again, to the printed digits or within a share of it."""
    stated = Printed.of(printed)

    def check(value: float) -> bool:
        return stated.agrees(value) or abs(value - stated.value) <= within * stated.value

    def run(_lab: Lab) -> ClaimResult:
        value = formula()
        return found(check(value), f"{words} = {value:,.6g}; stated: {printed}", ARITHMETIC)

    return Experiment(f"Compute {words} again.", run)


def a100_shared_memory() -> Experiment:
    """Its rate by the rule that shared memory keeps to within 5% where it is measured: 128 bytes a cycle."""
    words = "108 multiprocessors × 128 B × 1.41 GHz in TB/s"
    return computed_number("19", lambda: 108 * 128 * 1.41e9 / 1e12, words, 0.05)


def size(printed: str, formula: Callable[[], float], words: str) -> Experiment:
    """A number of bytes, which may be meant in powers of 1000 or of 1024."""
    stated = Printed.of(printed)
    power = STEPS[stated.prefix]

    def run(_lab: Lab) -> ClaimResult:
        nbytes = formula()
        decimal, binary = nbytes / 1000**power, nbytes / 1024**power
        told = (
            f"{words} = {decimal:,.4g} {stated.prefix}B = {binary:,.4g} {stated.prefix}iB; stated: {printed}"
        )
        return found(stated.agrees(decimal) or stated.agrees(binary), told, ARITHMETIC)

    return Experiment(f"Compute {words} again, in powers of 1000 and of 1024.", run)


def confirmed(words: str, test: Callable[[], tuple[bool, str]], source: str = ARITHMETIC) -> Experiment:
    """Any other computation: whether it confirms the claim, and what it found."""

    def run(_lab: Lab) -> ClaimResult:
        holds, told = test()
        return found(holds, told, source)

    return Experiment(words, run)
