"""Bars of stalls: the parts that samples come to, beside the lines of a source and beside instructions."""

from collections import Counter
from collections.abc import Mapping, Sequence

from flashscope.app.figures.instruction_lines import InstructionLines, by_line
from flashscope.app.figures.line_bars import LineBars
from flashscope.app.words.inside.stalls import points_text
from flashscope.kernels.cuda.sass.disassembly import Instruction, SourcePlace
from flashscope.kernels.workload.stalls import ISSUED, NO_LINE, StallProfile
from flashscope.profiles.results.model.stall_facts import StallFacts

PARTS: Sequence[str] = (
    ISSUED,
    *("barrier", "long_scoreboard", "short_scoreboard", "wait", "math_pipe_throttle", "dispatch_stall"),
)
OTHERS = len(PARTS)
"""The part of all other reasons, behind those that have a colour of their own."""


def part_of(reason: str) -> int:
    """The place of a reason's part."""
    return PARTS.index(reason) if reason in PARTS else OTHERS


def parts_of(samples: Mapping[str, int]) -> Counter[int]:
    """How many samples each part has."""
    parts: Counter[int] = Counter()
    for reason, count in samples.items():
        parts[part_of(reason)] += count
    return parts


def share_of(count: int, total: int) -> str:
    """A share as it stands before a bar, in percent."""
    return points_text(count / max(1, total)).removesuffix("%").replace(" ", "")


def stall_bars(facts: StallFacts) -> LineBars:
    """The samples of each line of the source."""
    parts = {line: parts_of(samples) for line, samples in facts.lines.items()}
    return LineBars(parts, len(PARTS) + 1, lambda count: share_of(count, facts.total))


def sampled_lines(profile: StallProfile, *, lined: bool) -> InstructionLines:
    """The instructions that were sampled by the lines of their source; not `lined`: of no line."""
    address, line = profile.address.numpy().tolist(), profile.line.numpy().tolist()
    code = [
        Instruction(at, text, "", () if home == NO_LINE or not lined else (SourcePlace(profile.file, home),))
        for at, text, home in zip(address, profile.text, line, strict=True)
    ]
    return by_line(code, profile.file)
