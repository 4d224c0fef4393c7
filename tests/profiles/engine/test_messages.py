"""What crosses the pipe comes out as it went in."""

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.device import Device
from kernels.problem import Problem
from kernels.trace import Array, TraceRequest
from profiles import events, messages
from profiles.plan import Plan, Point, Protocol

counts = st.integers(0, 2**62)
floats = st.floats(allow_nan=False)
texts = st.text(max_size=40)
samples = st.builds(events.Sample, floats, st.none() | texts, st.none() | counts)
footprints = st.builds(
    events.Footprint,
    inputs=counts,
    outputs=counts,
    workspace=counts,
    peak=st.none() | counts,
    source=texts,
    device_delta=st.none() | st.integers(-(2**62), 2**62),
)
correctnesses = st.builds(
    events.Correctness,
    max_abs_error=floats,
    bound=floats,
    lse_error=floats,
    lse_bound=floats,
    rows=counts,
    passed=st.booleans(),
)
measurements = st.builds(
    events.Measurement,
    samples=st.lists(samples, max_size=4).map(tuple),
    timer=texts,
    cold=st.booleans(),
    prepare_ms=st.none() | floats,
    first_run_ms=st.none() | floats,
    footprint=footprints,
    correctness=st.none() | correctnesses,
)
readings = st.builds(
    events.Reading,
    t_ns=counts,
    memory_used=st.none() | counts,
    utilisation=st.none() | floats,
    throttle=st.none() | st.lists(texts, max_size=3).map(tuple),
)
answers = st.one_of(
    st.builds(events.PointStarted, index=counts, t_ns=counts),
    st.builds(events.PointProgress, index=counts, done=counts, total=counts, last_ms=st.none() | floats),
    st.builds(events.PointMeasured, index=counts, t_ns=counts, measurement=measurements),
    st.builds(
        events.PointFailed,
        index=counts,
        t_ns=counts,
        reason=texts,
        detail=texts,
        measurement=st.none() | measurements,
    ),
    st.builds(events.Readings, readings=st.lists(readings, max_size=5).map(tuple)),
    st.builds(events.LogLine, source=texts, text=texts),
    st.builds(events.RequestFailed, reason=texts, detail=texts),
    st.builds(events.SamplingStarted, indices=st.lists(counts, max_size=4).map(tuple), t_ns=counts),
    st.builds(
        messages.PointChecked,
        checked=st.builds(
            messages.CheckedPoint,
            point=st.just(Point(index=3, kernel="flash2", problem=Problem(seqlen_q=3, seqlen_k=5))),
            found=measurements,
        ),
        free_bytes=counts,
    ),
    st.builds(messages.SamplingEnded, left_open=texts),
    st.just(messages.Ready()),
    st.just(messages.Retiring()),
)
FOUND = events.Measurement(
    samples=(),
    timer="t",
    cold=True,
    prepare_ms=None,
    first_run_ms=None,
    footprint=events.Footprint(inputs=1, outputs=1, workspace=0, peak=None, source="x"),
    correctness=None,
)


@given(answers)
def test_every_answer_of_a_child_survives_the_pipe(message: messages.Message) -> None:
    assert messages.decode_message(messages.encode(message)) == message


@given(st.integers(1, 10**6), st.integers(1, 64), st.sampled_from(["float32", "bfloat16"]), st.booleans())
def test_every_command_survives_the_pipe(seqlen: int, heads: int, dtype: str, causal: bool) -> None:
    problem = Problem(seqlen_q=seqlen, seqlen_k=seqlen, heads=heads, dtype=dtype, causal=causal)  # type: ignore[arg-type]  # hypothesis draws plain str
    device = Device(backend="cuda", name="GPU", memory_bytes=1 << 37, compute_capability=(9, 0))
    point = Point(index=0, kernel="flash2", problem=problem)
    checked = messages.CheckedPoint(point=point, found=FOUND)
    array = Array.of(np.arange(6.0).reshape(2, 3))
    for command in (
        messages.CheckPoint(point=point, device=device, protocol=Protocol()),
        messages.SamplePoints(checked=(checked, checked), device=device, protocol=Protocol()),
        messages.RecordTrace(request=TraceRequest(problem=problem, inputs=(array, array, array))),
        messages.WatchDevice(backend="cuda", uuid=None),
        messages.ProbeMachine(),
        messages.Cancel(),
        messages.Stop(),
    ):
        assert messages.decode_command(messages.encode(command)) == command


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_errors_that_are_no_numbers_survive_the_pipe(value: float) -> None:
    before = events.Correctness(
        max_abs_error=value, bound=1.0, lse_error=value, lse_bound=1.0, rows=1, passed=False
    )
    measurement = msgspec.structs.replace(FOUND, correctness=before)
    sent = events.PointMeasured(index=0, t_ns=0, measurement=measurement)
    got = messages.decode_message(messages.encode(sent))
    assert isinstance(got, events.PointMeasured)
    assert got.measurement.correctness is not None
    assert repr(got.measurement.correctness.max_abs_error) == repr(value)


def test_a_plan_survives_the_pipe_inside_its_first_event() -> None:
    plan = Plan(backend="cpu", kernels=("flash1",), problems=(Problem(seqlen_q=3, seqlen_k=5),))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(plan), type=Plan) == plan
