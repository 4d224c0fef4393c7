"""flash3 on CUDA: one launch; blocks of a producer and two or three consumer warpgroups, on Hopper alone."""

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.catalogue.flash3_share import (
    FEW_KEYS,
    MIDDLE_HEAD,
    NARROW_HEAD,
    Share,
    TileShape,
    lifted_rows,
    share,
    usual_shape,
)
from flashscope.kernels.catalogue.flash3_steps import GROUP_ROWS, HALF_KEYS, HALVED_KEYS
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.catalogue.workspace import (
    FLASH3_TILE,
    KEY_LENGTHS,
    PARTIAL_O,
    PARTIAL_SUMS,
    QUERY_LENGTHS,
    TILE_COUNTER,
)
from flashscope.kernels.cuda.flash3_blocks import covers, tables_of
from flashscope.kernels.cuda.flash3_sections import SHORT_KEYS, rises, section
from flashscope.kernels.cuda.launch import bind
from flashscope.kernels.cuda.program import (
    Boxes,
    KernelLaunch,
    Program,
    ProgramOf,
    Struct,
    Target,
    TileSize,
    ceil_div,
    defines_of,
    shape_arguments,
)
from flashscope.kernels.cuda.ragged import PAGE_TABLE, layout_defines, length_tables
from flashscope.kernels.cuda.scoring import (
    scoring_arguments,
    scoring_defines,
    scoring_fields,
    slope_table,
)
from flashscope.kernels.cuda.tensor import tile_bytes
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.problem import SCORING, Problem
from flashscope.kernels.workload.tensors import Inputs

GROUP_THREADS = 128  # of a warpgroup
SHARED_ALIGNMENT = 1024  # bytes, of the swizzle's pattern
MULTIPROCESSOR_BYTES, RESERVED_BYTES = 228 << 10, 1 << 10  # of shared memory, and of that for each block
BARRIER_BYTES, BARRIER_BYTES_A_STAGE = 56, 32  # flash3_layout.cuh

MOST_STAGES, FEW_STAGES, FEWEST_KEYS = (
    6,
    4,
    64,
)  # so many bytes of tiles of 64 keys stream best at head dim 64
MANY_ROWS = 4096  # that fill the GPU, a line each
FEWEST_IN_TURNS = 2  # warpgroups
WIDEST_IN_TURNS = 192  # head dim up to which ping-pong wins
COMBINE_LINES = 8  # rows, or parts of one row, in a block that merges: flash3_combine.cuh
LONG_TILE_KEYS = 176  # of tiles whose softmax takes all registers: nothing else is taken early
WARP_ROWS = 16
LAZY_KEYS = 2048  # of a block for one tile from so many keys on


