"""Bytes through DRAM of runs that follow one another with a warm cache."""

import dataclasses

import pytest
from msgspec import structs

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.theory.bytes_moved import HELD, compulsory
from tests.profiles.results.theory.test_why import part, point, told


@pytest.mark.parametrize(("keys", "held"), [(4096, True), (1 << 20, False)])
def test_of_what_the_cache_may_have_held_no_formula_tells_what_crossed_the_bus(
    keys: int, *, held: bool
) -> None:
    decode = Problem(seqlen_q=1, seqlen_k=keys, heads=16, head_dim=128, dtype="bfloat16")
    cold = point("flash2", 10.0, decode)
    assert cold.measurement is not None
    warm = dataclasses.replace(cold, measurement=structs.replace(cold.measurement, cold=False))
    assert not part(told(cold), "bytes").missing
    assert bool(part(told(warm), "bytes").missing) is held
    assert (compulsory(warm).missing == HELD) is held
