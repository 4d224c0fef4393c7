"""What switching gains: Amdahl's road, the real step's, and the parts of what lies between them."""

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.workload.audit import AttentionCall, AuditedCall, AuditedStep, ModelAudit, problem_of
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.results.compare.switching import IN_PLACE, Switching, switchings_of
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.wire.measurement import Sample
from tests.matrix import in_rounds
from tests.profiles.store import builders

KNOWN = builders.audit()
CALL = AttentionCall(
    q_shape=(1, 4, 64, 16), k_shape=(1, 4, 64, 16), v_dim=16, dtype="float32", mask="causal", causal=True
)
WINDOW = replace(CALL, mask="window", window=(15, -1))
TIMES = st.floats(0.1, 100)


def row(call: AttentionCall, kernel: str, ms: Sequence[float]) -> PointRow:
    """A point that is done, with these samples, a round each."""
    problem = problem_of(call)
    assert problem is not None
    samples = tuple(Sample(ms=one, round=number) for number, one in enumerate(ms))
    return PointRow(
        point=Point(index=0, kernel=kernel, problem=problem),
        backend="cpu",
        status="done",
        reason="",
        predicted_bytes=1,
        sampling_ns=1,
        measurement=replace(builders.MEASUREMENT, samples=samples),
    )


def audited(
    calls: Mapping[AttentionCall, float], step_ms: float, others: Mapping[str, AuditedStep] | None = None
) -> ModelAudit:
    """A step of so many ms, with calls that took so much of it, without a profiler's cost."""
    steady = (step_ms,) * 6
    made = tuple(
        AuditedCall(phase="prefill", call=call, layers=("a", "b"), ran="flash", took_ms=(ms,) * 6)
        for call, ms in calls.items()
    )
    own = AuditedStep(
        phase="prefill",
        implementation="sdpa",
        step_ms=steady,
        profiled_ms=steady,
        attention_ms=(sum(calls.values()),) * 6,
        ran=("flash",),
    )
    return replace(KNOWN, calls=made, steps=(own, *(others or {}).values()))


def eager(step_ms: float, attention_ms: float, profiled_ms: float | None = None) -> dict[str, AuditedStep]:
    return {
        "eager": AuditedStep(
            phase="prefill",
            implementation="eager",
            step_ms=(step_ms,) * 6,
            profiled_ms=(profiled_ms or step_ms,) * 6,
            attention_ms=(attention_ms,) * 6,
            ran=("math",),
        )
    }


def only(audit: ModelAudit, rows: Sequence[PointRow]) -> Switching:
    (found,) = switchings_of(audit, rows)
    return found


def test_half_a_step_made_twice_as_fast_is_a_step_four_thirds_as_fast() -> None:
    rows = [row(CALL, "torch-flash", [2.0] * 6), row(CALL, "flash2", [1.0] * 6)]
    found = only(audited({CALL: 50.0}, 100.0), rows)
    assert found.share == pytest.approx(0.5)
    best = found.amdahl[0]
    assert (best.kernel, best.covered, best.calls) == ("flash2", 2, 2)
    assert best.ratio == pytest.approx(2)
    assert best.step.value == pytest.approx(4 / 3)
    assert best.step.low == pytest.approx(4 / 3)
    assert found.calls[0].gains["flash2"] == pytest.approx(4 / 3)


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(share=st.floats(0.01, 0.99), base=TIMES, other=TIMES)
def test_no_step_gains_more_than_its_share_of_attention_allows(
    turn: int, share: float, base: float, other: float
) -> None:
    rows = [row(CALL, "torch-flash", [base] * 6), row(CALL, "flash2", [other] * 6)]
    found = only(audited({CALL: 100 * share}, 100.0), rows)
    step = next(one for one in found.amdahl if one.kernel == "flash2").step.value
    assert step <= 1 / (1 - share) * (1 + 1e-9)
    assert (step >= 1 - 1e-12) == (base >= other * (1 - 1e-12))


