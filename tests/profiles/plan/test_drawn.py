"""Problems drawn from a seed: the same for one, others for another, of every kind, and none too large."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.plan.drawn import RANGES, draw
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.plan.presets import preset_plan

BACKENDS: tuple[Backend, ...] = ("cuda", "cpu")
each_backend = pytest.mark.parametrize("backend", BACKENDS)


def features(problems: Iterator[Problem]) -> set[str]:
    return {str(feature) for problem in problems for feature in problem.features}


@each_backend
@given(seed=st.integers(0, 2**32))
def test_a_seed_draws_its_problems_within_the_range_and_draws_them_again(backend: Backend, seed: int) -> None:
    ranges, problems = RANGES[backend], [*draw(backend, seed)]
    assert problems == [*draw(backend, seed)]
    assert len(problems) == ranges.number
    for one in problems:
        assert ranges.seqlens[0] <= one.seqlen_k <= ranges.seqlens[1]
        assert one.seqlen_q <= one.seqlen_k
        assert one.heads <= ranges.most_heads
        assert one.batch * one.heads * one.seqlen_q * one.seqlen_k <= ranges.most_pairs
        assert one.batch * one.heads * one.seqlen_k <= ranges.most_rows


def test_sixty_problems_of_a_gpu_are_of_every_kind() -> None:
    assert features(draw("cuda", 0)) == {"causal", "window", "gqa", "ragged"}
    problems = [*draw("cuda", 0)]
    assert {problem.head_dim for problem in problems} == {64, 96, 128, 192, 256}
    assert any(problem.seqlen_q < problem.seqlen_k for problem in problems)
    assert sum(problem.seqlen_k % 64 == 0 for problem in problems) < 10


@each_backend
def test_the_preset_draws_by_the_seed_of_the_plan(backend: Backend) -> None:
    first, again, other = (preset_plan("drawn", backend, Protocol(), seed=seed) for seed in (3, 3, 4))
    assert first.problems == again.problems != other.problems
    assert {problem.seed for problem in other.problems} == {4}
