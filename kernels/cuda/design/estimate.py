"""What a cut takes and would move, by formula, before it is compiled."""

from typing import NamedTuple

from flashscope.kernels.catalogue.flash2_cut import NARROW_HEAD
from flashscope.kernels.catalogue.flash3_share import Share, TileShape
from flashscope.kernels.catalogue.shared_traffic import flash2_shared_as, flash3_shared_as
from flashscope.kernels.catalogue.traffic import Tiles, flash2_io
from flashscope.kernels.cuda.design import backward
from flashscope.kernels.cuda.design.cut import variant3_of
from flashscope.kernels.cuda.design.limits import REGISTERS_OF_THREAD, limits_of
from flashscope.kernels.cuda.design.occupancy import Demand, Occupancy, occupancy, register_budget
from flashscope.kernels.cuda.design.refusals import (
    refusals,
    registers_of_groups,
    shared_of,
    threads_of,
)
from flashscope.kernels.cuda.program import ceil_div, round_up
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.cuda.tensor import tile_bytes
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.problem import Problem

FLASH2_STAGES = 2
FRAGMENT = 16


class Part(NamedTuple):
    """One tenant of what a block takes.

    Attributes:
        name: Q, K, V, dO, dS, the barriers; what else has one part only.
        size: How much of it, of shared memory bytes of all stages.
        stages: Tiles of it that lie there at once.
    """

    name: str
    size: int
    stages: int = 1


class Held(NamedTuple):
    """Registers of a thread that computes.

    Attributes:
        scores: S of a tile, in float32; in a backward pass dP, too.
        output: O so far, in float32; in a backward pass dK and dV.
        operand: What goes into the products from registers: P in 16 bits, or Q.
        most: As many as it may have.
    """

    scores: int
    output: int
    operand: int
    most: int

    @property
    def least(self) -> int:
        """Those that the products alone name; addresses, m, l and the mask come on top."""
        return self.scores + self.output + self.operand

    @property
    def short(self) -> bool:
        """Whether a thread cannot hold even these: they are spilled to memory."""
        return self.least >= self.most


class Estimate(NamedTuple):
    """All that is known of a cut for a problem on a card without compiling it.

    Attributes:
        cut: The cut.
        refused: Why it does not run, each in a sentence; none: nothing refuses it.
        parts: What lies in a block's shared memory.
        shared_bytes: Shared memory that a block asks for.
        threads: Threads of a block.
        registers: Registers of a thread that the launch asks for; of flash2 as many as the compiler may take.
        held: What a thread that computes must hold.
        occupancy: How an SM is filled, with these registers.
        tiles: Tiles that blocks own, of query rows of all heads, or of the keys of all K/V heads.
        places: Blocks that all SMs have at once.
        loop_bytes: What the loops move between L2 and SMs (`kernels.catalogue.traffic`).
        tile_bytes: What they move in shared memory (`kernels.catalogue.shared_traffic`); None: not known.
    """

    cut: Cut
    refused: tuple[str, ...]
    parts: tuple[Part, ...]
    shared_bytes: int
    threads: int
    registers: int
    held: Held
    occupancy: Occupancy
    tiles: int
    places: int
    loop_bytes: int
    tile_bytes: int | None

    @property
    def fits(self) -> bool:
        """Whether nothing refuses it, and an SM holds a block of it."""
        return not self.refused and self.places > 0

    @property
    def waves(self) -> float:
        """How often all places are filled with tiles; 0 where no block fits."""
        return self.tiles / self.places if self.places else 0.0

    @property
    def last_wave(self) -> float:
        """The share of the places that the last wave uses, from 0 to 1; 0 where no block fits."""
        return ((self.tiles - 1) % self.places + 1) / self.places if self.places else 0.0


def estimate(cut: Cut, problem: Problem, card: GpuCard, registers: int | None = None) -> Estimate:
    """What a cut takes of a card and would move for a problem in 16 bits without a block mask.

    Args:
        cut: The cut.
        problem: The workload.
        card: The GPU.
        registers: Of a thread, as the compiler reports them; None: as many as it may take.
    """
    threads, shared = threads_of(cut), shared_of(cut, problem, card)
    budget = register_budget(threads, cut.residents)
    taken = budget if registers is None else registers
    filled = occupancy(Demand(threads, taken, shared), limits_of(card))
    return Estimate(
        cut=cut,
        refused=refusals(cut, problem, card),
        parts=_parts(cut, problem, shared),
        shared_bytes=shared,
        threads=threads,
        registers=taken,
        held=_held(cut, problem.head_dim, budget),
        occupancy=filled,
        tiles=_tiles(cut, problem),
        places=card.multiprocessors * filled.blocks,
        loop_bytes=_loop_bytes(cut, problem),
        tile_bytes=_tile_bytes(cut, problem, card),
    )


