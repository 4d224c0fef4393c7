"""Every number that can be held is written in a few characters that say what it is."""

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flashscope.app.words.kinds import KINDS, words_of
from flashscope.app.words.results.verdicts import ratio_digits
from flashscope.app.words.units import (
    bytes_short,
    digits,
    energy_text,
    ms_between_text,
    ms_text,
    traffic_text,
    traffic_tick,
    whole_text,
)
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.results.theory.why import decimal

ANY = st.floats(allow_nan=True, allow_infinity=True)
TEXTS = {
    **{f"{kind}, {name}": getattr(words, name) for kind, words in KINDS.items() for name in ("text", "tick")},
    **{of.__name__: of for of in (digits, whole_text, bytes_short, ratio_digits, decimal)},
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@given(value=ANY)
@example(value=1e300)
@example(value=-1e300)
def test_no_number_takes_more_room_than_a_table_has(text: Callable[[float], str], value: float) -> None:
    assert len(text(value)) <= 20


@given(st.floats(min_value=-1e300, max_value=1e300))
def test_three_digits_say_a_number_to_half_a_percent(value: float) -> None:
    assert float(digits(value)) == pytest.approx(value, rel=0.0051)


@given(st.floats(min_value=-1e300, max_value=1e300))
def test_no_more_than_three_digits_are_significant_but_before_the_decimal_point(value: float) -> None:
    mantissa = digits(value).partition("e")[0].strip("-")
    before, _, after = mantissa.partition(".")
    assert len((before + after).lstrip("0")) <= 3 or not after
    assert "e" in digits(value) or len(before) <= 6


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.000"),
        (0.05, "0.05"),
        (0.0999, "0.0999"),
        (0.09999, "0.100"),
        (9.996, "10.0"),
        (99.96, "100"),
        (123_456.0, "123456"),
        (1_234_567.0, "1.23e+06"),
        (1e300, "1e+300"),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
    ],
)
def test_digits_at_their_edges(value: float, text: str) -> None:
    assert digits(value) == text


def test_a_unit_stands_behind_the_power() -> None:
    assert (ms_text(1e300), energy_text(1e300)) == ("1e+297 s", "1e+297 J")
    assert whole_text(1_234_567.0) == "1234567"
    assert not re.search(r"\d{10}", whole_text(1e12))


@pytest.mark.parametrize(
    ("nbytes", "text", "tick"),
    [
        (999, "999 B", "999 B"),
        (1000, "1.00 kB", "1 kB"),
        (5e7, "50.0 MB", "50 MB"),
        (8.8e9, "8.80 GB", "8.80 GB"),
        (2e15, "2000 TB", "2000 TB"),
    ],
)
def test_bytes_that_are_moved_are_written_in_the_units_of_rates(nbytes: float, text: str, tick: str) -> None:
    assert (traffic_text(nbytes), traffic_tick(nbytes)) == (text, tick)


def test_every_quantity_of_traffic_is_in_gb_and_every_one_of_memory_in_gib() -> None:
    for quantity in QUANTITIES.values():
        text = words_of(quantity).text(64e9)
        assert quantity.group not in {"Memory", "Traffic"} or "B" in text.split()[1]
        assert ("GiB" in text) is (quantity.group == "Memory"), quantity.key


@pytest.mark.parametrize(
    ("ms", "told"),
    [
        ((0.0775, 0.0764, 0.0785), "77.5 µs (76.4 to 78.5)"),
        ((0.099, 0.098, 0.102), "99.0 µs (98.0 to 102)"),
        ((6.53, 6.5, 6.61), "6.53 ms (6.50 to 6.61)"),
        ((12_000, 9_000, 15_000), "12.0 s (9.00 to 15.0)"),
    ],
)
def test_a_time_and_the_ends_around_it_have_one_unit(ms: tuple[float, float, float], told: str) -> None:
    assert ms_between_text(*ms) == told


def test_ticks_of_a_share_have_no_more_decimals_than_they_need() -> None:
    tick = KINDS["share"].tick
    assert [tick(value) for value in (0.0, 0.05, 0.125, 0.29, 1.0)] == ["0%", "5%", "12.5%", "29%", "100%"]
