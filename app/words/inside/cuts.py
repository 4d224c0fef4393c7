"""Cuts in words: whether one fits and why not, what it takes, and what the compiler made of it."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from flashscope.app.words.units import bytes_text, digits, share_text, traffic_text
from flashscope.kernels.cuda.design.estimate import Estimate, Held
from flashscope.kernels.cuda.design.limits import limits_of
from flashscope.kernels.cuda.design.occupancy import Occupancy, SmLimit
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.workload.cut import CompiledCut, Cut
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.text import listed

NOT_KNOWN = "–"
AT_MOST = "at most "


class CutRow(NamedTuple):
    """One line of the comparison of two cuts.

    Attributes:
        title: What it is about.
        ours: Of the cut.
        shipped: Of the one that the kernel ships with.
        tip: What it means, in a line.
    """

    title: str
    ours: str
    shipped: str
    tip: str


def cut_words(cut: Cut) -> str:
    """A cut in a few words: `128 × 64, 4 warps of 2 fragments, 2 blocks an SM`."""
    tile, blocks = tile_words(cut), f"{_count(cut.residents, 'block')} an SM"
    stages = f"{_count(cut.stages, 'stage')} of K and V"
    match cut.kernel:
        case "flash2":
            return f"{tile}, {_count(cut.groups, 'warp')} of {_count(cut.subtiles, 'fragment')}, {blocks}"
        case "flash2 backward":
            groups = f"{_count(cut.groups, 'group')} of {_count(cut.columns, 'warp')}"
            return f"{tile}, {groups} with {_count(cut.subtiles, 'fragment')}, {blocks}"
        case "flash3 backward":
            return f"{tile}, {stages}"
        case "numpy":
            return tile
        case _:
            return f"{tile}, {_count(cut.groups, 'warpgroup')}, {stages}, {cut.q_stages} of Q, {blocks}"


def tile_words(cut: Cut) -> str:
    """Query rows and keys of a tile: `128 × 64`."""
    return f"{cut.block_q} × {cut.keys}"


def problem_line(problem: Problem) -> str:
    """What a cut is looked at for: `16 heads of 128, N = 4096, causal, bfloat16`."""
    mask = "causal" if problem.causal else "no mask"
    heads = problem.batch * problem.heads
    return f"{_count(heads, 'head')} of {problem.head_dim}, N = {problem.seqlen_q:,}, {mask}, {problem.dtype}"


def cut_sentence(found: Estimate, card: GpuCard, compiled: CompiledCut | None) -> str:
    """Whether a cut runs, and how it fills a card; by formula, or by what the compiler made of it."""
    if found.refused:
        more = len(found.refused) - 1
        others = f" {_count(more, 'more reason')} below." if more else ""
        return f"{found.refused[0]}{others}"
    if compiled is not None and compiled.failure:
        return compiled.failure
    if not found.places:
        return f"No block of it fits an SM of {card.name}."
    blocks = found.occupancy.blocks
    shares = f"{blocks} blocks of {found.threads} threads share an SM of {card.name}"
    alone = f"One block of {found.threads} threads has an SM of {card.name} to itself"
    no_more = f"{bound_text(found.occupancy)} in no more{_if_all(found, compiled)}"
    fill = f"{shares if blocks > 1 else alone}; {no_more}."
    return f"{fill} {waves_sentence(found)}{_doubts(found, compiled)}"


def waves_sentence(found: Estimate) -> str:
    """How often the card is filled."""
    last = f", the last {share_text(found.last_wave)} full" if found.waves > 1 else ""
    wave = "wave" if found.waves <= 1 else "waves"
    make = "makes" if found.tiles == 1 else "make"
    return f"{_count(found.tiles, 'tile')} {make} {digits(found.waves)} {wave}{last}."


def reasons(found: Estimate) -> str:
    """Every reason why a cut does not run, a line each; empty: it does."""
    return "\n".join(found.refused)


def compiled_words(compiled: CompiledCut) -> str:
    """What the compiler made of a cut."""
    if compiled.failure:
        return compiled.failure
    spills = "no spills" if not compiled.spilled else f"{compiled.spilled:,} bytes spilled a thread"
    return " ".join((f"Compiled: {compiled.registers} registers a thread, {spills}.", *compiled.notes))


def rows(
    found: Estimate,
    beside: Estimate,
    card: GpuCard,
    compiled: CompiledCut | None = None,
    compiled_beside: CompiledCut | None = None,
) -> tuple[CutRow, ...]:
    """A cut beside the shipped one, a line each."""
    limits, both = limits_of(card), (found, beside)
    written = (compiled, compiled_beside)
    of_block = f"Of {bytes_text(limits.block_bytes)} that one block may have on {card.name}"
    return (
        _row(
            "tile, Br × Bc",
            both,
            lambda e: tile_words(e.cut),
            "Query rows, keys",
        ),
        _row("threads", both, lambda e: f"{e.threads}", "Threads of a block, the producer's among them"),
        _row("shared memory", both, lambda e: bytes_text(e.shared_bytes), of_block),
        CutRow("registers", *_pair(map(_registers, both, written)), "Registers of a thread at launch"),
        _row(
            "in products",
            both,
            lambda e: _held(e.held),
            f"Registers that {_in_products(found.cut)} take",
        ),
        CutRow("spilled", *_pair(map(_spilled, written)), "Bytes of a thread that lie in memory"),
        _row("blocks an SM", both, lambda e: f"{e.occupancy.blocks}", "By NVIDIA's rules of occupancy"),
        _row("warps", both, _warps, f"Warps that are there at once, of {limits.warps} of an SM"),
        _row("waves", both, _waves, "How often the tiles fill the card, and how full the last time"),
        _row(
            "L2 traffic",
            both,
            lambda e: traffic_text(e.loop_bytes),
            "What the loops move, by formula",
        ),
        _row(
            "shared traffic",
            both,
            lambda e: NOT_KNOWN if e.tile_bytes is None else traffic_text(e.tile_bytes),
            "What they move there, by formula",
        ),
    )


def _row(title: str, both: tuple[Estimate, Estimate], text: Callable[[Estimate], str], tip: str) -> CutRow:
    return CutRow(title, text(both[0]), text(both[1]), tip)


def _pair(texts: Iterable[str]) -> tuple[str, str]:
    ours, shipped = texts
    return ours, shipped


def _registers(found: Estimate, compiled: CompiledCut | None) -> str:
    if compiled is None or compiled.failure:
        return f"{AT_MOST}{found.registers}"
    return f"{compiled.registers}"


def _spilled(compiled: CompiledCut | None) -> str:
    if compiled is None or compiled.failure:
        return NOT_KNOWN
    return f"{compiled.spilled:,} B" if compiled.spilled else "none"


def _in_products(cut: Cut) -> str:
    """What lies in registers while a product is under way."""
    if cut.backward:
        return "S, dP, dK and dV"
    return "S, O and P" if cut.kernel == "flash3" else "S, O and Q"


def _held(held: Held) -> str:
    return f"{held.least} of {held.most}"


def _warps(found: Estimate) -> str:
    filled = found.occupancy
    return f"{filled.warps} of {filled.most_warps}"


def _waves(found: Estimate) -> str:
    if not found.places:
        return NOT_KNOWN
    return f"{digits(found.waves)}, last {share_text(found.last_wave)}"


def _doubts(found: Estimate, compiled: CompiledCut | None) -> str:
    if compiled is None and found.held.short:
        taken = f"{found.held.least} of the {found.held.most} registers of a thread"
        return f" {_in_products(found.cut)} alone take {taken}: it will spill."
    return ""


def _if_all(found: Estimate, compiled: CompiledCut | None) -> str:
    """That more blocks may fit, where registers alone bind and nobody knows yet how many a thread takes."""
    unknown = compiled is None and found.occupancy.binding == (SmLimit.REGISTERS,)
    return f" if a thread takes all {found.registers} that it may" if unknown else ""


def bound_text(filled: Occupancy) -> str:
    """The limits that bind, with their verb: `registers and shared memory let`."""
    binding = filled.binding
    lets = "lets" if binding == (SmLimit.SHARED,) else "let"
    return f"{listed([one.value for one in binding])} {lets}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def cell_tip(found: Estimate, refused: Sequence[str], compiled: CompiledCut | None) -> str:
    """What a cut of the landscape takes, or why it does not run; a line for each."""
    if refused:
        return "\n".join((cut_words(found.cut), *refused))
    lines = [
        cut_words(found.cut),
        f"{bytes_text(found.shared_bytes)} of shared memory, {found.threads} threads",
        f"{_registers(found, compiled)} registers a thread",
        f"{_count(found.occupancy.blocks, 'block')} an SM: {bound_text(found.occupancy)} in no more",
        waves_sentence(found),
    ]
    more = compiled_words(compiled) if compiled else _doubts(found, compiled).strip()
    return "\n".join(filter(None, (*lines, more)))
