"""The correctness report that a run of the GPU tests ends with."""

from types import SimpleNamespace

from kernels.verify import Verdict
from tests.kernels.report import PROPERTY, note, table, taken


def test_it_counts_a_kernels_comparisons_and_shows_the_largest_share_of_each_bound() -> None:
    note("flash2", Verdict(0.25, 1.0, 0.0625, 0.125, 9, passed=True))
    note("flash2", Verdict(0.5, 1.0, None, None, 9, passed=True))
    note("flash3-fp8", Verdict(0.25, 1.0, 0.0, 1.0, 9, passed=False, rounded_error=0.75, rounded_bound=0.5))
    reports = [SimpleNamespace(user_properties=[(PROPERTY, list(share))]) for share in taken()]
    lines = table([*reports, SimpleNamespace(user_properties=[("other", 1)]), SimpleNamespace()])
    assert [" ".join(line.split()) for line in lines] == [
        "flash2 2 comparisons, largest error / bound: O 0.500, LSE 0.500",
        "flash3-fp8 1 comparisons, largest error / bound: O 1.500, LSE 0.000",
    ]


def test_an_error_where_none_is_allowed_does_not_pass_for_a_small_share() -> None:
    note("standard", Verdict(0.0, 0.0, float("inf"), 0.0, 1, passed=False))
    (share,) = taken()
    assert share == ("standard", 0.0, float("inf"))
