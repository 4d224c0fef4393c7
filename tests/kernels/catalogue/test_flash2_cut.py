"""The tiles of flash2 on Hopper: by the problem alone."""

from typing import Any

import pytest

from flashscope.kernels.catalogue.flash2_cut import (
    LONG_TILE,
    NARROW_TILE,
    SHORT_TILE,
    USUAL,
    Flash2Tile,
    hopper_tile,
)
from flashscope.kernels.cuda import flash2
from flashscope.kernels.cuda.clocked.builds import clocked_build
from flashscope.kernels.cuda.instrument import timed_cut
from flashscope.kernels.cuda.live.builds import live_build
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.builds import ON_HOPPER, TARGETS


def workload(seqlen: int, heads: int, head_dim: int, **rest: Any) -> Problem:
    shape = {"seqlen_q": seqlen, "seqlen_k": seqlen, "heads": heads, "head_dim": head_dim}
    return Problem(**{**shape, "dtype": "bfloat16", **rest})


def rows(seqlen: int, heads: int, head_dim: int, **rest: Any) -> Problem:
    """So many rows before 1k keys."""
    return workload(seqlen, heads, head_dim, **{"seqlen_k": 1024, **rest})


FEW = workload(2048, 16, 128, causal=True)  # 256 tiles of 128 queries


@pytest.mark.parametrize(
    ("problem", "tile"),
    [
        (workload(4096, 16, 128, causal=True), NARROW_TILE),  # 512 tiles in 528 places
        (workload(2048, 16, 128, causal=True, batch=2), NARROW_TILE),
        (workload(4096, 14, 128, causal=True), USUAL),
        (workload(4608, 16, 128, causal=True), USUAL),
        (workload(4096, 16, 128), USUAL),
        (workload(4096, 16, 128, causal=True, window=(512, 0)), USUAL),
        (workload(4096, 16, 112, causal=True), USUAL),  # where it was not measured
        (workload(128, 8, 128, causal=True), USUAL),  # few keys
        (workload(1024, 20, 128, causal=True), SHORT_TILE._replace(keys=128)),
        (rows(128, 160, 128, causal=True), SHORT_TILE._replace(keys=128)),
        (rows(129, 80, 128, causal=True), SHORT_TILE._replace(keys=128)),  # a head's second tile has one row
        (rows(128, 161, 128, causal=True), SHORT_TILE._replace(keys=96)),
        (rows(128, 304, 128, causal=True, dtype="float16"), SHORT_TILE._replace(keys=96)),
        (rows(128, 305, 128, causal=True), USUAL),
        (workload(1024, 4, 128, causal=True, batch=6, kv_heads=2), SHORT_TILE._replace(keys=96)),
        (FEW, SHORT_TILE._replace(keys=96)),
        (workload(2048, 16, 96, causal=True), SHORT_TILE._replace(keys=96)),
        (workload(2048, 16, 112, causal=True), SHORT_TILE._replace(keys=96)),
        (workload(2048, 16, 128, causal=True, head_dim_v=64), SHORT_TILE._replace(keys=96)),
        (workload(2048, 16, 128, causal=True, sinks=True), SHORT_TILE._replace(keys=96)),
        (rows(128, 66, 128), SHORT_TILE._replace(keys=128)),
        (rows(128, 67, 128), USUAL),
        (rows(128, 264, 64, causal=True), SHORT_TILE._replace(keys=128)),
        (rows(128, 336, 64, causal=True), SHORT_TILE._replace(keys=96)),
        (rows(128, 337, 64, causal=True), USUAL),
        (rows(128, 132, 64), SHORT_TILE._replace(keys=128)),
        (rows(128, 198, 64), SHORT_TILE),
        (rows(128, 199, 64), LONG_TILE),
        (rows(128, 330, 64), SHORT_TILE._replace(keys=96)),
        (rows(128, 331, 64), LONG_TILE),
        (rows(128, 66, 16), USUAL),
        (workload(2048, 16, 128), USUAL),
        (workload(2048, 16, 128, causal=True, window=(512, 0)), USUAL),
        (workload(2048, 16, 128, causal=True, key_lengths=(5,), query_lengths=(5,)), USUAL),
        (workload(2048, 16, 128, causal=True, softcap=30.0), USUAL),
        (workload(2048, 16, 128, causal=True, alibi=True), USUAL),
        (workload(4096, 16, 64), LONG_TILE),
        (workload(512, 16, 64), USUAL),
        (workload(4096, 16, 64, causal=True), USUAL),
        (workload(4096, 16, 16), USUAL),
    ],
)
def test_tiles_are_those_that_won(problem: Problem, tile: Flash2Tile) -> None:
    assert hopper_tile(problem) == tile


@pytest.mark.parametrize("head_dim", [64, 128])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("seqlen", [2048, 4096])
def test_flash2_is_cut_so_on_hopper(head_dim: int, causal: bool, seqlen: int) -> None:
    problem = workload(seqlen, 16, head_dim, causal=causal)
    taken = flash2.cut(problem, ON_HOPPER)
    assert (taken.tile_q, taken.block_k, taken.warps) == hopper_tile(problem)


def test_other_gpus_keep_the_tile_that_they_had() -> None:
    for target in TARGETS:
        if target.shared_memory >= ON_HOPPER.shared_memory and target != ON_HOPPER:
            assert flash2.cut(FEW, target).tile_q == USUAL.rows


def test_every_build_of_flash2_takes_the_tile_of_the_timed_one() -> None:
    timed = flash2.program(FEW, ON_HOPPER)
    tile = flash2.cut(FEW, ON_HOPPER).tile
    assert tile.q == SHORT_TILE.rows
    state, clocks, live = (
        timed_cut("flash2", FEW, ON_HOPPER),
        clocked_build("flash2", FEW, ON_HOPPER),
        live_build("flash2", FEW, ON_HOPPER),
    )
    assert state.tile == clocks.tile == live.tile == tile
    for one in (state.program, clocks.program, live.slowed(1000)):
        assert one.defines.items() >= timed.defines.items()
        assert [(launch.grid, launch.threads) for launch in one.launches] == [
            (launch.grid, launch.threads) for launch in timed.launches
        ]
