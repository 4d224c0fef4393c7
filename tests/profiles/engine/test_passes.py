"""A sweep of backward passes, and of both: timed, judged gradient by gradient, accounted for to the byte."""

import pytest

from flashscope.kernels.workload.problem import Backend, Dtype, Passes, Problem
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.wire.events import PlanStarted
from flashscope.profiles.wire.measurement import Measurement
from tests.profiles.heard import QUICK, Heard, done

PYTHONS_OWN_BYTES = 64 << 10
CUPY_GRANULARITY = 512
GRADIENTS = ("dQ", "dQ of a row", "dK", "dK of a row", "dV", "dV of a row")
KERNELS = ("standard", "flash2", "fused")
BOTH: tuple[Passes, ...] = ("backward", "both")


def plan_of(backend: Backend, dtype: Dtype) -> Plan:
    problems = tuple(
        Problem(seqlen_q=256, seqlen_k=256, head_dim=32, heads=2, causal=True, dtype=dtype, passes=passes)
        for passes in BOTH
    )
    return Plan(backend=backend, kernels=KERNELS, problems=problems, protocol=QUICK)


def judged(found: Measurement) -> tuple[str, ...]:
    assert found.correctness is not None
    assert found.correctness.passed
    return tuple(one.output for one in found.correctness.outputs)


@pytest.fixture(scope="module")
def swept() -> Heard:
    heard = Heard("flashscope.kernels.catalogue.registry:KERNELS")
    try:
        heard.sweep(plan_of("cpu", "float32"))
    finally:
        heard.engine.close()
    return heard


def test_every_gradient_is_judged_and_of_both_passes_o_and_lse_as_well(swept: Heard) -> None:
    points = swept.session().points
    backward, both = points[:2], points[3:5]
    assert [judged(done(point)) for point in backward] == [GRADIENTS] * 2
    whole = ("O", "LSE", "O of a row", "LSE of a row", *GRADIENTS)
    assert [judged(done(point)) for point in both] == [whole] * 2
    assert all(len(done(point).samples) == 3 for point in (*backward, *both))


def test_a_kernel_without_a_backward_pass_is_refused_with_the_reason(swept: Heard) -> None:
    refused = [point for point in swept.session().points if point.point.kernel == "fused"]
    assert [(one.status, one.reason) for one in refused] == [
        ("unsupported", "fused has no backward pass.")
    ] * 2


def test_the_ledger_is_the_prediction_and_the_allocators_peak(swept: Heard) -> None:
    (begun,) = swept.all(PlanStarted)
    for point in swept.session().points:
        if point.point.kernel != "fused":
            held, peak = done(point).held_bytes, done(point).value("peak_bytes")
            assert held == begun.predicted_bytes[point.point.index]
            assert peak is not None
            assert 0 <= peak - held < PYTHONS_OWN_BYTES


def test_standard_keeps_a_matrix_between_the_passes_and_flash2_rows(swept: Heard) -> None:
    standard, flash2 = (done(point).value("kept_bytes") for point in swept.session().points[:2])
    output = 4 * 2 * 256 * 32
    assert standard == 4 * 2 * 256 * 256 + output
    assert flash2 == output + 4 * 2 * 256


def test_wrong_gradients_are_never_timed_and_the_first_that_is_wrong_is_named(heard: Heard) -> None:
    problem = Problem(seqlen_q=64, seqlen_k=64, head_dim=32, passes="backward")
    plan = Plan(backend="cpu", kernels=("wrong-dk", "flash2"), problems=(problem,), protocol=QUICK)
    failed, after = heard.sweep(plan)
    assert failed.status == "wrong"
    assert failed.reason.startswith("dK differs from the float64 oracle by ")
    assert failed.measurement is not None
    assert failed.measurement.correctness is not None
    wrong = [one.output for one in failed.measurement.correctness.outputs if not one.passed]
    assert wrong == ["dK", "dK of a row"]
    assert failed.measurement.samples == ()
    done(after)


def test_gradients_that_are_asked_to_repeat_are_held_to_their_bits(heard: Heard) -> None:
    problem = Problem(seqlen_q=64, seqlen_k=64, head_dim=32, passes="backward", deterministic=True)
    plan = Plan(backend="cpu", kernels=("drifting-dk", "flash2"), problems=(problem,), protocol=QUICK)
    drifting, repeated = heard.sweep(plan)
    assert drifting.status == "wrong"
    assert drifting.reason == "5 of 10 further runs gave other bits, though every run was to give the same."
    assert drifting.measurement is not None
    assert drifting.measurement.samples == ()
    assert "same bits" not in drifting.measurement.note
    assert done(repeated).note.endswith("10 further runs gave the same bits")


def test_nobody_minds_the_last_bits_where_that_is_not_asked_for(heard: Heard) -> None:
    problem = Problem(seqlen_q=64, seqlen_k=64, head_dim=32, passes="backward")
    plan = Plan(backend="cpu", kernels=("drifting-dk",), problems=(problem,), protocol=QUICK)
    (drifting,) = heard.sweep(plan)
    assert "bits" not in done(drifting).note


@pytest.mark.torch
@pytest.mark.matrix  # another process that imports PyTorch takes seconds
def test_a_librarys_backward_pass_is_judged_and_timed_alike(heard: Heard) -> None:
    problems = tuple(Problem(seqlen_q=64, seqlen_k=64, head_dim=32, passes=passes) for passes in BOTH)
    plan = Plan(backend="cpu", kernels=("torch-flash",), problems=problems, protocol=QUICK)
    backward, both = map(done, heard.sweep(plan))
    assert judged(backward) == GRADIENTS
    assert judged(both) == ("O", "O of a row", *GRADIENTS)
    assert "at least" in backward.figures["kept_bytes"].source
    assert backward.value("peak_bytes") is None


@pytest.mark.gpu
def test_on_a_gpu_both_passes_are_right_and_the_ledger_is_exact(heard: Heard) -> None:
    points = heard.sweep(plan_of("cuda", "float16"))
    for point in points:
        if point.point.kernel == "fused":
            assert point.reason == "fused has no backward pass."
            continue
        found = done(point)
        assert set(GRADIENTS) <= set(judged(found))
        held, peak = found.held_bytes, found.value("peak_bytes")
        assert held is not None
        assert peak is not None
        assert 0 <= peak - held <= 16 * CUPY_GRANULARITY
