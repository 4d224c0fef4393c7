"""Machine code in words: what a build takes, what a line comes to, where an instruction is from."""

from collections.abc import Iterator, Mapping, Sequence

from flashscope.app.words.inside.cuts import bound_text
from flashscope.app.words.units import bytes_text, share_text
from flashscope.kernels.cuda.design.limits import limits_of
from flashscope.kernels.cuda.design.occupancy import Demand, occupancy
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.cuda.sass.disassembly import Instruction, SourcePlace
from flashscope.kernels.cuda.sass.kinds import KINDS
from flashscope.kernels.cuda.sass.listing import BuildListing, KernelListing
from flashscope.kernels.workload.problem import Problem

GIVEN_UP = "Compiling was stopped."
NO_SASS = "The kernels in NumPy have no machine code of their own: choose a problem in CUDA."


def count_text(count: int) -> str:
    """How many instructions."""
    return f"{count:,} instruction{'s' * (count != 1)}"


def kinds_text(kinds: Mapping[int, int]) -> str:
    """How many of each kind, in their order: `tensor cores 54, MUFU 264`."""
    return ", ".join(f"{kind.title} {kinds[at]:,}" for at, kind in enumerate(KINDS) if kinds.get(at))


def takes_text(kernel: KernelListing) -> str:
    """What a kernel takes: registers, spills, shared memory, and how many instructions it has."""
    taken = kernel.resources
    spills = "no spills"
    if taken.spilled or taken.reloaded:
        spills = f"spills {taken.spilled} B stored and {taken.reloaded} B loaded a thread"
    stack = f", {bytes_text(taken.stack)} of stack" if taken.stack else ""
    times = f" × {kernel.launches} launches" if kernel.launches > 1 else ""
    return (
        f"{kernel.entry}{times}: {taken.registers} registers a thread, {kernel.threads} threads a block, "
        f"{spills}{stack}; shared memory of a block: {bytes_text(taken.shared)} static, "
        f"{bytes_text(kernel.dynamic_shared)} dynamic; {count_text(len(kernel.instructions))}."
    )


def occupancy_text(kernel: KernelListing, card: GpuCard) -> str:
    """How the blocks of a kernel fill an SM of a GPU by NVIDIA's rules, and which limit lets in no more."""
    taken = kernel.resources
    demand = Demand(kernel.threads, taken.registers, taken.shared + kernel.dynamic_shared)
    filled = occupancy(demand, limits_of(card))
    if not filled.blocks:
        return f"No block of it fits an SM of the {card.name}: {bound_text(filled)} in none."
    blocks = f"{filled.blocks} block{'s' * (filled.blocks != 1)}"
    warps = f"{filled.warps} of {filled.most_warps} warps ({share_text(filled.share)})"
    return f"Occupancy: {blocks} an SM, {warps}; {bound_text(filled)} in no more."


def build_text(build: BuildListing, card: str, problem: Problem) -> str:
    """What was compiled, by what, for which shape, and that it was not run."""
    shape = f"{problem.batch} sequences of {problem.seqlen_q:,} with {problem.heads} heads"
    return f"Compiled here by {build.compiler} for the {card} ({build.arch}) and {shape}, not run."


def line_text(line: int, own: Mapping[int, int], through: int) -> str:
    """What a line of the source comes to."""
    count = sum(own.values())
    if not through:
        return f"Line {line}: no instruction of this kernel."
    if not count:
        return f"Line {line}: {count_text(through)} of what is called here, none of its own."
    more = f"; {through:,} with those of what is called here" if through > count else ""
    return f"Line {line}: {count_text(count)} ({kinds_text(own)}){more}."


def instruction_text(one: Instruction, kind: int) -> str:
    """What an instruction is of, and where it is from, innermost first."""
    where = ", called at ".join(_places(one.places)) or "no line that the compiler names"
    return f"{one.text} · {KINDS[kind].title} · {where}"


def _places(places: Sequence[SourcePlace]) -> Iterator[str]:
    for place in places:
        yield f"{place.file}:{place.line}"


def words_at(source: Sequence[str], line: int) -> str:
    """What stands at a line of a source; empty behind its end, where a file may have samples."""
    return source[line - 1].strip() if line <= len(source) else ""


def listed_text(one: Instruction) -> str:
    """An instruction as a line: its address, and what stands there."""
    return f"{one.address:06x}  {one.text}"
