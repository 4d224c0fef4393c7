"""How amounts are written where a point is explained."""

import pytest

from flashscope.profiles.results.theory.why import decimal


@pytest.mark.parametrize(
    ("value", "text"), [(8.8e9, "8.8 G"), (12.4e9, "12 G"), (999.0, "999 "), (1e12, "1 T"), (9.96e9, "10 G")]
)
def test_amounts_have_two_or_three_digits_and_a_decimal_prefix(value: float, text: str) -> None:
    assert decimal(value) == text
