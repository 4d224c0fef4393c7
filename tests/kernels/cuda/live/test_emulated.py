"""Kernels in slow motion, in the emulator: the timed answer to the bit, and each tile told of while it runs.

The emulator has no clock: one that counts whenever it is read stands in. Memory of the host is plain memory.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from flashscope.kernels.catalogue.flash3_share import Share, TileShape
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.workspace import PARTIAL_O, PARTIAL_SUMS
from flashscope.kernels.cuda.clocked.groups import GroupCut, tiles
from flashscope.kernels.cuda.live.builds import (
    BEGUN,
    DUE,
    STOP,
    TOLD,
    LiveBuild,
    as_drawn,
    flash3_build,
    live_build,
)
from flashscope.kernels.cuda.live.told import ToldSoFar
from flashscope.kernels.cuda.program import Program
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.live import LiveKernel, kept_tiles
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.cuda.clocked.clock import COUNTING
from tests.kernels.cuda.emulator.build import Edits
from tests.kernels.cuda.emulator.launch import Memory, guarded_memory, run
from tests.kernels.cuda.emulator.running import drawn, needs_compiler, target, workspace
from tests.matrix import chosen

HOPPER = 900
TILE_NS = 40_000
AWAKE = (("__nanosleep(half < LONGEST_NAP_NS ? unsigned(half) : LONGEST_NAP_NS);", ""),)
"""One that waits for ever does so alone: the emulator takes threads that nap for ever for a deadlock."""
FOR_EVER = 1 << 50
FULL = {"seqlen_q": 150, "seqlen_k": 300}
CAUSAL = {"seqlen_q": 400, "seqlen_k": 400, "causal": True}
MORE_ROWS = {"seqlen_q": 500, "seqlen_k": 140, "causal": True, "heads": 2}
FEW_TILES = {"seqlen_q": 66, "seqlen_k": 1030, "causal": True, "heads": 2}
GROUPED = {"seqlen_q": 140, "seqlen_k": 200, "heads": 4, "kv_heads": 2}
DRAWN, DRAWN_NARROW = Share(TileShape(2, 128)), Share(TileShape(3, 128))
ALONE, PARTS = Share(TileShape(2, 128), draws=False), Share(TileShape(1, 128), splits=2, draws=False)
CASES: list[tuple[LiveKernel, str, int, dict[str, Any], Share | None]] = [
    ("flash1", "full", 64, FULL, None),
    ("flash1", "causal", 128, CAUSAL, None),
    ("flash1", "more rows", 64, MORE_ROWS, None),
    ("flash2", "full", 128, FULL, None),
    ("flash2", "causal", 64, CAUSAL, None),
    ("flash2", "more rows", 64, MORE_ROWS, None),
    ("flash2", "grouped", 64, GROUPED, None),
    ("flash3", "causal, drawn", 64, CAUSAL, DRAWN_NARROW),
    ("flash3", "causal, drawn", 128, CAUSAL, DRAWN),
    ("flash3", "more rows, drawn", 64, MORE_ROWS, DRAWN),
    ("flash3", "more rows, alone", 64, MORE_ROWS, ALONE),
    ("flash3", "window, drawn", 64, {**CAUSAL, "window": (90, 0)}, DRAWN),
    ("flash3", "full, alone", 128, FULL, ALONE),
    ("flash3", "full, in parts", 64, FULL, PARTS),
    ("flash3", "wide", 256, CAUSAL, DRAWN._replace(shape=TileShape(2, 80))),
    ("flash2", "few tiles", 128, FEW_TILES, None),
]
each_case = chosen("kernel,name,head_dim,shape,share", CASES, [CASES[n] for n in (4, 10)])


def asked(head_dim: int, shape: dict[str, Any]) -> Problem:
    return Problem(**{"heads": 1, **shape}, batch=1, head_dim=head_dim, dtype="float16", seed=2)


def build_of(kernel: LiveKernel, problem: Problem, share: Share | None) -> LiveBuild:
    if share is None:
        return live_build(kernel, problem, target(HOPPER))
    return flash3_build(problem, target(HOPPER), share)


class Watched:
    """A build bound to arrays of the emulator, and what reads it while it runs."""

    def __init__(self, memory: Memory, kernel: LiveKernel, problem: Problem, build: LiveBuild) -> None:
        inputs: Inputs = drawn(problem)
        self.build = build
        self.buffers = {name: memory.copy(name, array) for name, array in inputs.arrays.items()}
        self.buffers["o"] = memory.empty("o", problem.q_shape, storage_dtype(problem.dtype))
        self.buffers["lse"] = memory.empty("lse", problem.q_shape[:3], np.float32)
        self.buffers |= workspace(memory, find_kernel(kernel).workspace(problem, "cuda"), build.program)
        parts = (*problem.q_shape[:3], problem.head_dim), (*problem.q_shape[:3], 2)
        for name, shape in zip((PARTIAL_O, PARTIAL_SUMS), parts, strict=True):
            self.buffers.setdefault(name, memory.empty(name, (2, *shape), np.float32))
        told = (build.telling.size, build.reporters)
        words = (
            (TOLD, told, np.uint64),
            (STOP, 1, np.int32),
            (DUE, build.warps, np.uint64),
            (BEGUN, 1, np.uint64),
        )
        for name, size, dtype in words:
            self.buffers[name] = memory.copy(name, np.zeros(size, dtype))
        self.told = ToldSoFar(build.telling, self.buffers[TOLD])

    def run(self, program: Program, edits: Edits = ()) -> None:
        """Run it to its end."""
        counting = COUNTING if "LIVE" in program.defines else ()
        run(program, self.buffers, seed=1, arch=HOPPER, edits=(*counting, *edits))

    def answer(self, program: Program) -> tuple[bytes, bytes]:
        """O and LSE of a run."""
        self.run(program)
        return self.buffers["o"].tobytes(), self.buffers["lse"].tobytes()


@contextmanager
def watching(
    kernel: LiveKernel, head_dim: int, shape: dict[str, Any], share: Share | None
) -> Iterator[tuple[Problem, Watched]]:
    problem = asked(head_dim, shape)
    with guarded_memory() as memory:
        yield problem, Watched(memory, kernel, problem, build_of(kernel, problem, share))


@needs_compiler
@each_case
def test_the_answer_is_the_timed_kernels_to_the_bit_and_every_tile_is_told_of_once(
    kernel: LiveKernel, name: str, head_dim: int, shape: dict[str, Any], share: Share | None
) -> None:
    with watching(kernel, head_dim, shape, share) as (problem, watched):
        slow = watched.answer(watched.build.slowed(TILE_NS))
        told = watched.told.fresh()
        assert slow == watched.answer(watched.build.program), name
        assert len(watched.told.fresh().tile) == 0
    kept = [*kept_tiles(problem, *watched.build.tile)]
    assert sorted(map(tuple, told.tile.tolist())) == [
        (head, i, j) for head in range(problem.heads) for i, j in kept
    ]
    assert watched.build.tiles == len(told.tile)
    assert (np.diff(told.finished_ns) >= 0).all()
    assert set(told.sm.tolist()) == {3}


@needs_compiler
@each_case
def test_tiles_of_a_row_of_blocks_come_in_the_kernels_order_and_a_tiles_time_apart(
    kernel: LiveKernel, name: str, head_dim: int, shape: dict[str, Any], share: Share | None
) -> None:
    with watching(kernel, head_dim, shape, share) as (_, watched):
        watched.run(watched.build.slowed(TILE_NS))
        told = watched.told.fresh()
    chains: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for (head, i, j), ns in zip(told.tile.tolist(), told.finished_ns.tolist(), strict=True):
        chains.setdefault((head,) if kernel == "flash1" else (head, i), []).append((j, ns))
    for chain in chains.values():
        keys, times = (np.array(one) for one in zip(*chain, strict=True))
        if share is None or share.splits == 1:
            assert (np.diff(keys) * (1 if kernel == "flash1" else -1) >= 0).all(), name
            waited = TILE_NS * np.arange(-1, len(times) - 1)  # one that is late may be followed at once
            assert (times - times[0] >= waited).all(), name


@needs_compiler
@chosen("case", [CASES[n] for n in (0, 4, 8, 13)], [CASES[4]])
def test_it_is_read_while_it_runs_and_ends_when_it_is_told_to(case: Any) -> None:
    kernel, _, head_dim, shape, share = case
    with watching(kernel, head_dim, shape, share) as (_, watched), ThreadPoolExecutor(1) as pool:
        running = pool.submit(watched.run, watched.build.slowed(FOR_EVER), AWAKE)
        seen = (
            DUE if kernel == "flash3" else TOLD
        )  # of its warps one that does not tell may be the one that waits
        while not watched.buffers[seen].any() and not running.done():
            pass
        assert not running.done()
        assert len(watched.told.fresh().tile) < watched.build.tiles
        watched.buffers[STOP][0] = 1
        running.result()
        slow = watched.buffers["o"].tobytes()
        assert slow == watched.answer(watched.build.program)[0]
        assert np.count_nonzero(watched.buffers[TOLD]) == watched.build.telling.sum()


@needs_compiler
@chosen("mask", [{"causal": True}, {}, {"window": (5, -1)}], [{"causal": True}])
def test_a_block_that_stays_draws_the_tiles_in_the_order_that_its_pace_is_made_for(
    mask: dict[str, Any],
) -> None:
    shape = {"seqlen_q": 500, "seqlen_k": 500, "heads": 3, **mask}
    with watching("flash3", 64, shape, DRAWN) as (problem, watched):
        slowed = watched.build.slowed(TILE_NS)
        first, *others = slowed.launches
        watched.run(replace(slowed, launches=(replace(first, grid=1), *others)))
        told = watched.told.fresh()
    drawn_tiles = list(dict.fromkeys((head, i) for head, i, _ in told.tile.tolist()))
    steps = [sum(tile[:2] == [*one] for tile in told.tile.tolist()) for one in drawn_tiles]
    assert tuple(steps) == watched.build.steps
    cut = GroupCut(watched.build.tile)
    numbered = [*tiles(problem, cut)]
    assert drawn_tiles == [(one.head, one.i) for one in as_drawn(problem, cut, numbered)]
