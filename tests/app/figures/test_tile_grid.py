"""Tiles of flash2 in NumPy: what they hold, which are the same as others, and which is fastest."""

import re

from flashscope.app.figures.cut_times import ANEW, RoundTimes, quartiles, time_words, verdict
from flashscope.app.figures.tile_grid import SHIPPED, left, tile_cell, tile_grid
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.cuts import CutTimes

PROBLEM = Problem(heads=1, seqlen_q=256, seqlen_k=1024, head_dim=64)
WIDE = Cut(kernel="numpy", groups=256, block_k=1024)


def times(cut: Cut, *ms: float) -> RoundTimes:
    first = RoundTimes().with_one(CutTimes(cut=cut, ms=(1.0,)))
    return first.with_one(CutTimes(cut=cut, ms=ms, anew=True))


def test_a_tile_holds_its_scores_and_what_its_rows_sum_up() -> None:
    cell = tile_cell(SHIPPED, PROBLEM, {})
    assert cell.nbytes == 4 * (128 * 512 + 128 * 64 + 4 * 128)
    assert cell.tip.startswith("128 × 512: a tile holds 290 KiB")


def test_tiles_larger_than_the_problem_are_refused_as_the_same_as_others() -> None:
    grid = tile_grid(PROBLEM, {})
    wanted = left(grid)
    assert len(wanted) == 5 * 7
    assert max(cut.block_q for cut in wanted) == 256
    refused = tile_cell(Cut(kernel="numpy", groups=512, block_k=2048), PROBLEM, {})
    assert len(refused.refused) == 2
    assert "There are 256 query rows" in refused.tip


def test_fresh_rounds_count_where_there_are_any() -> None:
    fast = times(WIDE, 3.0, 4.0, 5.0)
    assert fast.ms == (3.0, 4.0, 5.0)
    assert tile_cell(WIDE, PROBLEM, {WIDE: fast}).mark == ANEW
    assert quartiles((7.0,)) == (7.0, 7.0)
    assert time_words(fast.ms) == "4.00 ms (3.50 to 4.50)"


def test_the_fastest_is_named_only_as_far_as_it_can_be_told_apart() -> None:
    around = (-0.04, -0.02, 0.0, 0.02, 0.04)

    def with_shipped(ms: float) -> str:
        by_cut = {WIDE: times(WIDE, *(3 + of for of in around))}
        return verdict(by_cut | {SHIPPED: times(SHIPPED, *(ms + of for of in around))}, SHIPPED)

    assert verdict({}, SHIPPED) == ""
    alone = verdict({WIDE: times(WIDE, 3.0, 3.1, 3.2)}, SHIPPED)
    assert alone == "Fastest on fresh rounds: 256 × 1024, 3.10 ms (3.05 to 3.15)."
    assert "; the shipped 128 × 512 takes 2.00× as long (1.9" in with_shipped(6.0)
    assert re.search(r"takes 5\.0% longer \([2-4]\.\d to [5-8]\.\d%\), 3\.15 ms", with_shipped(3.15))
    assert "too little to tell it from the shipped 128 × 512" in with_shipped(3.01)
    assert with_shipped(2.9).endswith("128 × 512, 2.90 ms (2.88 to 2.92), the shipped one.")
    few = {WIDE: times(WIDE, 3.0, 3.1), SHIPPED: times(SHIPPED, 6.0, 6.1)}
    assert verdict(few, SHIPPED).endswith("in too few rounds to tell.")


def test_what_could_not_be_timed_says_why() -> None:
    failed = RoundTimes(CutTimes(cut=WIDE, failure="O differs."))
    assert tile_cell(WIDE, PROBLEM, {WIDE: failed}).refused == ("O differs.",)
