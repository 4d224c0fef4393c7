"""Ticks beside one another say different things, with no more digits than that takes."""

import pytest

from flashscope.app.plots.axes import ValueAxis
from flashscope.app.plots.style import SecondsAxis, seconds_tick
from flashscope.app.words.kinds import KINDS
from flashscope.app.words.ticks import tick_texts
from flashscope.app.words.units import KIB, bytes_tick, plain_tick
from flashscope.profiles.results.quantities.quantity import QuantityKind


def test_bytes_close_to_one_another_have_a_digit_more_than_those_far_apart() -> None:
    mib = KIB**2
    assert tick_texts([16 * mib, 32 * mib], bytes_tick) == ["16 MiB", "32 MiB"]
    assert tick_texts([16.25 * mib, 16.3125 * mib], bytes_tick) == ["16.2 MiB", "16.3 MiB"]
    assert tick_texts([16.28125 * mib, 16.3125 * mib], bytes_tick) == ["16.28 MiB", "16.31 MiB"]


def test_large_numbers_close_to_one_another_are_told_apart() -> None:
    assert tick_texts([100_000, 200_000], plain_tick) == ["1e+05", "2e+05"]
    assert tick_texts([120_000, 130_000], plain_tick) == ["1.2e+05", "1.3e+05"]


def test_seconds_beyond_a_minute_have_decimals_where_a_step_is_shorter() -> None:
    assert tick_texts([125.0, 126.0], seconds_tick, 1.0) == ["2:05", "2:06"]
    assert tick_texts([125.2, 125.4], seconds_tick, 0.2) == ["2:05.2", "2:05.4"]
    assert tick_texts([125.2], seconds_tick, 0.2) == ["2:05.2"]


def test_values_that_are_one_are_written_as_ever() -> None:
    assert tick_texts([2.5, 2.5], plain_tick) == ["2.5", "2.5"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("span", [1e-1, 1e-3, 1e-4])
def test_an_axis_zoomed_in_far_says_no_label_twice(qapp: object, kind: QuantityKind, span: float) -> None:
    axis = ValueAxis(KINDS[kind])
    place = {"linear": 0.163, "log2": 24.03, "log10": 7.07}[axis.scale_name]
    ((spacing, places),) = axis.tickValues(place, place + span, 200.0)
    texts = axis.tickStrings(places, 1.0, spacing)
    assert len(set(texts)) == len(texts) > 1


def test_an_axis_of_seconds_zoomed_in_says_no_label_twice(qapp: object) -> None:
    axis = SecondsAxis()
    for spacing, places in axis.tickValues(125.0, 126.5, 600.0):
        texts = axis.tickStrings(places, 1.0, spacing)
        assert len(set(texts)) == len(texts)
