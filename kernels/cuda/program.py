"""What a CUDA kernel consists of, in words that need no GPU: source, defines, launches and tiles."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kernels.problem import Problem

LOG2E = math.log2(math.e)

THREADS = 128  # of a block, THREADS in simt.cuh and tensor.cuh

KIB = 1024
SHARED_MEMORY_LIMITS = {
    (7, 5): 64 * KIB,
    (8, 0): 163 * KIB,
    (8, 6): 99 * KIB,
    (8, 9): 99 * KIB,
    (9, 0): 227 * KIB,
    (10, 0): 227 * KIB,
    (12, 0): 99 * KIB,
}
"""Opt-in shared memory of one block in bytes (CUDA C++ Programming Guide, compute capabilities)."""


class Target(NamedTuple):
    """What a program is made for.

    Attributes:
        compute_capability: (major, minor).
        shared_memory: Largest opt-in shared memory of one block in bytes.
    """

    compute_capability: tuple[int, int]
    shared_memory: int

    @property
    def arch(self) -> str:
        """The compiler's name for it, `sm_90`."""
        return f"sm_{self.compute_capability[0]}{self.compute_capability[1]}"


class Tile(NamedTuple):
    """Rows of Q and rows of K that one block holds at a time: Br, Bc."""

    q: int
    k: int


@dataclass(frozen=True)
class Stage:
    """One launch.

    Attributes:
        entry: The kernel's name in the source.
        grid: Blocks.
        arguments: In the kernel's order: the name of a buffer (`q`, `o`, `lse`, one of the workspace), or a
            NumPy scalar of the parameter's exact type.
        shared_bytes: Dynamic shared memory of a block.
        threads: Threads of a block.
    """

    entry: str
    grid: int
    arguments: tuple[Any, ...]
    shared_bytes: int = 0
    threads: int = THREADS


@dataclass(frozen=True)
class Program:
    """A source file compiled for one problem, and its launches in order.

    Attributes:
        source: File in this folder.
        defines: Names and values for the preprocessor.
        stages: The launches.
    """

    source: str
    defines: dict[str, int]
    stages: tuple[Stage, ...] = field(default=())


ProgramOf = Callable[[Problem, Target], Program]


def defines_of(problem: Problem, tensor_cores: bool, tile: Tile, block: Tile) -> dict[str, int]:
    """The defines every kernel takes; `block` is how much of a tile holds rows and columns."""
    return {
        f"DTYPE_{problem.dtype}": 1,
        "TENSOR_CORES": int(tensor_cores),
        "NEGATIVE_SCALE": int(problem.softmax_scale < 0),
        "HEAD_DIM": problem.head_dim,
        "CAUSAL": int(problem.causal),
        "TILE_Q": tile.q,
        "TILE_K": tile.k,
        "BLOCK_Q": block.q,
        "BLOCK_K": block.k,
        "TRACE": 0,
    }


def choose_tile(tiles: Iterable[Tile], shared_bytes: Callable[[Tile], int], limit: int, per_sm: int) -> Tile:
    """The first tile with which `per_sm` blocks share an SM, else the first that fits a block's limit.

    Raises:
        ValueError: None fits; the tables of the kernels leave that to no architecture from sm_75 on.
    """
    candidates = tuple(tiles)
    for share in (limit // per_sm, limit):
        for tile in candidates:
            if shared_bytes(tile) <= share:
                return tile
    raise ValueError(f"no tile of {candidates} fits {limit} bytes of shared memory")


def ceil_div(count: int, step: int) -> int:
    """Steps needed to cover `count`."""
    return -(-count // step)


def round_up(count: int, step: int) -> int:
    """The smallest multiple of `step` that is at least `count`."""
    return ceil_div(count, step) * step


def exponent_factor(problem: Problem) -> np.float32:
    """|scale| * log2(e): exp(scale * s) = exp2(factor * s), the sign going in by NEGATIVE_SCALE.

    A scale of 0 becomes one that still makes all kept scores alike and masked ones, at -inf, vanish.
    """
    factor: np.float32 = np.float32(max(abs(problem.softmax_scale) * LOG2E, 1e-30))
    return factor
