"""A source as text, under each of its lines the instructions that come from it."""

from collections.abc import Iterator, Sequence

from flashscope.app.figures.instruction_lines import InstructionLines
from flashscope.app.words.inside.sass import build_text, listed_text, occupancy_text, takes_text
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.cuda.sass.listing import BuildListing, KernelListing
from flashscope.kernels.workload.problem import Problem

MARGIN = 6  # characters of a line's number
INDENT = " " * (MARGIN + 6)


def annotated_source(
    build: BuildListing, card: GpuCard, problem: Problem, kernel: KernelListing, lines: InstructionLines
) -> str:
    """The source with the instructions of one of its kernels.

    Args:
        build: The build.
        card: The GPU that it is compiled for.
        problem: The problem that it is compiled for.
        kernel: One of the build's.
        lines: Its instructions.
    """
    told = build_text(build, card.name, problem), takes_text(kernel), occupancy_text(kernel, card)
    head = (build.source.heading, *told)
    body = _lines(build.source.text.splitlines(), build.source.file, lines)
    return "\n".join([*(f"// {one}" for one in head), "", *body]) + "\n"


def _lines(source: Sequence[str], file: str, lines: InstructionLines) -> Iterator[str]:
    own = {home.line: members for home, members in lines.groups.items() if home and home.file == file}
    for number, text in enumerate(source, 1):
        yield f"{number:{MARGIN}} | {text}".rstrip()
        yield from _instructions(own.get(number, ()), lines)
    for home, members in lines.groups.items():
        if home is None or home.file != file:
            yield f"{'':{MARGIN}} | // {f'{home.file}:{home.line}' if home else 'no line'}"
            yield from _instructions(members, lines)


def _instructions(members: Sequence[int], lines: InstructionLines) -> Iterator[str]:
    for at in members:
        yield f"{INDENT}{listed_text(lines.code[at])}"
