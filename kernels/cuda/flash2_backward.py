"""flash2, backward, on CUDA: delta, one block a key tile, dQ by atomic adds or by a launch of its own."""

from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.catalogue.workspace_backward import DQ_SUMS, NARROW_HEAD, ROW_STATES, padded
from flashscope.kernels.cuda.backward import ROW_CUTS, STATE_BYTES, RowTiling, bind, mask_defines, suitable
from flashscope.kernels.cuda.program import (
    HOPPER,
    NO_POINTER,
    KernelLaunch,
    Program,
    Target,
    TileSize,
    ceil_div,
    choose_fitting,
    defines_of,
    shape_arguments,
)
from flashscope.kernels.cuda.scoring import (
    scoring_arguments,
    scoring_defines,
    slope_table,
    without_sinks,
)
from flashscope.kernels.cuda.sparse import kept_argument, kept_table
from flashscope.kernels.cuda.tensor import FRAGMENT_ROWS, MIDDLE_HEAD, tile_bytes
from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Saved

GIVEN = ("q", "k", "v", "grad_output", ROW_STATES)
VECTOR = 8  # elements of a 16-byte access

ROW_THREADS = 256
SECTION_BYTES = 32 << 20
"""Q, dO and the sums of dQ of the heads whose causal tiles are taken together, as flash3's (H200)."""
SPILLING_HEADS = (*range(40, 64, 8), *range(104, 128, 8))
"""Head dims with which two fragments of keys a warp spill registers."""


class KeyTiling(NamedTuple):
    """How a block that owns keys is cut.

    Attributes:
        key_warps: Groups of warps, each of which owns keys.
        subtiles: Fragments of 16 keys of a group.
        column_warps: Warps of a group: each has a part of dK's and dV's columns.
        queries: Queries that pass by at a time.
        blocks: Blocks that are to share an SM.
    """

    key_warps: int
    subtiles: int
    column_warps: int
    queries: int
    blocks: int = 1

    @property
    def keys(self) -> int:
        """Keys that a block owns."""
        return self.key_warps * self.subtiles * FRAGMENT_ROWS

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.key_warps * self.column_warps * 32

    @property
    def defines(self) -> dict[str, int]:
        """The defines of a kernel cut like this."""
        return dict(zip(self.names(), self, strict=True))

    @staticmethod
    def names() -> tuple[str, ...]:
        """Those of its defines, in the order of its fields."""
        return ("KEY_WARPS", "SUBTILES", "COLUMN_WARPS", "QUERIES", "BLOCKS_PER_SM")


