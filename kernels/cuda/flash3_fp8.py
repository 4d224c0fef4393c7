"""flash3-fp8 on CUDA: a launch that rounds Q, K and V to 8 bits, one that multiplies them; Hopper alone."""

from typing import NamedTuple

import numpy as np

from flashscope.kernels.catalogue import fp8
from flashscope.kernels.catalogue.flash3_share import MIDDLE_HEAD
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.catalogue.workspace import FP8_SCALE_BYTES, K_E4M3, Q_E4M3, TILE_COUNTER, V_E4M3
from flashscope.kernels.cuda.flash3 import (
    BARRIER_BYTES,
    BARRIER_BYTES_A_STAGE,
    GROUP_THREADS,
    SHARED_ALIGNMENT,
)
from flashscope.kernels.cuda.flash3_sections import alike_sections
from flashscope.kernels.cuda.launch import bind
from flashscope.kernels.cuda.program import (
    LOG2E,
    KernelLaunch,
    Program,
    Target,
    TileSize,
    defines_of,
    shape_arguments,
)
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

QUANTISE_THREADS = 256
SECTION_BYTES, LONG_SECTION_BYTES = 32 << 20, 64 << 20  # of K and V before they are rounded
LONG_KEYS = 2048  # from here on, or beyond head dim 128, larger sections win (H200)


class Flash3Fp8Variant(NamedTuple):
    """How one block is cut.

    Attributes:
        groups: Consumer warpgroups, of 64 query rows each.
        block_k: Keys of a tile, Bc.
        stages: Tiles of K, and of V, in shared memory.
        q_stages: Tiles of Q in shared memory.
    """

    groups: int
    block_k: int
    stages: int
    q_stages: int = 2

    @property
    def tile(self) -> TileSize:
        """Br and Bc."""
        return TileSize(self.groups * fp8.QUERY_BLOCK, self.block_k)

    @property
    def threads(self) -> int:
        """Threads of a block; the first warpgroup is the producer."""
        return (self.groups + 1) * GROUP_THREADS

    def shared_bytes(self, head_dim: int) -> int:
        """Shared memory of a block: Q, K, V and their scales, the barriers, and room to align them.

        Where the last share of columns of V is not a whole one, its product reads what would be the rest.
        """
        q_tile = self.groups * (fp8.QUERY_BLOCK * head_dim + FP8_SCALE_BYTES)
        tiles = self.q_stages * q_tile + 2 * self.stages * (self.block_k * head_dim + FP8_SCALE_BYTES)
        behind_v = -head_dim % (self.block_k // 2) * self.block_k
        return tiles + behind_v + SHARED_ALIGNMENT + BARRIER_BYTES + BARRIER_BYTES_A_STAGE * self.stages


def fp8_variant(head_dim: int) -> Flash3Fp8Variant:
    """The variant for a head dim; measured on an H200 for 64, 128 and 256."""
    groups, key_block = fp8.fp8_tiling(head_dim)
    return Flash3Fp8Variant(groups, key_block, stages=4 if head_dim <= 128 else 2)  # noqa: PLR2004 - a table of head dims


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O, LSE and the 8-bit blocks, and bind them.

    The tile counter belongs to the launch and every run leaves it at zero: runs of one launch must follow
    each other on one stream.
    """
    return bind(spec, problem, inputs, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and both launches for a problem on a target."""
    chosen = fp8_variant(problem.head_dim)
    steps = {name.upper(): value for name, value in chosen._asdict().items()}
    heads, kv_heads = problem.batch * problem.heads, problem.batch * problem.key_heads
    q_tiles, k_tiles = fp8.fp8_tiling(problem.head_dim).tiles(problem.seqlen_q, problem.seqlen_k)
    q_blocks, tiles = q_tiles * chosen.groups, heads * q_tiles
    group, seqlen_q, seqlen_k, *_ = shape_arguments(problem)
    score_factor = abs(problem.softmax_scale) * LOG2E * fp8.Rounding.score_factor(problem.head_dim)
    quantise = KernelLaunch(
        "quantise",
        grid=heads * q_blocks + 2 * kv_heads * k_tiles,
        arguments=(
            *("q", "k", "v", Q_E4M3, K_E4M3, V_E4M3),
            *(np.int32(q_blocks), np.int32(k_tiles), np.int32(heads), np.int32(kv_heads)),
            *(seqlen_q, seqlen_k, np.float32(-1 if problem.softmax_scale < 0 else 1)),
        ),
        threads=QUANTISE_THREADS,
    )
    attend = KernelLaunch(
        "flash3_fp8",
        grid=min(tiles, target.multiprocessors or tiles),
        arguments=(
            *(Q_E4M3, K_E4M3, V_E4M3, "o", "lse"),
            *(np.int32(heads), group, np.int32(_section(problem)), seqlen_q, seqlen_k),
            *(np.float32(score_factor), TILE_COUNTER),
        ),
        threads=chosen.threads,
        shared_bytes=chosen.shared_bytes(problem.head_dim),
        pdl=True,
    )
    tables = {TILE_COUNTER: np.zeros(2, np.int32)}
    defines = {**defines_of(problem), **steps, "WINDOW": 0}  # an unbounded one at most: see the spec
    return Program("flash3_fp8.cu", defines, (quantise, attend), tables, arch_suffix="a")


def _section(problem: Problem) -> int:
    """Query heads whose tiles are taken together; 1 where tiles are alike."""
    long = problem.seqlen_k >= LONG_KEYS or problem.head_dim > MIDDLE_HEAD
    most_bytes = LONG_SECTION_BYTES if long else SECTION_BYTES  # half of them in 8 bits
    return alike_sections(problem, most_bytes)
