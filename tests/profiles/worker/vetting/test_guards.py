"""Inputs between guards: the same values, and every byte around them is missed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.kernels.launching.passes import draw_given
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.worker.vetting.guards import LEAST, guarded, names_of

PROBLEM = Problem(seqlen_q=5, seqlen_k=7, heads=2, head_dim=8, passes="both")


def test_guarded_inputs_hold_what_was_drawn_in_memory_of_their_own() -> None:
    drawn = draw_given(PROBLEM, "cpu")
    inside, guards = guarded(drawn)
    assert guards.trouble() == ""
    for name, array in names_of(inside).items():
        assert np.array_equal(array, names_of(drawn)[name])
        assert array.flags.c_contiguous
        assert not np.may_share_memory(array, names_of(drawn)[name])


@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from(["Q", "K", "V", "dO"]), distance=st.integers(1, LEAST), behind=st.booleans())
def test_one_byte_written_beside_an_input_is_told(name: str, distance: int, behind: bool) -> None:
    inside, guards = guarded(draw_given(PROBLEM, "cpu"))
    array = names_of(inside)[name]
    block = array.base
    start = array.ctypes.data - block.ctypes.data
    block[start + array.nbytes + distance - 1 if behind else start - distance] ^= 1
    assert guards.trouble().startswith(f"It wrote {'behind' if behind else 'before'} {name}: 1 bytes")


@pytest.mark.parametrize("name", ["Q", "K", "V", "dO"])
def test_what_is_written_to_an_input_is_no_matter_of_its_guards(name: str) -> None:
    inside, guards = guarded(draw_given(PROBLEM, "cpu"))
    names_of(inside)[name][...] = 0
    assert guards.trouble() == ""
