"""Block patterns: each part by its definition, their union, and the text that names them."""

import random
from math import ceil

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.block_pattern import EXAMPLES, BlockPattern
from flashscope.kernels.workload.errors import InputError

LENGTHS = st.integers(1, 300)
BLOCKS = st.integers(1, 80)


@st.composite
def patterns(draw: st.DrawFn) -> BlockPattern:
    local = draw(st.none() | st.integers(0, 9))
    global_, strided = (draw(st.none() | st.integers(1, 9)) for _ in "gs")
    random = draw(st.none() | st.sampled_from((0.0, 0.05, 0.25, 1.0)))
    assume(any(number is not None for number in (local, global_, strided, random)))
    return BlockPattern(local=local, global_=global_, strided=strided, random=random)


@given(LENGTHS, LENGTHS, BLOCKS, patterns(), st.integers(0, 9))
def test_a_pattern_keeps_what_one_of_its_parts_keeps(
    seqlen_q: int, seqlen_k: int, block: int, pattern: BlockPattern, seed: int
) -> None:
    mask = pattern.mask(seqlen_q, seqlen_k, block=block, seed=seed)
    share = pattern.random or 0.0
    drawn = BlockMask.random(seqlen_q, seqlen_k, block_q=block, block_k=block, kept_share=share, seed=seed)
    rows, columns = mask.shape
    for i in range(rows):
        for j in range(columns):
            off = j - (i + columns - rows)
            expected = (
                drawn.keeps(i, j)
                or (pattern.local is not None and abs(off) <= pattern.local)
                or (pattern.global_ is not None and (i < pattern.global_ or j < pattern.global_))
                or (pattern.strided is not None and off % pattern.strided == 0)
            )
            assert mask.keeps(i, j) == expected, (i, j)
    assert mask.shape == (ceil(seqlen_q / block), ceil(seqlen_k / block))
    mask.check_fits(seqlen_q, seqlen_k)


@given(patterns())
def test_its_text_is_read_back_as_the_same_pattern_and_names_the_mask(pattern: BlockPattern) -> None:
    assert BlockPattern.parse(pattern.text) == pattern
    mask = pattern.mask(64, 64, block=16)
    assert mask.pattern == pattern.text
    assert mask.words == f"{pattern.text} in blocks of 16"


def test_random_blocks_follow_the_seed_and_nothing_else_does() -> None:
    drawn, local = BlockPattern(random=0.5), BlockPattern(local=1)
    assert drawn.mask(512, 512, block=32, seed=1) == drawn.mask(512, 512, block=32, seed=1)
    assert drawn.mask(512, 512, block=32, seed=1) != drawn.mask(512, 512, block=32, seed=2)
    assert local.mask(512, 512, block=32, seed=1) is local.mask(512, 512, block=32, seed=2)
    assert np.mean(drawn.mask(512, 512, block=32).array()) == 0.5


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_examples_can_be_typed(text: str) -> None:
    assert BlockPattern.parse(text).text == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "at least one part"),
        ("banded:4", "'banded:4' is not another part"),
        ("local:4,local:5", "'local:5' is not another part"),
        ("local", "local needs a number, as in local:4, not ''"),
        ("strided:1.5", "strided needs a number, as in strided:8"),
        ("local:-1", "0 or more blocks"),
        ("global:0", "global takes a number of blocks from 1, not 0"),
        ("random:1.5", "between 0 and 1, not 1.5"),
        ("random:nan", "between 0 and 1, not nan"),
    ],
)
def test_what_is_no_pattern_is_refused_with_what_is_accepted(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        BlockPattern.parse(text)


def test_a_block_without_length_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1 long, not 0"):
        BlockPattern(local=1).mask(64, 64, block=0)


def test_more_blocks_than_fit_in_memory_are_refused_before_they_are_made() -> None:
    with pytest.raises(InputError, match="100000 queries and 100000 keys into more than"):
        BlockPattern(local=1).mask(100_000, 100_000, block=1)


@pytest.mark.parametrize("share", [0.0, 0.03, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("seqlen", [1, 7, 40])
def test_random_blocks_are_those_that_pythons_sample_draws(seqlen: int, share: float) -> None:
    """Sessions keep the seed and the share: the same blocks are drawn from them for ever."""
    for seed in range(4):
        mask = BlockMask.random(seqlen, seqlen, block_q=1, block_k=1, kept_share=share, seed=seed)
        blocks = seqlen * seqlen
        drawn = random.Random(seed).sample(range(blocks), round(share * blocks))  # noqa: S311 - as drawn
        assert [k for k in range(blocks) if mask.kept[k]] == sorted(drawn)
