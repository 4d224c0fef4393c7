"""What of a model's attention call a problem states, and what it does not."""

from typing import Any

import pytest
from msgspec.structs import replace

from flashscope.kernels.workload.audit import AttentionCall, needs, problem_of
from flashscope.kernels.workload.problem import Problem

CALL = AttentionCall(
    q_shape=(2, 8, 100, 64), k_shape=(2, 2, 300, 64), v_dim=64, dtype="bfloat16", mask="causal", causal=True
)


def test_a_call_becomes_the_problem_of_the_same_shape() -> None:
    problem = problem_of(replace(CALL, mask="window", window=(63, -1), scale=0.5, gradients=True))
    assert problem is not None
    assert (problem.q_shape, problem.k_shape) == (CALL.q_shape, CALL.k_shape)
    assert (problem.causal, problem.window, problem.scale) == (True, (63, -1), 0.5)
    assert (problem.dtype, problem.passes, problem.kv_heads) == ("bfloat16", "both", 2)


def test_the_usual_scale_is_none_so_that_equal_problems_are_equal() -> None:
    assert problem_of(replace(CALL, scale=64**-0.5)) == problem_of(CALL)


def test_padding_becomes_lengths() -> None:
    problem = problem_of(replace(CALL, mask="padding", key_lengths=(300, 210), query_lengths=(100, 10)))
    assert problem is not None
    assert (problem.key_lengths, problem.query_lengths) == ((300, 210), (100, 10))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"mask": "bias"}, "an additive bias"),
        ({"mask": "arbitrary"}, "an arbitrary mask"),
        ({"v_dim": 128}, "V's head dim of 128 beside Q's of 64"),
        ({"dropout": 0.1}, "dropout"),
        ({"dtype": "float64"}, "the dtype float64"),
        ({"k_shape": (1, 2, 300, 64)}, "a batch of K unlike Q's"),
    ],
)
def test_what_no_problem_states_is_named(fields: dict[str, Any], words: str) -> None:
    call = replace(CALL, **fields)
    assert needs(call) == (words,)
    assert problem_of(call) is None


def test_several_are_all_named() -> None:
    assert needs(replace(CALL, dropout=0.1, v_dim=8)) == ("V's head dim of 8 beside Q's of 64", "dropout")


@pytest.mark.parametrize(("name", "value"), [("softcap", 30.0), ("sinks", True)])
def test_a_feature_is_stated_where_a_problem_has_it_and_named_where_it_has_not(name: str, value: Any) -> None:
    call = replace(CALL, **{name: value})
    problem = problem_of(call)
    if name in Problem.__struct_fields__:
        assert needs(call) == ()
        assert getattr(problem, name) == value
    else:
        assert needs(call) == (name,)
        assert problem is None


def test_heads_that_do_not_divide_make_no_problem() -> None:
    assert problem_of(replace(CALL, k_shape=(2, 3, 300, 64))) is None
