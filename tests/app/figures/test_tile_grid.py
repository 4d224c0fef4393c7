"""Tiles of flash2 in NumPy: what they hold, which are the same as others, and which is fastest."""

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
    fast = {WIDE: times(WIDE, 3.0, 3.1, 3.2)}
    assert verdict({}, SHIPPED) == ""
    assert verdict(fast, SHIPPED) == "Fastest on fresh rounds: 256 × 1024, 3.10 ms (3.05 to 3.15)."
    slower = {**fast, SHIPPED: times(SHIPPED, 6.1, 6.2, 6.3)}
    assert verdict(slower, SHIPPED).endswith(
        "the shipped 128 × 512 takes 2.00× as long, 6.20 ms (6.15 to 6.25)."
    )
    alike = {**fast, SHIPPED: times(SHIPPED, 3.1, 3.2, 3.3)}
    assert "too little to tell it from the shipped 128 × 512" in verdict(alike, SHIPPED)
    assert verdict({SHIPPED: times(SHIPPED, 3.0)}, SHIPPED).endswith(", the shipped one.")


def test_what_could_not_be_timed_says_why() -> None:
    failed = RoundTimes(CutTimes(cut=WIDE, failure="O differs."))
    assert tile_cell(WIDE, PROBLEM, {WIDE: failed}).refused == ("O differs.",)
