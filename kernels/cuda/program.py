"""What a CUDA kernel consists of, in words that need no GPU: source, defines, launches and tiles."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from flashscope.kernels.workload.problem import Problem

LOG2E = math.log2(math.e)
UNBOUNDED = (
    1 << 29
)  # a side of a window that no sequence reaches, and that sums with a length stay 32 bits wide
NO_POINTER = np.intp(0)
BLOCK_LISTS, STEP_COUNTS, KEPT_BLOCKS = "block lists", "step counts", "kept blocks"

T = TypeVar("T")

HOPPER = (9, 0)
KIB = 1024
SHARED_MEMORY_LIMITS = {
    (7, 5): 64 * KIB,
    (8, 0): 163 * KIB,
    (8, 6): 99 * KIB,
    (8, 9): 99 * KIB,
    HOPPER: 227 * KIB,
    (10, 0): 227 * KIB,
    (12, 0): 99 * KIB,
}
"""Opt-in shared memory of one block in bytes (CUDA C++ Programming Guide, compute capabilities)."""


class Target(NamedTuple):
    """What a program is made for.

    Attributes:
        compute_capability: (major, minor).
        shared_memory: Largest opt-in shared memory of one block in bytes.
        multiprocessors: SMs of the device; None: unknown, as when compiling without one.
    """

    compute_capability: tuple[int, int]
    shared_memory: int
    multiprocessors: int | None = None

    @property
    def arch(self) -> str:
        """The compiler's name for it, `sm_90`."""
        return f"sm_{self.compute_capability[0]}{self.compute_capability[1]}"


class TileSize(NamedTuple):
    """Rows of Q and rows of K that one block holds at a time: Br, Bc."""

    q: int
    k: int


class Boxes(NamedTuple):
    """An argument by value: the tensor map of a buffer that the TMA copies in boxes of rows.

    Attributes:
        buffer: Its name; an array (batch, heads, seqlen, head_dim).
        rows: Rows of a box.
        pack_gqa: Neighbouring heads that are taken as one of as many times the rows.
    """

    buffer: str
    rows: int
    pack_gqa: int = 1


class Struct(NamedTuple):
    """An argument by value: a struct of these fields, in its order, each aligned as C++ aligns it.

    One without fields takes a byte, as in C++.

    Attributes:
        fields: Names of buffers, for pointers to them, and NumPy scalars of the fields' exact types.
    """

    fields: tuple[Any, ...]

    def packed(self, address_of: Callable[[str], int]) -> Any:
        """Its bytes as a NumPy scalar, which CuPy passes by value."""
        if not self.fields:
            return np.uint8(0)
        values = [np.uintp(address_of(one)) if isinstance(one, str) else one for one in self.fields]
        layout = np.dtype([(f"field {place}", one.dtype) for place, one in enumerate(values)], align=True)
        return np.array([tuple(values)], layout).view(f"V{layout.itemsize}")[0]


@dataclass(frozen=True)
class KernelLaunch:
    """One launch.

    Attributes:
        entry: The kernel's name in the source.
        grid: Blocks.
        arguments: In the kernel's order: the name of a buffer (`q`, `o`, `lse`, one of the workspace), its
            `Boxes`, a NumPy scalar of the parameter's exact type, or a `Struct` of names and scalars.
        threads: Threads of a block.
        shared_bytes: Dynamic shared memory of a block.
        pdl: It may begin while the launch before it ends, and waits itself for what that leaves
            (include/launch_order.cuh); on Hopper and newer. Never a program's first.
    """

    entry: str
    grid: int
    arguments: tuple[Any, ...]
    threads: int
    shared_bytes: int = 0
    pdl: bool = False

    @property
    def given(self) -> tuple[Any, ...]:
        """All that it is given: its arguments, and in place of a struct the struct's fields."""
        return tuple(
            one
            for argument in self.arguments
            for one in (argument.fields if isinstance(argument, Struct) else (argument,))
        )


@dataclass(frozen=True)
class Program:
    """A source file compiled for one problem, and its launches in order.

    Attributes:
        source: File in this folder, or the path of another.
        defines: Names and values for the preprocessor.
        launches: The launches.
        tables: What the workspace's buffers of these names hold before the first launch.
        arch_suffix: `a` for instructions of one architecture alone (wgmma, setmaxnreg).
        note: Why it is cut as it is, in words, where there was a choice.
        text: What the file holds; None: it is read when it is compiled.
    """

    source: str
    defines: dict[str, int]
    launches: tuple[KernelLaunch, ...]
    tables: dict[str, Any] = field(default_factory=dict)
    arch_suffix: Literal["", "a"] = ""
    note: str = ""
    text: str | None = None


ProgramOf = Callable[[Problem, Target], Program]


def defines_of(problem: Problem) -> dict[str, int]:
    """The defines every kernel takes."""
    return {
        f"DTYPE_{problem.dtype}": 1,
        "HEAD_DIM": problem.head_dim,
        **({"HEAD_DIM_V": problem.value_dim} if "head_dim_v" in problem.features else {}),
        "CAUSAL": int(problem.causal),
        "WINDOW": int(problem.window is not None),
        "SPARSE": int(problem.block_mask is not None),
    }


def shape_arguments(problem: Problem) -> tuple[np.int32, ...]:
    """Query heads a K/V head, Nq, Nk and both sides of the window."""
    window = (UNBOUNDED if side < 0 else min(side, UNBOUNDED) for side in problem.window or (-1, -1))
    group = problem.heads // problem.key_heads
    return tuple(np.int32(n) for n in (group, problem.seqlen_q, problem.seqlen_k, *window))


def choose_fitting(
    candidates: Iterable[T], shared_bytes: Callable[[T], int], limit: int, blocks_per_sm: int = 1
) -> T:
    """The first candidate of which `blocks_per_sm` share an SM, else the first that fits a block's limit.

    Raises:
        ValueError: None fits; the tables of the kernels leave that to no architecture from sm_75 on.
    """
    table = tuple(candidates)
    for share in (limit // blocks_per_sm, limit):
        for candidate in table:
            if shared_bytes(candidate) <= share:
                return candidate
    raise ValueError(f"none of {table} fits {limit} bytes of shared memory")


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
