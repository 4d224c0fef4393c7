"""Stalls from asking to answering: in a child, after what runs, to be given up alone."""

import pytest

from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.profiles.results.model.stall_facts import StallFacts
from flashscope.profiles.wire.events import (
    PlanFinished,
    PointStarted,
    RequestFailed,
    StallsProgress,
    StallsReady,
)
from flashscope.profiles.worker.ncu_tool import find_ncu
from tests.profiles.engine.conftest import Gate
from tests.profiles.engine.test_control import LONG
from tests.profiles.heard import Heard, quick_plan

REQUEST = StallRequest(problem=Problem(seqlen_q=64, seqlen_k=64, dtype="float16"), kernel="flash2")


@pytest.mark.skipif(installed("cupy"), reason="CuPy is here")
def test_without_a_gpu_the_reason_names_what_is_missing(heard: Heard) -> None:
    heard.engine.stalls(REQUEST)
    failed = heard.until(RequestFailed)
    assert failed.request == "stalls"
    assert "CuPy" in failed.reason
    assert heard.all(StallsReady) == []


@pytest.mark.matrix
def test_one_that_waits_for_a_sweep_is_given_up_while_that_goes_on(heard: Heard, gate: Gate) -> None:
    heard.engine.run(quick_plan("gated", protocol=LONG))
    gate.await_run(heard, 1)
    heard.engine.stalls(REQUEST)
    heard.engine.give_up_stalls()
    heard.barrier()
    assert heard.all(PlanFinished) == []
    heard.engine.cancel()
    gate.let(100)
    heard.until(PlanFinished)
    assert heard.until(RequestFailed).reason == "It was cancelled before it began."
    assert len(heard.all(PointStarted)) == 1


@pytest.mark.gpu
@pytest.mark.skipif(find_ncu() is None, reason="Nsight Compute is not here")
@pytest.mark.timeout(120)
def test_a_launch_on_a_gpu_has_samples_of_its_own_lines(heard: Heard) -> None:
    problem = Problem(seqlen_q=4096, seqlen_k=4096, heads=16, head_dim=64, dtype="float16")
    heard.engine.stalls(StallRequest(problem=problem, kernel="flash2"))
    profile = heard.until(StallsReady).profile
    facts = StallFacts.of(profile)
    assert [one.done for one in heard.all(StallsProgress)] == [0, 1, 2, 3]
    assert facts.total > 1000
    assert 0 < facts.issued < 1
    assert sum(sum(samples.values()) for samples in facts.lines.values()) > 0.9 * facts.total
    assert any("HMMA" in text for text in profile.text)
    assert profile.profiled_ns > 0
