"""flash2, backward, on CUDA: delta, one block a key tile, dQ by atomic adds or by a launch of its own."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kernels.cuda.backward import bind, mask_defines, rows_stage
from kernels.cuda.program import (
    NO_POINTER,
    Program,
    Stage,
    Target,
    Tile,
    ceil_div,
    choose,
    defines_of,
    shape_arguments,
)
from kernels.cuda.sparse import block_text, divides, kept_argument, kept_table
from kernels.cuda.tensor import FRAGMENT_ROWS, tile_bytes
from kernels.errors import InputError
from kernels.launch import BackwardLaunch, Saved
from kernels.problem import Problem
from kernels.spec import KernelSpec
from kernels.workspace_backward import DQ_SUMS

FINISH_THREADS = 256
STATE_BYTES = 8  # LSE and delta of a query


class Cut(NamedTuple):
    """How one block is cut.

    Attributes:
        warps: Warps of a block.
        subtiles: Fragments of 16 rows in a warp: keys, or queries in the launch of dQ alone.
        inner: Rows that pass by at a time: queries, or keys.
    """

    warps: int
    subtiles: int
    inner: int

    @property
    def outer(self) -> int:
        """Rows that a block keeps."""
        return self.warps * self.subtiles * FRAGMENT_ROWS

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.warps * 32

    @property
    def defines(self) -> dict[str, int]:
        """The defines of a kernel cut like this."""
        return {"WARPS": self.warps, "SUBTILES": self.subtiles, "INNER": self.inner}


# (widest head, cut), best first; the small ones at the end suit block masks.
CUTS = (
    (64, Cut(8, 1, 64)),
    (256, Cut(8, 1, 32)),
    (256, Cut(4, 1, 32)),
    (256, Cut(4, 1, 16)),
    (256, Cut(2, 1, 32)),
    (256, Cut(2, 1, 16)),
    (256, Cut(1, 1, 16)),
)
PART_WIDTH = 128  # columns of dK and dV that a block's registers hold


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Compile for the current device, allocate the gradients, delta and sums of dQ, and bind them."""
    return bind(spec, problem, saved, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the three launches for a problem on a target, with the largest cut that fits it."""
    cut = choose(
        suitable(problem, "flash2"),
        lambda cut: shared_bytes(problem, cut),
        target.shared_memory,
    )
    defines = {
        **defines_of(problem),
        **mask_defines(problem),
        **cut.defines,
        "DETERMINISTIC": int(problem.deterministic),
    }
    stages = tuple(_stages(problem, cut))
    return Program("flash2_backward.cu", defines, stages, kept_table(problem))


def suitable(problem: Problem, kernel: str) -> list[Cut]:
    """The cuts that suit the head dim and the block mask, best first; dQ alone cuts the other way round.

    Raises:
        InputError: None suits the block mask.
    """
    cuts = [
        cut
        for widest, cut in CUTS
        if problem.head_dim <= widest
        and divides(problem, Tile(cut.inner, cut.outer))
        and (not problem.deterministic or divides(problem, Tile(cut.outer, cut.inner)))
    ]
    if not cuts:
        raise InputError(
            f"{kernel}'s backward pass takes block masks whose blocks are multiples of {FRAGMENT_ROWS} long, "
            f"not {block_text(problem)}."
        )
    return cuts


def shared_bytes(problem: Problem, cut: Cut) -> int:
    """Shared memory of a block: K and V, two stages of Q and dO, dS, and two stages of LSE and delta."""
    rows = tile_bytes(2 * cut.outer + 4 * cut.inner, problem.head_dim)
    return rows + tile_bytes(cut.outer, cut.inner) + 2 * cut.inner * STATE_BYTES


def _stages(problem: Problem, cut: Cut) -> Iterator[Stage]:
    """The launches: delta, dK and dV (and dQ's sums), dQ."""
    shape = (*shape_arguments(problem), np.float32(problem.softmax_scale), kept_argument(problem))
    given = ("q", "k", "v", "grad_output", "lse", "delta")
    heads, kv_heads = problem.batch * problem.heads, problem.batch * problem.key_heads
    sums = NO_POINTER if problem.deterministic else DQ_SUMS
    shared = shared_bytes(problem, cut)
    yield rows_stage(problem, sums)
    yield Stage(
        "flash2_backward_keys",
        grid=kv_heads * ceil_div(problem.seqlen_k, cut.outer) * ceil_div(problem.head_dim, PART_WIDTH),
        arguments=(*given, sums, "dk", "dv", *shape),
        threads=cut.threads,
        shared_bytes=shared,
    )
    if problem.deterministic:
        yield Stage(
            "flash2_backward_queries",
            grid=heads * ceil_div(problem.seqlen_q, cut.outer),
            arguments=(*given, "dq", *shape),
            threads=cut.threads,
            shared_bytes=shared,
        )
        return
    chunks = problem.rows * problem.head_dim // 8
    yield Stage(
        "flash2_backward_finish",
        grid=ceil_div(chunks, FINISH_THREADS),
        arguments=(DQ_SUMS, "dq", np.float32(problem.softmax_scale), np.int64(chunks)),
        threads=FINISH_THREADS,
    )
