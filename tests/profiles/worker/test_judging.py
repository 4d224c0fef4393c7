"""The oracle of a problem is computed once for all kernels that are judged by it."""

from typing import Any

import numpy as np
import pytest
from msgspec import structs

from flashscope.kernels.catalogue.fp8 import Rounding
from flashscope.kernels.catalogue.ladder import FLASH2
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.launching.passes import PassOutputs, draw_given
from flashscope.kernels.oracle.verdict import Judging
from flashscope.kernels.oracle.verify import Criterion, criterion, verify
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs
from flashscope.profiles.worker import judging
from flashscope.profiles.worker.judging import Criteria

PROBLEM = Problem(seqlen_q=40, seqlen_k=50, heads=2, head_dim=16, dtype="float32")


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Problem, Rounding | None]]:
    """What an oracle was computed for."""
    calls: list[tuple[Problem, Rounding | None]] = []

    def counted(problem: Problem, inputs: Inputs, *, rounding: Rounding | None) -> Judging:
        calls.append((problem, rounding))
        return criterion(problem, inputs, rounding=rounding)

    monkeypatch.setattr(judging, "criterion", counted)
    return calls


def test_kernels_of_one_problem_share_its_oracle_and_each_rounding_has_its_own(computed: list[Any]) -> None:
    criteria, inputs = Criteria(), make_inputs(PROBLEM, "cpu")
    shared = criteria.of(PROBLEM, inputs, None)
    assert criteria.of(PROBLEM, inputs, None) is shared
    rounded = criteria.of(PROBLEM, inputs, Rounding(16))
    assert isinstance(rounded, Criterion)
    assert rounded.rounded is not None
    assert criteria.of(PROBLEM, inputs, None) is shared
    assert computed == [(PROBLEM, None), (PROBLEM, Rounding(16))]


def test_another_problem_never_meets_the_oracle_of_the_last(computed: list[Any]) -> None:
    criteria, other = Criteria(), structs.replace(PROBLEM, seed=PROBLEM.seed + 1)
    first = criteria.of(PROBLEM, make_inputs(PROBLEM, "cpu"), None)
    assert isinstance(first, Criterion)
    second = criteria.of(other, make_inputs(other, "cpu"), None)
    answer = (first.given.exact.output.astype(np.float32), first.given.exact.lse.astype(np.float32))
    assert first.judge(*answer).passed
    assert not second.judge(*answer).passed
    assert criteria.of(PROBLEM, make_inputs(PROBLEM, "cpu"), None) is not first
    assert len(computed) == 3


def test_a_shared_oracle_judges_as_one_computed_for_the_answer_alone() -> None:
    inputs = make_inputs(PROBLEM, "cpu")
    oracle = criterion(PROBLEM, inputs)
    assert isinstance(oracle, Criterion)
    output, lse = (x.astype(np.float32) for x in oracle.given.exact)
    output[0, 1, 3, 5] += 1e-3
    assert oracle.judge(output, lse) == verify(PROBLEM, inputs, output, lse)
    assert oracle.judge(output, None) == verify(PROBLEM, inputs, output, None)


def test_kernels_share_the_oracle_of_the_gradients_and_another_problem_has_its_own() -> None:
    problem = structs.replace(PROBLEM, passes="both")
    criteria, given = Criteria(), draw_given(problem, "cpu")
    first = criteria.of_kernel(FLASH2, problem, given)
    again = criteria.of_kernel(FLASH2, problem, given)
    assert first.backward is again.backward is not None
    backward = structs.replace(problem, passes="backward")
    other = criteria.of_kernel(FLASH2, backward, given)
    assert other.forward is None
    assert other.backward is not first.backward


@pytest.mark.parametrize("output", ["O", "LSE", "dQ", "dK", "dV"])
def test_of_both_passes_each_output_is_judged_by_itself(output: str) -> None:
    problem = structs.replace(PROBLEM, passes="both")
    given = draw_given(problem, "cpu")
    judged_by = Criteria().of_kernel(FLASH2, problem, given)
    assert isinstance(judged_by.forward, Criterion)
    assert judged_by.backward is not None
    arrays = [array.astype(np.float32) for array in judged_by.forward.given.exact]
    arrays += [oracle.exact.astype(np.float32) for oracle in judged_by.backward.oracles]
    answer = PassOutputs(arrays[0], arrays[1], Gradients(*arrays[2:]))
    assert judged_by.judge(answer).passed
    arrays[["O", "LSE", "dQ", "dK", "dV"].index(output)][0, 1, 3] += 1e-2
    wrong = [one.output for one in judged_by.judge(answer).outputs if not one.passed]
    assert wrong == [output, f"{output} of a row"]
