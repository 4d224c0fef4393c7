"""Expressions of a declaration: arithmetic over sizes, and nothing else."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.own.expression import LARGEST, SIZES, check, evaluate, evaluate_whole, sizes_of
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from tests.strategies import problems

LEAVES = st.one_of(st.integers(0, 1000).map(str), st.sampled_from(["B", "H", "Hk", "N", "Nq", "Nk", "D"]))


def joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(parts, st.sampled_from(["+", "-", "*"]), parts)
    return pair.map(lambda three: f"({three[0]} {three[1]} {three[2]})")


@given(text=st.recursive(LEAVES, joined, max_leaves=6), problem=problems())
def test_arithmetic_has_the_value_that_python_gives_it(text: str, problem: Problem) -> None:
    sizes = sizes_of(problem)
    plain = eval(text, {"__builtins__": {}}, dict(sizes))  # noqa: S307 - made of names of sizes and signs alone
    if abs(plain) <= 2**60 and max(sizes["N"], sizes["B"]) < 2**20:
        assert evaluate(text, sizes) == plain


@given(count=st.integers(0, 10**9), step=st.integers(1, 10**6))
def test_steps_cover_a_count_and_not_one_more_than_that(count: int, step: int) -> None:
    sizes = {"N": count, "B": step}
    steps = evaluate_whole("ceil_div(N, B)", sizes)
    assert (steps - 1) * step < count <= steps * step
    assert evaluate("round_up(N, B)", sizes) == steps * step


@given(text=st.text(max_size=60))
def test_any_text_has_a_value_or_is_refused(text: str) -> None:
    try:
        value = evaluate(check(text), dict.fromkeys(SIZES, 3))
    except InputError:
        return
    assert abs(value) <= LARGEST


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "(1).__class__",
        "[1 for _ in range(9)]",
        "lambda: 1",
        "N if True else exit()",
        "2 ** 64",
        "9 ** 9 ** 9",
        "'a' * 1000",
        "1 << 60",
        "B := 3",
        "min(*[1, 2])",
        "open",
        "min(B, *N)",
        "1e400",
        "N" * 500,
    ],
)
def test_what_is_no_arithmetic_over_sizes_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        evaluate(text, dict.fromkeys(SIZES, 3))


def test_a_division_by_zero_is_told_with_the_expression() -> None:
    with pytest.raises(InputError, match=r"N // \(D - 64\) divides by 0"):
        evaluate("N // (D - 64)", {"N": 128, "D": 64})


def test_a_fraction_is_no_number_of_blocks() -> None:
    with pytest.raises(InputError, match=r"N / 3 is .*no whole number"):
        evaluate_whole("N / 3", {"N": 128})


def test_every_size_that_is_documented_has_a_value() -> None:
    problem = Problem(seqlen_q=100, seqlen_k=300, batch=2, heads=8, kv_heads=2, head_dim=64, causal=True)
    sizes = sizes_of(problem)
    assert sizes.keys() == SIZES.keys()
    assert evaluate("ceil_div(Nq, 64) * H if causal else 0", sizes) == 16
    assert ast.literal_eval(str(sizes["group"])) == 4
