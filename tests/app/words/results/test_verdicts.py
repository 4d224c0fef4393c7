"""How a pair of a comparison is told."""

import pytest

from flashscope.app.words.results.verdicts import ratio_digits, verdict_reason
from flashscope.profiles.results.compare import compare
from tests.profiles.results.compare.test_runs import runs


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.0, "0"),
        (0.00080449, "0.0008045"),
        (0.09951, "0.09951"),
        (0.9, "0.900"),
        (9.99949, "9.999"),
        (33.0738, "33.07"),
        (99.9, "99.90"),
        (100.04, "100.0"),
        (123.456, "123.5"),
        (999.96, "1,000"),
        (99911.17, "99,911"),
    ],
)
def test_a_ratio_tells_a_change_of_a_thousandth_at_any_size(ratio: float, text: str) -> None:
    assert ratio_digits(ratio) == text


def test_a_change_that_cycles_alone_decide_is_not_said_to_be_one_of_the_time() -> None:
    base, other = runs(1.0, clock=1900.0), runs(1.02, clock=1900.0)
    (pair,) = compare(base, [other]).contrasts[0].pairs
    assert pair.verdict == "slower"
    assert (pair.ratio_low or 9) < 1 < (pair.ratio_high or 0)
    assert verdict_reason(pair) == (
        f"Clock cycles differ (p = {pair.p:.2g} over all points); the interval of the time holds 1. "
        "A change of 1.0% counts here; this is 2.0%, and in clock cycles the ratio is 1.020."
    )