# (widest head, cut), best first; the small ones at the end suit block masks.
CUTS = (
    (64, KeyTiling(4, 2, 1, 64, blocks=2)),
    (64, KeyTiling(8, 1, 1, 64)),
    (64, KeyTiling(4, 1, 1, 32)),
    (128, KeyTiling(2, 2, 2, 64, blocks=2)),
    (128, KeyTiling(4, 2, 2, 64)),
    (128, KeyTiling(4, 1, 2, 32)),
    (256, KeyTiling(2, 2, 4, 64)),
    (256, KeyTiling(4, 1, 2, 32)),
    (256, KeyTiling(2, 1, 2, 32)),
    (256, KeyTiling(2, 1, 2, 16)),
    (256, KeyTiling(1, 1, 2, 16)),
)


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Compile for the current device, allocate the gradients, states and sums of dQ, and bind them."""
    return bind(spec, problem, saved, program)


def key_cut(problem: Problem, target: Target) -> KeyTiling:
    """How a block that owns keys is cut: the first cut that fits.

    Raises:
        InputError: None suits the block mask.
    """
    cuts = suitable("flash2", problem, CUTS, lambda cut: TileSize(cut.queries, cut.keys))
    return choose_fitting(
        [cut for cut in cuts if not spills(problem, cut, target)],
        lambda cut: cut.blocks * shared_bytes(problem, cut),
        target.shared_memory,
    )


def program(problem: Problem, target: Target, cut: KeyTiling | None = None) -> Program:
    """Source, defines and the three launches for a problem on a target.

    Args:
        problem: What is computed.
        target: The GPU.
        cut: How a block that owns keys is cut; None: as is best.
    """
    cut = cut or key_cut(problem, target)
    query_cut = choose_fitting(
        suitable("flash2", problem, ROW_CUTS, lambda cut: TileSize(cut.outer, cut.inner)),
        lambda cut: query_shared_bytes(problem, cut),
        target.shared_memory,
    )
    defines = {
        **defines_of(problem),
        **mask_defines(problem),
        **cut.defines,
        **scoring_defines(without_sinks(problem)),
        "OUTER_WARPS": query_cut.warps,
        "INNER": query_cut.inner,
        "DETERMINISTIC": int(problem.deterministic),
    }
    last = _queries(problem, query_cut) if problem.deterministic else _finish(problem)
    launches = (_rows(problem), _keys(problem, cut), last)
    return Program("flash2_backward.cu", defines, launches, {**kept_table(problem), **slope_table(problem)})


def spills(problem: Problem, cut: KeyTiling, target: Target) -> bool:
    """Whether registers are too few for two fragments of keys a warp, as where masks need some, too."""
    if "head_dim_v" in problem.features:
        return cut.subtiles > 1
    if cut.subtiles == 1 or (problem.head_dim > MIDDLE_HEAD and target.compute_capability == HOPPER):
        return False
    masked = problem.causal or problem.window is not None
    ampere = target.compute_capability < HOPPER and problem.window is not None
    return (
        problem.head_dim in SPILLING_HEADS
        or target.compute_capability > HOPPER
        or problem.block_mask is not None
        or problem.softcap is not None
        or problem.alibi
        or (problem.deterministic and masked)
        or (ampere and problem.head_dim > NARROW_HEAD)
    )


def shared_bytes(problem: Problem, cut: KeyTiling) -> int:
    """Shared memory of a block: K and V, two stages of Q and dO, dS, of several warps P, and states."""
    held = cut.keys + 2 * cut.queries
    rows = tile_bytes(held, problem.head_dim) + tile_bytes(held, problem.value_dim)
    weights = (2 if cut.column_warps > 1 else 1) * tile_bytes(cut.keys, cut.queries)
    return rows + weights + 2 * cut.queries * STATE_BYTES


def query_shared_bytes(problem: Problem, cut: RowTiling) -> int:
    """Shared memory of a block of the launch of dQ alone: Q and dO, and two stages of K and V."""
    held = cut.outer + 2 * cut.inner
    return tile_bytes(held, problem.head_dim) + tile_bytes(held, problem.value_dim)


def section(problem: Problem) -> int:
    """K/V heads whose blocks are taken together, the longest first; 1 where they are alike."""
    if not problem.causal:
        return 1
    group = problem.heads // problem.key_heads
    head_bytes = group * problem.seqlen_q * problem.head_dim * (2 * problem.itemsize + 4)
    return max(1, min(problem.batch * problem.key_heads, SECTION_BYTES // head_bytes))


def _rows(problem: Problem) -> KernelLaunch:
    rows = problem.batch * problem.heads * padded(problem.seqlen_q)
    lanes = 1 << (problem.widest_dim // VECTOR - 1).bit_length()
    sums = NO_POINTER if problem.deterministic else DQ_SUMS
    return KernelLaunch(
        "flash2_backward_rows",
        grid=ceil_div(rows * lanes, ROW_THREADS),
        arguments=(
            *("output", "grad_output", "lse", ROW_STATES, sums),
            *(np.int32(problem.seqlen_q), np.int64(rows)),
        ),
        threads=ROW_THREADS,
    )


def _keys(problem: Problem, cut: KeyTiling) -> KernelLaunch:
    kv_heads = problem.batch * problem.key_heads
    sums = NO_POINTER if problem.deterministic else DQ_SUMS
    return KernelLaunch(
        "flash2_backward_keys",
        grid=kv_heads * ceil_div(problem.seqlen_k, cut.keys),
        arguments=(
            *GIVEN,
            *(sums, "dk", "dv", np.int32(kv_heads), np.int32(section(problem))),
            *_numbers(problem),
        ),
        threads=cut.threads,
        shared_bytes=shared_bytes(problem, cut),
    )


def _queries(problem: Problem, cut: RowTiling) -> KernelLaunch:
    return KernelLaunch(
        "flash2_backward_queries",
        grid=problem.batch * problem.heads * ceil_div(problem.seqlen_q, cut.outer),
        arguments=(*GIVEN, "dq", *_numbers(problem)),
        threads=cut.threads,
        shared_bytes=query_shared_bytes(problem, cut),
    )


def _finish(problem: Problem) -> KernelLaunch:
    rows = problem.batch * problem.heads * padded(problem.seqlen_q)
    pairs = rows // 2 * problem.head_dim // VECTOR
    return KernelLaunch(
        "flash2_backward_finish",
        grid=ceil_div(pairs, ROW_THREADS),
        arguments=(
            *(DQ_SUMS, "dq", np.int32(problem.seqlen_q)),
            *(np.float32(problem.softmax_scale), np.int64(pairs)),
        ),
        threads=ROW_THREADS,
    )


def _numbers(problem: Problem) -> tuple[Any, ...]:
    numbers = (*shape_arguments(problem), np.float32(problem.softmax_scale), kept_argument(problem))
    return (*numbers, *scoring_arguments(without_sinks(problem)))