def _tiles(cut: Cut, problem: Problem) -> int:
    if cut.backward:
        return problem.batch * problem.key_heads * ceil_div(problem.seqlen_k, cut.keys)
    return problem.batch * problem.heads * ceil_div(problem.seqlen_q, cut.block_q)


def _loop_bytes(cut: Cut, problem: Problem) -> int:
    if cut.backward:
        return backward.loop_bytes(cut, problem)
    return flash2_io(problem, Tiles(cut.block_q, cut.keys))


def _parts(cut: Cut, problem: Problem, shared: int) -> tuple[Part, ...]:
    """Its tiles, and what is left: barriers, what aligns them, states of rows."""
    parts = _of_backward(cut, problem) if cut.backward else _of_forward(cut, problem)
    rest = shared - sum(part.size for part in parts)
    name = "states" if cut.backward else "barriers"
    return (*parts, *((Part(name, rest),) if rest else ()))


def _of_forward(cut: Cut, problem: Problem) -> tuple[Part, ...]:
    stages = cut.stages if cut.kernel == "flash3" else FLASH2_STAGES
    q_stages = cut.q_stages if cut.kernel == "flash3" else 1
    d = problem.head_dim
    q = Part("Q", tile_bytes(q_stages * cut.block_q, d), q_stages)
    return (q, *(Part(name, tile_bytes(stages * cut.keys, d), stages) for name in "KV"))


def _of_backward(cut: Cut, problem: Problem) -> tuple[Part, ...]:
    """Q and dO in two stages; of flash2 dS once, and P where several warps share it; of flash3 dS twice."""
    key_stages = cut.stages if cut.kernel == "flash3 backward" else 1
    d, weights = problem.head_dim, tile_bytes(cut.keys, cut.queries)
    if cut.kernel == "flash3 backward":
        own = (Part("dS", 2 * cut.keys * cut.queries * problem.itemsize, 2),)
    else:
        own = (Part("dS", weights), *((Part("P", weights),) if cut.columns > 1 else ()))
    passing = (Part(name, tile_bytes(2 * cut.queries, d), 2) for name in ("Q", "dO"))
    keys = (Part(name, tile_bytes(key_stages * cut.keys, d), key_stages) for name in "KV")
    return (*passing, *keys, *own)


def _held(cut: Cut, head_dim: int, budget: int) -> Held:
    """A warp's 16 rows of a column are half a register for each of its threads."""
    width = round_up(head_dim, FRAGMENT)
    match cut.kernel:
        case "flash3":
            most = min(registers_of_groups(cut)[0], REGISTERS_OF_THREAD)
            return Held(cut.block_k // 2, head_dim // 2, cut.block_k // 4, most)
        case "flash3 backward":
            # dQ comes when S and dP are done with, and P and dS lie in registers or beside.
            return Held(cut.queries, head_dim, 0, registers_of_groups(cut)[0])
        case "flash2 backward":
            part = round_up(ceil_div(width, cut.columns), FRAGMENT)
            at_once = backward.queries_at_once(cut)
            return Held(cut.subtiles * at_once, cut.subtiles * part, cut.subtiles * at_once // 4, budget)
        case _:
            of_q = width // 4 * cut.subtiles if head_dim <= NARROW_HEAD else 4 * cut.subtiles
            return Held(cut.subtiles * cut.block_k // 2, cut.subtiles * width // 2, of_q, budget)


def _tile_bytes(cut: Cut, problem: Problem, card: GpuCard) -> int | None:
    if cut.backward:
        return None
    if cut.kernel == "flash2":
        return flash2_shared_as(problem, cut.block_q, cut.block_k, cut.groups)
    draws = bool(variant3_of(cut, problem, card.target).schedule)
    return flash3_shared_as(problem, Share(TileShape(cut.groups, cut.block_k), draws=draws))
