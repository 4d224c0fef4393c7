"""How the Stepper writes numbers so that a reader can compute with what stands there."""

import pytest

from flashscope.app.plots.stepper.cells import _end
from flashscope.app.stepper.formulas import RowTerms, _factors, _sum
from flashscope.app.stepper.numbers import brief, difference, number
from flashscope.app.words.inside.tracing import backward_words
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.problem import Problem


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        ((1.5, 0.5), "1.500 − 0.500"),
        ((-14.383, -0.012), "−14.383 − (−0.012)"),
        ((float("-inf"), -0.1), "−∞ − (−0.100)"),
        ((1.0, -0.0001), "1.000 − (−1.0·10<sup>−4</sup>)"),
    ],
)
def test_a_number_with_a_sign_stands_in_brackets_where_it_is_taken_away(
    pair: tuple[float, float], told: str
) -> None:
    assert difference(*pair) == told


@pytest.mark.parametrize(
    ("level", "told"),
    [(-250.4, "−250"), (4.61, "4.6"), (0.0, "0"), (0.021, "0.021"), (-0.00021, "−2.1·10<sup>−4</sup>")],
)
def test_no_end_of_a_scale_but_0_is_written_as_0(level: float, told: str) -> None:
    assert _end(level) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.0051, "5e−3"),
        (0.0151, "0.02"),
        (0.0049, "5e−3"),
        (-0.0021, "−2e−3"),
        (3.2e-12, "3e−12"),
        (0.0, "0"),
        (-0.0, "0"),
        (-12_345.0, "−1e4"),
        (12.345, "12.35"),
        (float("inf"), "∞"),
        (float("nan"), "NaN"),
    ],
)
def test_no_value_of_a_cell_but_0_is_written_as_0(value: float, told: str) -> None:
    assert brief(value, 2) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1.000"),
        (-0.0042, "−0.004"),
        (4.2e-5, "4.2·10<sup>−5</sup>"),
        (-3e7, "−3.0·10<sup>7</sup>"),
        (float("-inf"), "−∞"),
    ],
)
def test_no_number_of_a_formula_but_0_is_written_as_0(value: float, told: str) -> None:
    assert number(value) == told


def test_formulas_tell_a_rescale_that_is_all_but_complete() -> None:
    terms = RowTerms(0.0, 12.0, 12.0, 6.1e-6, 1.0, 2.0, 1.0, 1.0, 5e-4, 0.5, 0.5)
    told = [numbers for _, _, numbers in (*_factors(terms, False), _sum(terms, False))]
    assert told == [
        "exp(0 − 12.000) = <a>6.1·10<sup>−6</sup></a>",
        "6.1·10<sup>−6</sup> · 2.000 + 1.000 = <l>1.000</l>",
    ]


def test_a_trace_of_fewer_queries_than_keys_says_how_many_of_each() -> None:
    asked = BackwardTraceRequest(problem=Problem(seqlen_q=1, seqlen_k=4096, passes="backward"))
    assert "N = 1 × 4096" in backward_words(asked)