@pytest.mark.parametrize("fast_ms", [2.55, 0.01, 5.1])
def test_calls_that_were_seen_to_take_more_than_a_step_make_it_no_faster_than_themselves(
    fast_ms: float,
) -> None:
    rows = [row(CALL, "torch-flash", [5.1] * 6), row(CALL, "flash2", [fast_ms] * 6)]
    found = only(audited({CALL: 10.2}, 10.0), rows)
    (gained,) = (one for one in found.amdahl if one.kernel == "flash2")
    told = (
        gained.ratio,
        gained.step.value,
        gained.step.low,
        gained.step.high,
        found.calls[0].gains["flash2"],
    )
    assert told == pytest.approx((5.1 / fast_ms,) * 5)


def test_a_call_that_was_interrupted_once_adds_nothing_to_the_share() -> None:
    found = audited({CALL: 20.0, WINDOW: 10.0}, 100.0)
    first, second = found.calls
    calls = (
        replace(first, took_ms=(90.0, *first.took_ms[1:])),
        replace(second, took_ms=(*second.took_ms[1:], 90.0)),
    )
    step = replace(found.steps[0], attention_ms=(100.0, 30.0, 30.0, 30.0, 30.0, 110.0))
    told = only(replace(found, calls=calls, steps=(step,)), [])
    assert told.share == pytest.approx(0.3) == pytest.approx(sum(one.share or 0 for one in told.calls))


def test_calls_that_a_kernel_does_not_take_stay_as_they_are() -> None:
    rows = [row(CALL, "torch-flash", [2.0] * 6), row(CALL, "flash2", [1.0] * 6)]
    found = only(audited({CALL: 20.0, WINDOW: 60.0}, 100.0), rows)
    best = found.amdahl[0]
    assert (best.covered, best.calls) == (2, 4)
    assert best.step.value == pytest.approx(1 / (1 - 0.2 * 0.5))


def test_where_nothing_replays_what_ran_its_time_in_the_model_stands_for_it() -> None:
    found = only(audited({WINDOW: 60.0}, 100.0), [row(WINDOW, "flash2", [15.0] * 6)])
    assert found.calls[0].reference == IN_PLACE
    assert found.calls[0].ratios["flash2"].value == pytest.approx(2)  # two calls take 60 ms, one 30


def test_in_16_bits_pytorchs_formula_replays_no_step_of_transformers_plain_one() -> None:
    half = replace(CALL, dtype="bfloat16")
    rows = [row(half, "torch-flash", [1.0] * 6), row(half, "torch-math", [2.0] * 6)]
    found = only(audited({half: 50.0}, 100.0, eager(151.0, 100.0)), rows)
    (real,) = found.real
    assert (real.kernel, real.predicted, real.agree) == ("", None, None)
    plain = replace(half, asked="eager")
    other = replace(audited({plain: 50.0}, 100.0).calls[0], ran="math")
    whole = replace(audited({plain: 50.0}, 100.0), calls=(other,))
    assert only(whole, [row(plain, "torch-math", [2.0] * 6)]).calls[0].reference == IN_PLACE


def test_a_real_step_that_is_as_predicted_agrees() -> None:
    rows = [row(CALL, "torch-flash", [1.0] * 6), row(CALL, "torch-math", [2.0] * 6)]
    found = only(audited({CALL: 50.0}, 100.0, eager(151.0, 100.0)), rows)
    (real,) = found.real
    assert (real.kernel, real.agree, real.parts) == ("torch-math", True, None)


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(
    real=st.floats(110, 500),
    attention=st.floats(1, 100),
    profiled=st.floats(110, 600),
    replay=st.floats(0.2, 5),
)
def test_the_parts_of_a_disagreement_add_up_to_it(
    turn: int, real: float, attention: float, profiled: float, replay: float
) -> None:
    rows = [row(CALL, "torch-flash", [1.0] * 6), row(CALL, "torch-math", [replay] * 6)]
    found = only(audited({CALL: 50.0}, 100.0, eager(real, attention, profiled)), rows)
    (told,) = found.real
    assert told.step is not None
    assert told.predicted is not None
    if told.parts is None:
        assert abs(math.log(told.step.value / told.predicted.value)) <= math.log(1.05) + 1e-9
    else:
        between = 100 / told.step.value - 100 / told.predicted.value
        parts = told.parts
        assert parts.in_place + parts.rest + parts.profiler == pytest.approx(between, abs=1e-6)


