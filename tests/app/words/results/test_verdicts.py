"""How a pair of a comparison is told."""

import pytest

from flashscope.app.words.results.verdicts import ratio_digits


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
