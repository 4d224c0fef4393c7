"""What the sources of flash2's and flash3's backward passes do not take, and what their blocks hold."""

from collections.abc import Iterator

from flashscope.kernels.catalogue.traffic import Tiles
from flashscope.kernels.catalogue.workspace_backward import WIDE_HEAD
from flashscope.kernels.cuda.backward import STATE_BYTES
from flashscope.kernels.cuda.design.conditions import FRAGMENT, no_whole_passes, no_width
from flashscope.kernels.cuda.program import round_up
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.walk import walks

PANEL = 64  # columns of a panel of shared memory, and rows of a product of a warpgroup
AT_ONCE = 64  # queries times fragments of keys for which a warp of flash2 has registers
FLOAT32 = 4


def refusals2(cut: Cut, problem: Problem) -> Iterator[str]:
    """Conditions of flash2_backward_layout.cuh, flash2_backward_products.cuh and copy.cuh."""
    width, warps = round_up(problem.head_dim, FRAGMENT), cut.groups * cut.columns
    tiles = {"keys": cut.keys, "queries": cut.queries}
    yield from no_whole_passes(32 * warps, width, tiles)
    yield from no_whole_passes(32 * warps, cut.queries, {"keys of dS": cut.keys})
    at_once = queries_at_once(cut)
    if share_of_warp(cut) % at_once or at_once % FRAGMENT:
        yield (
            f"Each warp takes {share_of_warp(cut)} queries of a tile, {at_once} at once as registers go:"
            f" not whole fragments of {FRAGMENT} (flash2_backward_layout.cuh)."
        )
    rows = 2 if cut.queries >= 2 * FRAGMENT else 1
    if cut.queries % (rows * FRAGMENT):
        yield f"For dQ a warp takes {rows * FRAGMENT} queries: {cut.queries} are not whole ones."
    elif warps % (cut.queries // FRAGMENT // rows):
        yield (
            f"{warps} warp{'s' * (warps != 1)} do not share {cut.queries // FRAGMENT // rows} parts of"
            f" {rows * FRAGMENT} queries for dQ evenly (flash2_backward_products.cuh)."
        )
    if 2 * 32 * warps < cut.queries:
        yield f"{32 * warps} threads copy the states of {64 * warps} queries, not of {cut.queries}."


def refusals3(cut: Cut, problem: Problem) -> Iterator[str]:
    """Conditions of flash3_backward_layout.cuh and wgmma.cuh."""
    if problem.head_dim > WIDE_HEAD:
        yield f"Beyond head dim {WIDE_HEAD} its backward pass is another kernel, which has one cut."
        return
    yield from no_width(cut.queries, "queries")
    panels = 1 if cut.queries % PANEL else cut.queries // PANEL
    parts = problem.head_dim // PANEL * panels
    if parts != cut.groups:
        yield (
            f"{cut.groups} warpgroups share {parts} part{'s' * (parts != 1)} of dQ, of {PANEL} columns and"
            f" {PANEL if panels > 1 else cut.queries} queries: each is to have one"
            " (flash3_backward_layout.cuh)."
        )


def share_of_warp(cut: Cut) -> int:
    """Queries of a tile for which a warp of flash2 computes S and dP."""
    return cut.queries // min(cut.columns, cut.queries // FRAGMENT)


def queries_at_once(cut: Cut) -> int:
    """Those of them for which it does so at a time, as registers go."""
    share = share_of_warp(cut)
    return AT_ONCE // cut.subtiles if share * cut.subtiles > AT_ONCE else share


def loop_bytes(cut: Cut, problem: Problem) -> int:
    """What the loops move between L2 and SMs: FA2, Algorithm 2, with sums of dQ in float32.

    K and V are read and dK and dV written once; for each tile of keys Q, dO, LSE and delta of the queries
    that see it are read, and their part of dQ is added.
    """
    row = problem.head_dim * (2 * problem.itemsize + FLOAT32) + STATE_BYTES
    visited = sum(one.rows * one.blocks for one in walks(problem.mask, *Tiles(cut.block_q, cut.keys)))
    once = 4 * problem.batch * problem.key_heads * problem.seqlen_k * problem.head_dim * problem.itemsize
    return problem.batch * problem.heads * visited * row + once