def test_a_disagreement_by_what_calls_take_in_place_is_put_down_to_that() -> None:
    rows = [row(CALL, "torch-flash", [1.0] * 6), row(CALL, "torch-math", [1.0] * 6)]
    found = only(audited({CALL: 50.0}, 100.0, eager(140.0, 90.0)), rows)
    parts = found.real[0].parts
    assert parts is not None
    assert [parts.in_place, parts.rest, parts.profiler] == pytest.approx([40, 0, 0])


def on_gpu(audit: ModelAudit, *busy_ms: float) -> ModelAudit:
    """An audit whose profiled steps take ten times as long, of which a GPU works so many ms each."""
    slow = (
        replace(one, profiled_ms=tuple(10 * ms for ms in one.step_ms), busy_ms=(busy,) * 6)
        for one, busy in zip(audit.steps, busy_ms, strict=True)
    )
    return replace(audit, steps=tuple(slow))


def test_on_a_gpu_shares_are_of_steps_that_no_profiler_slows_down() -> None:
    rows = [row(CALL, "torch-flash", [2.0] * 6), row(CALL, "flash2", [1.0] * 6)]
    found = only(on_gpu(audited({CALL: 50.0}, 100.0), 80.0), rows)
    assert (found.share, found.busy) == pytest.approx((0.5, 0.8))
    assert found.amdahl[0].step.value == pytest.approx(4 / 3)


def test_no_call_takes_more_than_the_step_that_it_is_in() -> None:
    """The step before the profiled one was quicker than what a GPU worked in that: 102% was in attention."""
    rows = [row(CALL, "torch-flash", [2.0] * 6), row(CALL, "flash2", [1.0] * 6)]
    found = only(on_gpu(audited({CALL: 102.0}, 100.0), 104.0), rows)
    assert (found.share, found.busy) == pytest.approx((102 / 104, 1.0))
    assert found.amdahl[0].step.value == pytest.approx(104 / 53)


def test_calls_whose_shares_come_to_more_than_a_step_are_all_of_it() -> None:
    """Each share is a median of its own, and rounds differ."""
    assert only(audited({CALL: 60.0, WINDOW: 42.0}, 100.0), []).share == 1.0


def test_a_step_that_takes_as_long_as_a_gpu_waits_longer_is_put_down_to_that() -> None:
    rows = [row(CALL, "torch-flash", [2.0] * 6), row(CALL, "torch-math", [1.0] * 6)]
    found = only(on_gpu(audited({CALL: 50.0}, 100.0, eager(100.0, 25.0)), 60.0, 35.0), rows)
    (told,) = found.real
    assert told.predicted is not None
    assert told.predicted.value == pytest.approx(4 / 3)
    parts = told.parts
    assert parts is not None
    assert [parts.in_place, parts.rest, parts.profiler, parts.idle] == pytest.approx([0, 0, 0, 25])


@pytest.mark.parametrize(
    ("steps_ms", "told"),
    [
        ((100, 60, 100, 160, 100, 100), (None, True)),
        ((100, 99, 100, 101, 100, 100), (True, False)),
        ((200, 199, 200, 201, 200, 200), (False, False)),
    ],
)
def test_a_step_whose_interval_holds_a_gain_and_a_loss_agrees_with_nothing(
    steps_ms: tuple[float, ...], told: tuple[bool | None, bool]
) -> None:
    other = {"eager": replace(eager(100.0, 50.0)["eager"], step_ms=steps_ms)}
    rows = [row(CALL, "torch-flash", [1.0] * 6), row(CALL, "torch-math", [1.0] * 6)]
    (real,) = only(audited({CALL: 50.0}, 100.0, other), rows).real
    assert (real.agree, real.cannot_tell) == told
    assert (real.parts is None) == (real.agree is not False)


def test_a_gain_that_vanishes_end_to_end_is_told() -> None:
    rows = [row(CALL, "torch-flash", [2.0] * 6), row(CALL, "flash2", [1.0] * 6)]
    assert only(audited({CALL: 1.0}, 100.0), rows).vanishes == "flash2"
    assert not only(audited({CALL: 50.0}, 100.0), rows).vanishes


def test_an_implementation_that_was_refused_says_why() -> None:
    found = switchings_of(KNOWN, [])[0]
    assert [(one.implementation, one.refused) for one in found.real] == [("eager", "It has none.")]
    assert [one.needs for one in found.calls] == [(), ("dropout",)]
