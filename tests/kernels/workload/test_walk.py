"""What query blocks visit is counted as if each were visited, and at once however many there are."""

from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.kernels.catalogue.flash3_share import share
from flashscope.kernels.workload.mask import Mask
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.walk import loaded, longest_walk, walks
from tests.kernels.masked import masked_problems
from tests.limits import limited

BLOCKS = st.integers(1, 40)
LENGTHS = st.integers(1, 120)
SIDES = st.integers(-1, 150)
FEW = settings(max_examples=40, deadline=None)
HUGE = 1 << 52


def each_visit(mask: Mask, block_q: int, block_k: int) -> list[tuple[int, list[int]]]:
    """For each query block its rows, and the key blocks of which a pair is kept, by looking at every tile."""
    columns = [slice(k, min(k + block_k, mask.seqlen_k)) for k in range(0, mask.seqlen_k, block_k)]
    rows = [slice(q, min(q + block_q, mask.seqlen_q)) for q in range(0, mask.seqlen_q, block_q)]
    return [
        (span.stop - span.start, [j for j, keys in enumerate(columns) if mask.keeps(span, keys)])
        for span in rows
    ]


def hold(mask: Mask, block_q: int, block_k: int) -> None:
    visits, found = each_visit(mask, block_q, block_k), walks(mask, block_q, block_k)
    last = -(-mask.seqlen_k // block_k) - 1
    assert sum(one.queries for one in found) == len(visits)
    assert [one.rows for one in found] == list(dict.fromkeys(rows for rows, _ in visits))
    for one in found:
        alike = [blocks for rows, blocks in visits if rows == one.rows]
        assert one.blocks == sum(map(len, alike))
        assert one.lasts == sum(last in blocks for blocks in alike)
    seen = {block for _, blocks in visits for block in blocks}
    assert loaded(mask, block_q, block_k) == (len(seen), last in seen)


@FEW
@given(LENGTHS, LENGTHS, st.booleans(), st.none() | st.tuples(SIDES, SIDES), BLOCKS, BLOCKS)
def test_a_band_is_walked_as_if_each_tile_were_looked_at(  # noqa: PLR0917 - as they are drawn
    rows: int, keys: int, causal: bool, window: tuple[int, int] | None, block_q: int, block_k: int
) -> None:
    mask = Mask.of(rows, keys, causal=causal, window=window)
    hold(mask, block_q, block_k)
    assert longest_walk(mask, block_q) == max(len(blocks) for _, blocks in each_visit(mask, block_q, 1))


@FEW
@given(masked_problems(), BLOCKS, BLOCKS)
def test_under_a_block_mask_too(problem: Problem, block_q: int, block_k: int) -> None:
    hold(problem.mask, block_q, block_k)


def test_2_to_the_52_rows_and_as_many_sequences_take_no_time() -> None:
    with limited(1.0, 1 << 24):
        (one,) = walks(Mask.of(HUGE, HUGE, causal=True), 128, 64)
        assert one.blocks == one.queries * (one.queries + 1)  # 2, 4, 6, ... of each
        assert longest_walk(Mask.of(HUGE, 3), 64) == 3
        problem = Problem(seqlen_q=16, seqlen_k=16, batch=(1 << 31) - 1, dtype="bfloat16")
        assert share(problem).splits == 1
        assert (problem.longest_keys, problem.queries_in_all) == (16, 16 * ((1 << 31) - 1))