class Flash3Variant(NamedTuple):
    """How one block is cut, and which steps of the ladder it takes.

    Attributes:
        groups: Consumer warpgroups, of 64 query rows each.
        block_k: Keys of a tile, Bc.
        stages: Tiles of K, and of V, in shared memory.
        q_stages: Tiles of Q in shared memory.
        overlap: The softmax runs under the product of the tile before.
        pingpong: Warpgroups take turns at the tensor cores.
        free_first: The first product of a tile waits for no turn: no softmax can run under it.
        schedule: Blocks stay and draw tiles from a counter.
        lazy: O is rescaled only when a row's maximum rose by more than 2^8.
        early: A block's first tile is asked for before its warps have met; Q by the rows of each warpgroup if
            that is its one tile.
        halves: Of a warpgroup's first key tile only half is computed, where its rows see no more.
        boxed: O leaves by TMA, from where Q was.
        lift: Tiles of a head begin before its first row, so that they meet the diagonal as a square's do.
        residents: Blocks that an SM holds; two of one warpgroup, and of half of its shared memory.
    """

    groups: int
    block_k: int
    stages: int = 2
    q_stages: int = 1
    overlap: int = 1
    pingpong: int = 1
    free_first: int = 0
    schedule: int = 1
    lazy: int = 0
    early: int = 0
    halves: int = 0
    boxed: int = 0
    lift: int = 0
    residents: int = 1

    @property
    def tile_q(self) -> int:
        """Query rows of a tile, Br."""
        return self.groups * GROUP_ROWS

    @property
    def box_q(self) -> int:
        """Query rows of a box that the TMA copies."""
        return GROUP_ROWS if self.early and not self.schedule else self.tile_q

    @property
    def tile(self) -> TileSize:
        """Br and Bc."""
        return TileSize(self.tile_q, self.block_k)

    @property
    def step_cost(self) -> float:
        """Time of one key tile of one tile of queries, in a unit of its own: measured on an H200."""
        return (self.groups + 2) * (self.block_k + 16)

    @property
    def threads(self) -> int:
        """Threads of a block; the first warpgroup is the producer."""
        return (self.groups + 1) * GROUP_THREADS

    def defines(self, problem: Problem) -> dict[str, int]:
        """The defines of the kernel cut like this."""
        steps = {name.upper(): value for name, value in self._asdict().items()}
        rows = {} if problem.block_mask is None else {"BLOCK_ROWS": problem.block_mask.block_q}
        sign = {"NEGATIVE_SCALE": int(problem.softmax_scale < 0)}
        return {**defines_of(problem), **steps, **rows, **sign, **layout_defines(problem)}

    def shared_bytes(self, head_dim: int, value_dim: int | None = None) -> int:
        """Shared memory of a block: Q, K, V, the barriers, and room to align them.

        Args:
            head_dim: Of Q and K.
            value_dim: Of V; None: as that.
        """
        keys = self.stages * self.block_k
        tiles = tile_bytes(self.q_stages * self.tile_q + keys, head_dim)
        tiles += tile_bytes(keys, head_dim if value_dim is None else value_dim)
        room = SHARED_ALIGNMENT if self.residents == 1 else 0  # it is aligned; two blocks have none to spare
        return tiles + room + BARRIER_BYTES + BARRIER_BYTES_A_STAGE * self.stages

    def fits(self, problem: Problem) -> bool:
        """Whether Hopper has that much for each block of an SM."""
        taken = self.shared_bytes(problem.head_dim, problem.value_dim)
        return taken <= (MULTIPROCESSOR_BYTES // self.residents - RESERVED_BYTES)


def flash3_variant(problem: Problem, step: str = "flash3", chosen: Share | None = None) -> Flash3Variant:
    """The variant of a step of the ladder; `chosen`: of flash3, another tile than the usual one."""
    usual = usual_shape(problem)
    chosen = chosen or Share(usual)
    if chosen.shape != usual:
        return _deep(problem, chosen)
    turns = int(problem.head_dim <= WIDEST_IN_TURNS)
    return _stepped(Flash3Variant(*usual, pingpong=turns), problem, step, chosen)


def _deep(problem: Problem, chosen: Share) -> Flash3Variant:
    """A smaller tile, and as many stages as fit: with little to compute bytes must be under way."""
    groups, block_k = chosen.shape
    most = _few_stages(problem, chosen) if block_k == FEWEST_KEYS else MOST_STAGES
    first = Flash3Variant(
        groups, block_k, pingpong=int(groups > 1), schedule=int(chosen.draws), residents=chosen.residents
    )
    first = first._replace(early=0 if chosen.draws else _early(problem, first))
    cuts = (
        first._replace(stages=stages, q_stages=q_stages)
        for stages in range(most, 1, -1)
        for q_stages in ((2, 1) if chosen.draws else (1,))
    )
    return next(cut for cut in cuts if cut.fits(problem))


def _few_stages(problem: Problem, chosen: Share) -> int:
    """Of tiles of 64 keys: two of few rows before many keys, but where a stage has half of the bytes."""
    middle = NARROW_HEAD < problem.widest_dim <= MIDDLE_HEAD
    return (
        FEW_STAGES // 2
        if middle and (problem.longest_keys > FEW_KEYS or chosen.residents > 1)
        else FEW_STAGES
    )


def _early(problem: Problem, cut: Flash3Variant) -> int:
    """Whether a block's first boxes are asked for early: not found in pages; of many tiles, where it won.

    With a softcap it would spill registers: of many tiles of an uneven batch, which is so with values of
    another head dim, too, and beside a bias.
    """
    if problem.page_size is not None or problem.features >= {"softcap", "alibi"}:
        return 0
    spills = "ragged" in problem.features and problem.features & {"softcap", "head_dim_v"}
    plain = problem.block_mask is None and cut.block_k < LONG_TILE_KEYS and not spills
    return int(plain or not cut.schedule)


def sparse_variants(problem: Problem, step: str = "flash3") -> tuple[Flash3Variant, ...]:
    """Variants to choose from under a block mask: the dense one, and tiles that leave less to mask."""
    head_dim = problem.head_dim
    turns = int(NARROW_HEAD < head_dim <= WIDEST_IN_TURNS)
    smaller = (Flash3Variant(2, keys, pingpong=turns) for keys in (128, FLASH3_TILE[1]))
    usual = Share(usual_shape(problem))
    cuts = (flash3_variant(problem, step), *(_stepped(cut, problem, step, usual) for cut in smaller))
    return tuple(cut for cut in cuts if cut.fits(problem))


def _stepped(cut: Flash3Variant, problem: Problem, step: str, chosen: Share) -> Flash3Variant:
    """The cut with what a step of the ladder takes; flash3's blocks draw tiles, or have one each."""
    if step == "flash3-a":
        return cut._replace(overlap=0, pingpong=0, schedule=0)
    if step == "flash3-b":
        return cut._replace(schedule=0)
    if step == "flash3-c":
        return cut
    if problem.head_dim == NARROW_HEAD and problem.longest_keys <= SHORT_KEYS:
        cut = cut._replace(stages=3)
    if NARROW_HEAD < problem.head_dim <= MIDDLE_HEAD and cut.groups == FEWEST_IN_TURNS:
        cut = cut._replace(free_first=cut.pingpong)
    if not chosen.draws:
        alone = cut._replace(schedule=0, lazy=int(problem.longest_keys >= LAZY_KEYS))
        if not problem.features - {"gqa"}:  # in one wave turns gain 0.5 to 1 % (H100)
            alone = alone._replace(free_first=0)
        return alone._replace(early=_early(problem, alone))
    cut = cut._replace(lazy=int(problem.head_dim > NARROW_HEAD), early=_early(problem, cut))
    two_of_q = cut._replace(q_stages=2)
    return _ended(problem, two_of_q, chosen) if two_of_q.fits(problem) else cut


def _ended(problem: Problem, cut: Flash3Variant, chosen: Share) -> Flash3Variant:
    """The cut with what its tiles' first and last steps take where two buffers of Q fit (H100).

    Parts of keys take none of it: they leave what is to be merged, not O.
    """
    if problem.features - SCORING - {"causal", "window", "gqa"} or chosen.splits > 1:
        return cut
    narrow = problem.head_dim == NARROW_HEAD
    serialises = narrow and bool(problem.features & {"softcap", "alibi"})  # registers are too few
    halves = _halves(problem, cut.block_k) and not serialises
    boxed = problem.head_dim == MIDDLE_HEAD or (narrow and (problem.causal or halves))
    lift = int(halves and lifted_rows(problem, chosen) > 0)
    return cut._replace(halves=int(halves), boxed=int(boxed), lift=lift)


def varied(problem: Problem, shape: TileShape, stages: int, q_stages: int, residents: int) -> Flash3Variant:
    """flash3's own cut of a problem in another tile, with so many stages and blocks an SM.

    Nothing of it is checked: `kernels.cuda.design.refusals` says what the source or a GPU does not take.
    """
    chosen = share(problem)._replace(shape=shape, pack_gqa=1, splits=1)
    turns = int(problem.head_dim <= WIDEST_IN_TURNS and shape.groups > 1)
    cut = _stepped(Flash3Variant(*shape, pingpong=turns), problem, "flash3", chosen)
    cut = cut._replace(stages=stages, q_stages=q_stages, residents=residents, halves=0, boxed=0)
    return _ended(problem, cut, chosen) if cut.schedule and q_stages > 1 else cut


def _halves(problem: Problem, block_k: int) -> bool:
    """Whether some warpgroups, or all at the last keys, see no more than half of their first key tile."""
    if problem.window is not None or block_k != HALVED_KEYS:
        return False
    return problem.causal or 0 < problem.seqlen_k % block_k <= HALF_KEYS


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O, LSE and the tile counter, and bind them.

    The counter belongs to the launch and every run leaves it at zero: runs of one launch must follow each
    other on one stream.
    """
    return bind(spec, problem, inputs, _program_of(spec.name))


@cache
def _program_of(step: str) -> ProgramOf:
    """The programs of a step; always the same function for it, so that `bind` knows them again."""
    return partial(program, step=step)


def program(
    problem: Problem,
    target: Target,
    step: str = "flash3",
    chosen: Share | None = None,
    cut: Flash3Variant | None = None,
) -> Program:
    """Source, defines and the launches for a problem on a target, of a step of the ladder.

    Only flash3 itself shares a problem among the SMs as `kernels.catalogue.flash3_share` has it, or as
    `chosen`; without a block mask its blocks may be cut as `cut`, in the tile of `chosen`.
    """
    chosen = chosen or (share(problem) if step == "flash3" else Share(usual_shape(problem)))
    taken, tables = (cut, {}) if cut is not None else tiling_of(problem, step, chosen)
    defines = {
        **taken.defines(problem),
        **scoring_defines(problem),
        "SPLIT": int(chosen.splits > 1),
        "PACKED": int(chosen.pack_gqa > 1),
        **({"RISING": 1} if rises(problem) else {}),
    }
    launches = (_attention(problem, target, taken, chosen, tables), *_combine(problem, chosen))
    tables = {TILE_COUNTER: np.zeros(2, np.int32), **tables, **length_tables(problem), **slope_table(problem)}
    return Program("flash3.cu", defines, launches, tables, arch_suffix="a", note=chosen.reason)


def _attention(
    problem: Problem, target: Target, taken: Flash3Variant, chosen: Share, tables: dict[str, Any]
) -> KernelLaunch:
    """The launch of blocks that stay; parts of keys are drawn like heads."""
    heads = problem.batch * problem.heads // chosen.pack_gqa * chosen.splits
    rows = problem.seqlen_q * chosen.pack_gqa
    tiles = heads * ceil_div(rows, taken.tile_q)
    group, _, seqlen_k, left, right = shape_arguments(problem)
    keys = taken.block_k if problem.page_size is None else min(taken.block_k, problem.page_size)
    return KernelLaunch(
        "flash3",
        grid=min(tiles, taken.residents * (target.multiprocessors or tiles)) if taken.schedule else tiles,
        arguments=(
            *(Boxes("q", taken.box_q, chosen.pack_gqa), Boxes("k", keys), Boxes("v", keys)),
            *((PARTIAL_O, PARTIAL_SUMS) if chosen.splits > 1 else ("o", "lse")),
            *(np.int32(heads), group, np.int32(min(heads, section(problem) * chosen.splits))),
            *(np.int32(rows), seqlen_k, left, np.int32(0) if problem.causal else right),
            np.float32(abs(problem.softmax_scale)),
            *(TILE_COUNTER, np.int32(chosen.splits), np.int32(problem.heads // chosen.pack_gqa)),
            _special(problem, tables),
            *scoring_arguments(problem),
            *((Boxes("o", WARP_ROWS, chosen.pack_gqa),) if taken.boxed else ()),
        ),
        threads=taken.threads,
        shared_bytes=taken.shared_bytes(problem.head_dim, problem.value_dim),
    )


def _special(problem: Problem, tables: dict[str, Any]) -> Struct:
    """Flash3Arguments of flash3.cu: a block mask's tables, lengths, pages; each where it counts."""
    lengths = _lengths(problem)
    pages = () if problem.page_size is None else (PAGE_TABLE, np.int32(problem.key_heads))
    return Struct((*tables, *lengths, *pages))


def _combine(problem: Problem, chosen: Share) -> tuple[KernelLaunch, ...]:
    """The launch that merges the parts' results; none where nothing is split."""
    if chosen.splits == 1:
        return ()
    lanes = COMBINE_LINES if problem.rows < MANY_ROWS else 1
    arguments = (
        *(PARTIAL_O, PARTIAL_SUMS, "o", "lse"),
        *(np.int64(problem.rows), np.int32(problem.seqlen_q * chosen.pack_gqa)),
        *(np.int32(chosen.splits), np.int32(lanes)),
        *_merged_sinks(problem),
    )
    grid, threads = ceil_div(problem.rows * lanes, COMBINE_LINES), problem.value_dim // 4 * COMBINE_LINES
    return (KernelLaunch("flash3_combine", grid, arguments, threads, pdl=True),)


def _merged_sinks(problem: Problem) -> tuple[Struct, ...]:
    """MergedSinks of flash3_combine.cuh; nothing without sinks."""
    if not problem.sinks:
        return ()
    heads = np.int32(problem.heads), np.int32(problem.seqlen_q)
    return (Struct((*scoring_fields(problem), *_lengths(problem), *heads)),)


def _lengths(problem: Problem) -> tuple[str, ...]:
    return (QUERY_LENGTHS, KEY_LENGTHS) if "ragged" in problem.features else ()


def tiling_of(problem: Problem, step: str, chosen: Share) -> tuple[Flash3Variant, dict[str, Any]]:
    """How a problem is cut, and the tables of its block mask in the kernel's order: without a mask none.

    Raises:
        InputError: The kernel cannot take such blocks.
    """
    blocks = problem.block_mask
    if blocks is None:
        return flash3_variant(problem, step, chosen), {}
    found = {v: covers(problem, blocks, v.tile) for v in sparse_variants(problem, step)}
    best = min(found, key=lambda v: sum(cover.cost for cover in found[v]) * v.step_cost)
    return best, tables_of(problem, blocks, best.tile, found[best], chosen.splits)
