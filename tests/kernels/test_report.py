"""The correctness report that a run of the GPU tests ends with."""

from types import SimpleNamespace

from flashscope.kernels.oracle.verdict import ON_ROUNDED, Deviation, Verdict
from tests.kernels.report import PROPERTY, note, table, taken


def verdict(**errors: tuple[float, float]) -> Verdict:
    return Verdict(tuple(Deviation(output, *error) for output, error in errors.items()), rows=9)


def test_it_counts_a_kernels_comparisons_and_shows_the_largest_share_of_each_bound() -> None:
    note("flash2", verdict(O=(0.25, 1.0), LSE=(0.0625, 0.125)))
    note("flash2", verdict(O=(0.5, 1.0)))
    note(
        "flash3-fp8",
        verdict(O=(0.25, 1.0), LSE=(0.0, 1.0), **{f"O{ON_ROUNDED}": (0.75, 0.5), "O of a row": (1.0, 4.0)}),
    )
    reports = [SimpleNamespace(user_properties=[(PROPERTY, list(share))]) for share in taken()]
    lines = table([*reports, SimpleNamespace(user_properties=[("other", 1)]), SimpleNamespace()])
    assert [" ".join(line.split()) for line in lines] == [
        "flash2 2 comparisons, largest error / bound: O 0.500, LSE 0.500",
        "flash3-fp8 1 comparisons, largest error / bound: O 1.500, LSE 0.000, O of a row 0.250",
    ]


def test_an_error_where_none_is_allowed_does_not_pass_for_a_small_share() -> None:
    note("standard", verdict(O=(0.0, 0.0), LSE=(float("inf"), 0.0)))
    (share,) = taken()
    assert share == ("standard", {"O": 0.0, "LSE": float("inf")})
