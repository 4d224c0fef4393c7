"""The grammar of sequence lengths."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.profiles.plan.seqlens import LONGEST, MOST, SeqlenError, format_seqlens, parse_seqlens

LENGTHS = st.integers(1, LONGEST)


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("256:2048", (256, 512, 1024, 2048)),
        ("256:3000", (256, 512, 1024, 2048)),
        ("256:1024:256", (256, 512, 768, 1024)),
        ("1000, 384 256", (256, 384, 1000)),
        ("4k,1:2", (1, 2, 4096)),
        ("512, 512", (512,)),
    ],
)
def test_ranges_double_steps_are_linear_and_lists_are_sorted(text: str, lengths: tuple[int, ...]) -> None:
    assert parse_seqlens(text) == lengths


@pytest.mark.parametrize(
    "text",
    ["", " , ", "0", "-4", "1.5", "abc", "8:4", "1:2:3:4", "1:100000:1", "256:", "²", "1:8:0", "9" * 5000],
)
def test_what_is_not_a_length_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(SeqlenError, match=r"\.$"):
        parse_seqlens(text)


@pytest.mark.parametrize("text", ["100000000000", "16777217", "256:20000000", "99999k"])
def test_a_length_beyond_the_largest_is_told_the_largest(text: str) -> None:
    with pytest.raises(SeqlenError, match=f"{text}.*to {LONGEST}"):
        parse_seqlens(text)


def test_a_step_of_nothing_is_what_is_wrong_and_not_the_lengths() -> None:
    with pytest.raises(
        SeqlenError, match="0 in 1:2:0 is out of range: sequence lengths and steps run from 1"
    ):
        parse_seqlens("1:2:0")


@given(st.lists(LENGTHS, min_size=1, max_size=20))
def test_what_is_formatted_reads_back_the_same(lengths: list[int]) -> None:
    wanted = tuple(sorted(set(lengths)))
    assert parse_seqlens(format_seqlens(wanted)) == wanted


@given(LENGTHS, LENGTHS)
def test_a_doubling_range_starts_at_its_first_and_never_passes_its_last(first: int, last: int) -> None:
    first, last = min(first, last), max(first, last)
    found = parse_seqlens(f"{first}:{last}")
    assert found[0] == first
    assert found[-1] <= last < 2 * found[-1]
    assert all(b == 2 * a for a, b in itertools.pairwise(found))


@given(st.text(max_size=30))
def test_any_text_either_parses_within_limits_or_is_refused(text: str) -> None:
    try:
        found = parse_seqlens(text)
    except SeqlenError:
        return
    assert 1 <= len(found) <= MOST
    assert all(1 <= n <= LONGEST for n in found)


def test_a_million_is_written_with_an_m() -> None:
    assert parse_seqlens("1m") == parse_seqlens("1M") == (1 << 20,)
    assert parse_seqlens("512k:2m") == (1 << 19, 1 << 20, 1 << 21)
    with pytest.raises(SeqlenError, match="write a number as 4096, 4k or 1m"):
        parse_seqlens("1g")
