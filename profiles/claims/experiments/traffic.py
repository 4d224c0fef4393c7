"""Bytes and elements by formula: tile sizes, loads and ratios that documents derive."""

from collections.abc import Callable
from math import ceil

import numpy as np
from msgspec import structs

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.traffic import Tiles, flash1_io, flash2_io
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.claims.experiments.arithmetic import confirmed
from flashscope.profiles.claims.experiments.memory import square
from flashscope.profiles.claims.model import Experiment
from flashscope.profiles.results.theory.formulas import compulsory_dram_bytes

KIB = 1024
FORMULA = "computed here: the formulas of traffic"
LIMITS = "the CUDA C++ Programming Guide's table, as the compiler tests here use it"


def block_sizes(memory: int, head_dim: int) -> tuple[int, int]:
    """B_c and B_r of FlashAttention's Algorithm 1 for M elements."""
    columns = ceil(memory / (4 * head_dim))
    return columns, min(columns, head_dim)


def four_blocks_fit(*, with_scores: bool) -> Experiment:
    """Whether blocks so cut fit M, alone or beside their tile of scores, for every head dim of ours."""

    def test() -> tuple[bool, str]:
        memory, over = 96 * KIB // 2, []
        for d in range(16, 257, 8):
            columns, rows = block_sizes(memory, d)
            elements = 2 * rows * d + 2 * columns * d + (rows * columns if with_scores else 0)
            if elements > memory:
                over.append((d, elements))
        told = f"M = {memory:,} elements: {len(over)} of 31 head dims take more"
        worst = max(over, key=lambda one: one[1], default=None)
        return not over, told + (f", d = {worst[0]} takes {worst[1]:,}" if worst else "")

    words = (
        "Cut the blocks for 96 KiB in 16 bits and every head dim from 16 to 256, and add up what they take"
    )
    return confirmed(words + (", S among it." if with_scores else "."), test)


def columns_fit() -> Experiment:
    """The constraint 4 B_c d <= M under B_c = ceil(M / 4d)."""

    def test() -> tuple[bool, str]:
        memory = 96 * KIB // 2
        over = [d for d in range(16, 257, 8) if 4 * block_sizes(memory, d)[0] * d > memory]
        some = ", ".join(map(str, over[:5]))
        return (
            not over,
            f"M = {memory:,}: rounded up, 4 B_c d is above M for {len(over)} of 31 head dims ({some}, ...)",
        )

    return confirmed("Compute 4 B_c d for every head dim from 16 to 256.", test)


def falls_with_memory() -> Experiment:
    """Loads of Algorithm 1's loops, counted, when M doubles and N doubles."""

    def loads(n: int, memory: int, d: int) -> int:
        columns, rows = block_sizes(memory, d)
        visits = ceil(n / columns) * ceil(n / rows)
        return 2 * n * d + visits * rows * 2 * d

    def test() -> tuple[bool, str]:
        n, d, memory = 1 << 16, 64, 1 << 14
        once, halved = loads(n, memory, d), loads(n, 2 * memory, d)
        longer = loads(2 * n, memory, d)
        told = f"twice M: {halved / once:.3f} of the loads; twice N: {longer / once:.3f} times"
        return abs(halved / once - 0.5) < 0.02 and abs(longer / once - 4) < 0.05, told

    return confirmed("Count the loads of Algorithm 1's loops at N = 64k, d = 64, for two M and two N.", test)


def output_written_once() -> Experiment:
    """How often Algorithm 1 writes each row of O."""

    def test() -> tuple[bool, str]:
        n, block = 256, 32
        writes = np.zeros(n, int)
        for _ in range(0, n, block):  # key blocks, outside
            for i in range(0, n, block):
                writes[i : i + block] += 1
        return (
            writes.max() == 1,
            f"each row is written {writes.max()} times, once for each of {n // block} key blocks",
        )

    return confirmed(
        "Run the loops of Algorithm 1 over 256 rows in blocks of 32, and count writes to O.", test
    )


def standard_moves(words: str, expected: Callable[[Problem], float], within: float = 0.05) -> Experiment:
    """What standard moves through DRAM at least, against a formula in elements."""

    def test() -> tuple[bool, str]:
        ratios = []
        for d in (64, 256):
            problem = square(8192, head_dim=d)
            moved = compulsory_dram_bytes("standard", problem, "cuda") / problem.itemsize
            ratios.append(moved / expected(problem))
        told = f"standard moves {ratios[0]:.3f} of {words} at d = 64, {ratios[1]:.3f} at d = 256 (N = 8192)"
        return max(abs(ratio / ratios[0] - 1) for ratio in ratios) <= within, told

    return confirmed("Compare the DRAM traffic of standard by formula at two head dims.", test, FORMULA)


def matches_flash2() -> Experiment:
    """2Nd + 2N²d / B_r elements against the formula of flash2 here."""

    def test() -> tuple[bool, str]:
        problem, rows = square(4096), 128
        n, d = problem.seqlen_q, problem.head_dim
        stated = 2 * n * d + 2 * n * n * d / rows
        ours = (flash2_io(problem, Tiles(rows, 64)) - 4 * n) / problem.itemsize
        return abs(
            ours / stated - 1
        ) < 1e-9, f"{stated:,.0f} elements stated, {ours:,.0f} by flash2's loops (B_r = 128)"

    return confirmed(
        "Compare with the loads and stores of flash2's loops at N = 4096, d = 64.", test, FORMULA
    )


