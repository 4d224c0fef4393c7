"""Whatever `flashscope.kernels.attention` is asked, it answers what was meant or says what it accepts.

Every run asks a few hundred; `-m long` asks 6,000 hostile calls and 3,000 right ones.
"""

import numpy as np
import pytest

from flashscope.kernels import attention
from flashscope.kernels.workload.errors import KernelError
from tests.kernels.answered import UnclearError, answer
from tests.kernels.asked import Call, hostile_call, right_call
from tests.matrix import on_demand

TURNS, RIGHT, HOSTILE = 60, 50, 100  # turns, and calls in one
MOST_SAID = 600  # characters of a refusal


def said(seed: int, call: Call) -> str:
    """A call in words."""
    told = {
        name: f"{x.dtype} {x.shape}" if isinstance(x, np.ndarray) else repr(x)[:60]
        for name, x in call.items()
    }
    return f"seed {seed}: {told}"


def is_answer(call: Call, given: object) -> None:
    """Whether that is what the definition says, NaN and infinity at the same places."""
    with np.errstate(all="ignore"):
        output, lse = answer(call)
    found, found_lse = given if isinstance(given, tuple) else (given, lse)
    assert isinstance(given, tuple) == bool(call["return_lse"])
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.float32
    found = found.swapaxes(1, 2) if call.get("layout") == "bnhd" else found
    in_range = np.isneginf(lse) | (np.abs(lse) < 1e30)  # beyond, scores overflow in float32
    finite, small = np.isfinite(output), (np.abs(output) < 1e30) & in_range[..., None]
    assert (np.isfinite(found) == finite)[small | ~finite].all()
    scale = max(1.0, float(np.abs(output[finite & small]).max(initial=0)))
    np.testing.assert_allclose(found[finite & small], output[finite & small], rtol=2e-4, atol=2e-5 * scale)
    few = np.abs(lse) < 1e4
    np.testing.assert_allclose(np.asarray(found_lse)[few], lse[few], rtol=1e-4, atol=1e-4)
    assert (np.isneginf(found_lse) == np.isneginf(lse))[in_range].all()


@on_demand("turn", range(TURNS), {0})
def test_a_right_call_is_answered_as_the_definition_says(turn: int) -> None:
    for seed in range(turn * RIGHT, (turn + 1) * RIGHT):
        call = right_call(seed)
        before = {name: x.copy() for name, x in call.items() if isinstance(x, np.ndarray)}
        try:
            is_answer(call, attention(**call))
        except Exception as error:
            raise AssertionError(said(seed, call)) from error
        for name, array in before.items():
            np.testing.assert_array_equal(call[name], array, err_msg="the inputs stay as they are")


@on_demand("turn", range(TURNS), {0})
def test_a_hostile_call_is_refused_with_a_sentence_or_answered_as_it_is_meant(turn: int) -> None:
    refused = 0
    for seed in range(turn * HOSTILE, (turn + 1) * HOSTILE):
        call = hostile_call(seed)
        try:
            with np.errstate(all="ignore"):
                given = attention(**call)
        except KernelError as error:
            refused += 1
            sentence = str(error)
            assert sentence.endswith("."), said(seed, call)
            assert sentence.isprintable(), said(seed, call)
            assert len(sentence) <= MOST_SAID, said(seed, call)
        except Exception as error:
            raise AssertionError(said(seed, call)) from error
        else:
            try:
                is_answer(call, given)
            except (AssertionError, UnclearError) as error:
                raise AssertionError(said(seed, call)) from error
    assert refused > HOSTILE / 2


@pytest.mark.parametrize("kernel", ["standard", "fused", "flash1", "flash2"])
def test_a_v_row_that_the_mask_hides_enters_no_row_whatever_it_holds(kernel: str) -> None:
    q, k, v = (np.random.default_rng(0).standard_normal((1, 1, 700, 32), dtype=np.float32) for _ in "qkv")
    clean = attention(q, k, v, kernel=kernel, causal=True)
    v[0, 0, 600] = np.nan
    found = attention(q, k, v, kernel=kernel, causal=True)
    np.testing.assert_array_equal(found[0, 0, :600], clean[0, 0, :600])
    assert np.isnan(found[0, 0, 600:]).all()
