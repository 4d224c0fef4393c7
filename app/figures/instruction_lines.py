"""Which instructions come from which line of a source, and how many of each kind."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flashscope.kernels.cuda.sass.disassembly import Instruction, SourcePlace, home_of
from flashscope.kernels.cuda.sass.kinds import kind_of

Kinds = Counter[int]
"""How many instructions there are of each kind, by its place in `KINDS`."""


@dataclass(frozen=True)
class InstructionLines:
    """The instructions of a kernel by the lines of the source on show.

    An instruction is of the innermost of its lines in that source: of a function that is defined there its
    own line, of a header's the line that calls it. Where the source has none, it is of the header's line.

    Attributes:
        code: The instructions, by address.
        kinds: The kind of each.
        homes: The line that each is of; None: the compiler names none.
        groups: The instructions of each line by their places in `code`: the source's lines first.
        through: The instructions of each line of the source with those of what is called there.
        counts: Of each line of the source, the kinds of its own instructions.
        total: The kinds of all.
    """

    code: Sequence[Instruction]
    kinds: Sequence[int]
    homes: Sequence[SourcePlace | None]
    groups: Mapping[SourcePlace | None, Sequence[int]]
    through: Mapping[int, Sequence[int]]
    counts: Mapping[int, Kinds] = field(repr=False)
    total: Kinds = field(repr=False)

    @property
    def most(self) -> int:
        """Own instructions of the line that has most."""
        return max((sum(kinds.values()) for kinds in self.counts.values()), default=0)


def by_line(code: Sequence[Instruction], file: str) -> InstructionLines:
    """Group the instructions of a kernel.

    Args:
        code: The instructions.
        file: The source on show.
    """
    kinds = [kind_of(one.text) for one in code]
    homes = [home_of(one, file) for one in code]
    groups: dict[SourcePlace | None, list[int]] = {}
    through: dict[int, list[int]] = {}
    counts: dict[int, Kinds] = {}
    for at, (one, home, kind) in enumerate(zip(code, homes, kinds, strict=True)):
        groups.setdefault(home, []).append(at)
        for line in sorted({place.line for place in one.places if place.file == file}):
            through.setdefault(line, []).append(at)
        if home is not None and home.file == file:
            counts.setdefault(home.line, Counter())[kind] += 1
    ordered = {home: groups[home] for home in sorted(groups, key=lambda home: _order(home, file))}
    return InstructionLines(code, kinds, homes, ordered, through, counts, Counter(kinds))


def _order(home: SourcePlace | None, file: str) -> tuple[int, str, int]:
    """The source's lines, then those of headers, then none."""
    if home is None:
        return 2, "", 0
    return int(home.file != file), home.file, home.line
