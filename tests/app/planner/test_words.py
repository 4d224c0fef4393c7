"""What the planner says of a crossing and of a forecast."""

import pytest
from msgspec.structs import replace

from app.words.planning import crossing_text, error_text, forecast_text, time_text
from profiles.results.planner.crossing import Beside, crossing
from profiles.results.planner.forecast import Forecast

GAP = "\N{NARROW NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("ahead", "told"),
    [
        ({512: 1, 1024: 1}, "flash3 is faster than standard at every N measured, from 512 on."),
        ({512: -1, 1024: 0}, "flash3 is not faster than standard at the longest N measured, 1,024."),
        ({512: 0, 1024: 1}, "flash3 is faster than standard from N = 1,024 on; below, they are as fast."),
        ({512: -1, 1024: 1}, "flash3 overtakes standard between N = 512 and 1,024, both measured."),
        (
            {256: -1, 512: 1, 1024: -1, 2048: 1},
            "flash3 overtakes standard between N = 256 and 2,048; within that they are as fast, or swap.",
        ),
    ],
)
def test_a_crossing_is_told_as_far_as_it_was_measured(ahead: dict[int, int], told: str) -> None:
    found = crossing([Beside(*pair) for pair in ahead.items()])
    assert found is not None
    assert crossing_text("flash3", found).replace(GAP, ",") == told


def test_a_forecast_is_never_written_without_its_mark_and_its_error() -> None:
    known = Forecast(ms=2.0, low=1.9, high=2.1, seqlen=1024, measured="d 64, no mask")
    alone = Forecast(ms=2.0, low=None, high=None, seqlen=1024, measured="d 64, no mask")
    assert forecast_text(known) == "≈ 2.00 ms ± 5 %"
    assert forecast_text(known, 32) == "≈ 64.0 ms ± 5 %"
    assert error_text(replace(known, differs=("causal in place of no mask",))) == "± 5 %, other shape"
    assert error_text(alone) == "error unknown"
    assert time_text(None) == error_text(None) == "-"
