"""What the planner says of a crossing and of a forecast."""

import pytest
from msgspec.structs import replace

from flashscope.app.words.learn.planning import crossing_text, forecast_error_text, forecast_text, time_text
from flashscope.profiles.results.planner.crossing import LeadAt, crossing
from flashscope.profiles.results.planner.forecast import Forecast

GAP = ","


@pytest.mark.parametrize(
    ("ahead", "told"),
    [
        ({512: 1, 1024: 1}, "flash3 is faster than standard at every N measured, from 512 on."),
        ({512: -1, 1024: 0}, "flash3 is not faster than standard at the longest N measured, 1,024."),
        (
            {512: 0, 1024: 1},
            "flash3 is faster than standard from N = 1,024 on; below, they are as fast, or swap.",
        ),
        (
            {512: 1, 1024: -1, 2048: 1},
            "flash3 is faster than standard from N = 2,048 on; below, they are as fast, or swap.",
        ),
        ({512: -1, 1024: 1}, "flash3 overtakes standard between N = 512 and 1,024, both measured."),
        (
            {256: -1, 512: 1, 1024: -1, 2048: 1},
            "flash3 overtakes standard between N = 256 and 2,048; within that they are as fast, or swap.",
        ),
    ],
)
def test_a_crossing_is_told_as_far_as_it_was_measured(ahead: dict[int, int], told: str) -> None:
    found = crossing([LeadAt(*pair) for pair in ahead.items()])
    assert found is not None
    assert crossing_text("flash3", found).replace(GAP, ",") == told


def test_a_forecast_is_never_written_without_its_mark_and_its_error() -> None:
    known = Forecast(ms=2.0, low=1.9, high=2.1, seqlen=1024, measured="d 64, no mask")
    alone = Forecast(ms=2.0, low=None, high=None, seqlen=1024, measured="d 64, no mask")
    assert forecast_text(known, 32) == "≈ 2.00 ms a layer, ≈ 64.0 ms in 32 layers (± 5%)"
    other = replace(known, differs=("causal in place of no mask",))
    assert forecast_error_text(other) == "± 5%, of another shape"
    assert forecast_error_text(alone) == "error unknown"
    assert time_text(None) == forecast_error_text(None) == "-"
