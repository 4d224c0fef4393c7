"""What of a model's attention call a problem states, and what it does not."""

from typing import Any

import pytest
from msgspec.structs import replace

from flashscope.kernels.workload.audit import AttentionCall, needs, problem_of

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
    assert needs(replace(CALL, dropout=0.1, mask="bias")) == ("an additive bias", "dropout")


@pytest.mark.parametrize(("name", "value"), [("softcap", 30.0), ("sinks", True), ("alibi", True)])
def test_what_scores_have_done_to_them_is_the_problems(name: str, value: Any) -> None:
    call = replace(CALL, **{name: value})
    assert needs(call) == ()
    plain = problem_of(CALL)
    assert plain is not None
    assert problem_of(call) == replace(plain, **{name: value})


def test_the_width_of_v_is_the_problems_where_it_is_its_own() -> None:
    problem, usual = (problem_of(replace(CALL, v_dim=wide)) for wide in (128, 64))
    assert problem is not None
    assert usual is not None
    assert (problem.v_shape, problem.o_shape) == ((2, 2, 300, 128), (2, 8, 100, 128))
    assert usual.head_dim_v is None


def test_a_softcap_that_no_kernel_can_tell_from_none_makes_no_problem() -> None:
    assert problem_of(replace(CALL, softcap=1e30)) is None


def test_heads_that_do_not_divide_make_no_problem() -> None:
    assert problem_of(replace(CALL, k_shape=(2, 3, 300, 64))) is None