def reads_of_k_and_v(factor: int) -> Experiment:
    """Reads of K and V over all query blocks, as multiples of N²d / B_r."""

    def test() -> tuple[bool, str]:
        problem, rows = square(4096), 128
        n, d = problem.seqlen_q, problem.head_dim
        moved = (flash2_io(problem, Tiles(rows, 64)) - 4 * n) / problem.itemsize - 2 * n * d
        times = moved / (n * n * d / rows)
        return abs(
            times - factor
        ) < 1e-9, f"{times:g} × N²d / B_r, since K and V are two matrices; stated: {factor}"

    return confirmed("Count the reads of K and V in flash2's loops at N = 4096, d = 64.", test, FORMULA)


def block_sparse() -> Experiment:
    """K and V that flash2 loads with a quarter of the blocks, beside all."""

    def test() -> tuple[bool, str]:
        problem = square(4096, dtype="float32")
        mask = BlockMask.random(4096, 4096, block_q=128, block_k=64, kept_share=0.25)
        dense, sparse = (
            flash2_io(one, Tiles()) for one in (problem, structs.replace(problem, block_mask=mask))
        )
        once = 2 * 4096 * 64 * 4 + 4096 * 4
        ratio = (sparse - once) / (dense - once)
        return abs(ratio - 0.25) < 0.01, f"a quarter of the blocks kept: {ratio:.3f} of the loads of K and V"

    return confirmed(
        "Count the loads of flash2 with a quarter of its blocks kept, and with all.", test, FORMULA
    )


def windowed() -> Experiment:
    """Pairs that a window of w keeps."""

    def test() -> tuple[bool, str]:
        window = 512
        kept = [
            structs.replace(square(n), causal=True, window=(window, 0)).kept_pairs for n in (1 << 15, 1 << 16)
        ]
        return abs(kept[1] / kept[0] - 2) < 0.05, f"twice N keeps {kept[1] / kept[0]:.3f} times the pairs"

    return confirmed("Count the pairs that a causal window of 512 keeps at N = 32k and at 64k.", test)


def blocks_of(kernel: str, *, grows: bool) -> Experiment:
    """How many thread blocks a kernel starts at N = 512 and at N = 8192 for one sequence of 16 heads."""

    def test() -> tuple[bool, str]:
        from importlib import import_module  # noqa: PLC0415 - programs are NumPy's to describe

        from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS, Target  # noqa: PLC0415 - NumPy comes along

        program = import_module(find_kernel(kernel).implementation["cuda"]).program
        target = Target((9, 0), SHARED_MEMORY_LIMITS[9, 0])
        short, long = (program(square(n, heads=16), target).launches[0].grid for n in (512, 8192))
        told = f"{kernel} starts {short} blocks at N = 512 and {long} at N = 8192, for 132 multiprocessors"
        return (short >= 132) if grows else (short < long), told

    return confirmed(f"Describe the launch of {kernel} for batch 1, 16 heads, at two N.", test)


def shared_memory(least: float, most: float) -> Experiment:
    """Shared memory that a block may ask for, from Ampere on, in KiB."""

    def test() -> tuple[bool, str]:
        from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS  # noqa: PLC0415 - NumPy comes along

        sizes = {arch: size / KIB for arch, size in SHARED_MEMORY_LIMITS.items() if arch >= (8, 0)}
        told = ", ".join(f"{major}.{minor}: {size:g}" for (major, minor), size in sizes.items())
        return all(least <= size <= most for size in sizes.values()), f"KiB by compute capability: {told}"

    return confirmed("Look up the shared memory of a block on each architecture.", test, LIMITS)


def ampere_memory(kibibytes: float) -> Experiment:
    """Shared memory that a block may ask for on an A100."""

    def test() -> tuple[bool, str]:
        from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS  # noqa: PLC0415 - NumPy comes along

        most = SHARED_MEMORY_LIMITS[8, 0] / KIB
        return abs(most - kibibytes) < 1, f"a block may have {most:g} KiB at compute capability 8.0"

    return confirmed("Look up the shared memory of a block at compute capability 8.0.", test, LIMITS)


def blocks_fit(rows: int, columns: int) -> Experiment:
    """Whether Q, K, V and O blocks of a size fit the shared memory of a block on Hopper, in 16 bits."""

    def test() -> tuple[bool, str]:
        from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS  # noqa: PLC0415 - NumPy comes along

        limit = SHARED_MEMORY_LIMITS[9, 0]
        takes = {d: 2 * (rows + columns) * d * 2 for d in (64, 128)}
        told = ", ".join(f"{nbytes / KIB:g} KiB at d = {d}" for d, nbytes in takes.items())
        return all(nbytes <= limit for nbytes in takes.values()), f"{told}, of {limit / KIB:g} KiB on Hopper"

    return confirmed("Add up Q, K, V and O blocks of that size in 16 bits.", test, LIMITS)


def loads_of_a_tile() -> Experiment:
    """What flash1 moves for one row in one more tile of keys: Q, and O, m and l there and back."""

    def test() -> tuple[bool, str]:
        problem = square(4096, dtype="float32")
        wide, narrow = (flash1_io(problem, Tiles(128, keys)) for keys in (128, 64))
        visits = problem.seqlen_q * (4096 // 64 - 4096 // 128)
        a_row, d = (narrow - wide) / visits / 4, problem.head_dim
        told = f"flash1 moves {a_row:g} elements a row and tile: Q {d}, O {d} both ways, m and ℓ both ways"
        return a_row == d + 2 * (d + 2), told

    return confirmed("Compare flash1's loads and stores with twice as many tiles of keys.", test, FORMULA)
