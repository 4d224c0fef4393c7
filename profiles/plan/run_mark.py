"""Which of several runs of one plan a session is: the mark by which they are known as one family."""

from typing import Annotated
from uuid import uuid4

import msgspec

from flashscope.kernels.workload.errors import InputError

MOST_RUNS = 999
MARK = "FLASHSCOPE_RUN"
"""Names to a run in a process of its own which one it is, as `RunMark.written` writes it."""

_Number = Annotated[int, msgspec.Meta(ge=1, le=MOST_RUNS)]


class RunMark(msgspec.Struct, frozen=True, kw_only=True):
    """What the runs of one plan share, each made by processes of its own.

    Sessions of the same plan that were made at other times have no mark in common: they are no family.

    Attributes:
        family: A UUID in hex, the same for all of them.
        run: Which one this is, from 1.
        of: How many were asked for.
    """

    family: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    run: _Number
    of: _Number

    @property
    def written(self) -> str:
        """The mark as one word."""
        return f"{self.family}/{self.run}/{self.of}"

    @classmethod
    def read(cls, word: str) -> "RunMark | None":
        """The mark that was written so; None of an empty word.

        Raises:
            InputError: It was not.
        """
        if not word:
            return None
        try:
            family, run, of = word.split("/")
            return msgspec.convert({"family": family, "run": int(run), "of": int(of)}, cls)
        except (ValueError, msgspec.ValidationError) as error:
            raise InputError(f"{MARK} is no mark of a run: {word!r} ({error}).") from error


def run_marks(count: int) -> tuple[RunMark, ...]:
    """The marks of so many runs of one plan; a single run needs none, and has a family of its own."""
    family = uuid4().hex
    return tuple(RunMark(family=family, run=number, of=count) for number in range(1, count + 1))
