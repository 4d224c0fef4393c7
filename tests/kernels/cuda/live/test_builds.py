"""Builds for slow motion: nothing of them in the timed builds, their pace, and what has none."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.catalogue.flash3_share import Share, TileShape
from flashscope.kernels.cuda import flash1, flash2, flash3
from flashscope.kernels.cuda.compile import read_source
from flashscope.kernels.cuda.live.builds import (
    NO_HOST_MEMORY,
    WATCHDOG,
    LiveBuild,
    check_gpu,
    flash3_build,
    live_build,
)
from flashscope.kernels.cuda.live.told import SM_BITS, ToldSoFar
from flashscope.kernels.cuda.program import Program
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.live import LiveKernel
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.clocked.test_builds import HOPPER
from tests.kernels.cuda.compiled import check
from tests.kernels.cuda.emulator.build import tokens
from tests.kernels.cuda.emulator.running import needs_compiler
from tests.matrix import chosen

KERNELS: tuple[LiveKernel, ...] = ("flash1", "flash2", "flash3")
MARK = re.compile(r"LIVE_GIVEN|RECORDING_GIVEN|^ *(LIVE_\w+|RECORD)\((.|\n)*?\)\n", re.MULTILINE)
MARKS = {"flash1": 3, "flash2": 3, "flash3": 5}
SPILLED = {"flash1": 32, "flash2": 32, "flash3": 0}  # bytes: what waits needs no registers
MODULES = {"flash1": flash1, "flash2": flash2, "flash3": flash3}


def asked(head_dim: int = 64, seqlen: int = 2048, heads: int = 16, **others: Any) -> Problem:
    shape = {"batch": 1, "heads": heads, "seqlen_q": seqlen, "seqlen_k": seqlen, "head_dim": head_dim}
    return Problem(**{"dtype": "float16", **shape, **others})


def timed(kernel: str, problem: Problem) -> Program:
    program: Program = MODULES[kernel].program(problem, ON_HOPPER)
    return program


@needs_compiler
@chosen("kernel", KERNELS, {"flash2"})
@chosen("head_dim", (64, 128), {64})
def test_the_timed_build_is_its_source_without_marks(kernel: str, head_dim: int) -> None:
    program = timed(kernel, asked(head_dim, causal=True))
    source = read_source(program)
    bare, marks = MARK.subn("", source)
    assert marks == MARKS[kernel]
    assert not re.search(r"LIVE|RECORD", bare)
    assert tokens(program, HOPPER, source) == tokens(program, HOPPER, bare)


@chosen("kernel", KERNELS, {"flash2"})
@chosen("head_dim", (64, 128), {64})
@chosen("causal", (False, True), {True})
def test_a_build_for_slow_motion_compiles_and_its_products_stay_asynchronous(
    kernel: LiveKernel, head_dim: int, causal: bool
) -> None:
    build = live_build(kernel, asked(head_dim, causal=causal), ON_HOPPER)
    check(build.slowed(1000), ON_HOPPER, spilled=SPILLED[kernel])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("causal", [False, True])
def test_tiles_grid_and_launches_are_those_of_the_timed_build(kernel: LiveKernel, causal: bool) -> None:
    problem = asked(128, causal=causal)
    build, program = live_build(kernel, problem, ON_HOPPER), timed(kernel, problem)
    slowed = build.slowed(1000)
    assert {**program.defines, "LIVE": 1} == slowed.defines
    for ours, theirs in zip(slowed.launches, program.launches, strict=True):
        assert (ours.entry, ours.grid, ours.threads) == (theirs.entry, theirs.grid, theirs.threads)
        assert ours.shared_bytes == theirs.shared_bytes
    assert sum(build.steps) == build.tiles
    assert build.telling.max() == build.reporters


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(1, 50), st.booleans())
def test_a_chain_is_as_long_as_what_one_place_runs_when_each_takes_what_comes_next(
    steps: list[int], places: int, draws: bool
) -> None:
    program = timed("flash2", asked(seqlen=128, heads=len(steps)))
    build = LiveBuild(
        flash2.cut(asked(), ON_HOPPER).tile, program, np.ones((1, 1, 1), np.int32), 1, tuple(steps)
    )
    busy = [0] * (program.launches[0].grid if draws else places)
    for count in steps:
        busy[busy.index(min(busy))] += count
    assert build._replace(draws=draws).chain(places) == max(1, *busy)


def test_a_tile_is_done_when_the_last_has_told_of_it_and_is_told_of_once_in_the_order_of_time() -> None:
    telling = np.array([[[2, 0, 1], [1, 2, 0]]], np.int32)
    words = np.zeros((6, 2), np.uint64)
    so_far = ToldSoFar(telling, words)

    def tell(slot: int, reporter: int, ns: int, sm: int) -> None:
        words[slot, reporter] = ns << SM_BITS | sm + 1

    assert not len(so_far.fresh().tile)
    tell(0, 0, 500, 3)
    tell(2, 0, 400, 0)
    assert so_far.fresh().tile.tolist() == [[0, 0, 2]]
    tell(0, 1, 900, 3)
    tell(3, 1, 0, 131)
    found = so_far.fresh()
    assert found.tile.tolist() == [[0, 1, 0], [0, 0, 0]]
    assert found.finished_ns.tolist() == [0, 900]
    assert found.sm.tolist() == [131, 3]
    assert not len(so_far.fresh().tile)


def test_what_has_no_build_for_slow_motion_is_refused_with_the_reason() -> None:
    plain = asked()
    others = {
        "float16 or bfloat16": replace(plain, dtype="float32"),
        "forward pass": replace(plain, passes="backward"),
        "fill their arrays": replace(plain, batch=2, key_lengths=(2048, 100)),
    }
    for words, problem in others.items():
        for kernel in KERNELS:
            with pytest.raises(UnsupportedError, match=words):
                live_build(kernel, problem, ON_HOPPER)
    with pytest.raises(UnsupportedError, match="takes apart"):
        flash3_build(plain, ON_HOPPER, Share(TileShape(1, 64), pack_gqa=4))


def test_a_gpu_that_ends_long_kernels_or_sees_no_memory_of_the_host_is_refused() -> None:
    check_gpu(times_out=False, maps_memory=True)
    with pytest.raises(UnsupportedError) as told:
        check_gpu(times_out=True, maps_memory=True)
    assert str(told.value) == WATCHDOG
    with pytest.raises(UnsupportedError) as told:
        check_gpu(times_out=False, maps_memory=False)
    assert str(told.value) == NO_HOST_MEMORY
