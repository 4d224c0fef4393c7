"""What crosses the pipe comes out as it went in."""

import math
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import Array, TraceRequest
from flashscope.profiles.wire import events, messages
from flashscope.profiles.wire.measurement import Figure, Measurement
from tests.matrix import in_rounds
from tests.strategies import POSSIBLE, Drawn

ANY = Drawn(POSSIBLE)
often = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def each_of(union: Any) -> pytest.MarkDecorator:
    """A test for each struct of a union."""
    return pytest.mark.parametrize("kind", get_args(union), ids=lambda kind: kind.__name__)


@each_of(messages.Message)
@in_rounds(3)
@often
@given(st.data())
def test_every_answer_of_a_child_survives_the_pipe(turn: int, kind: Any, data: st.DataObject) -> None:
    message = data.draw(ANY.struct(kind))
    assert repr(messages.decode_message(messages.encode(message))) == repr(message)  # NaN equals itself


@each_of(messages.Command)
@in_rounds(3)
@often
@given(st.data())
def test_every_command_survives_the_pipe(turn: int, kind: Any, data: st.DataObject) -> None:
    command = data.draw(ANY.struct(kind))
    assert repr(messages.decode_command(messages.encode(command))) == repr(command)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@in_rounds(3)
@often
@given(st.data())
def test_figures_that_are_no_numbers_survive_the_pipe(turn: int, value: float, data: st.DataObject) -> None:
    sent = data.draw(Drawn({float: st.just(value)}).struct(events.PointMeasured))
    assert repr(messages.decode_message(messages.encode(sent))) == repr(sent)


def test_text_that_utf8_cannot_hold_crosses_the_pipe_as_an_escape() -> None:
    lost = "caf\udce9"
    sent = events.PointFailed(
        index=1,
        t_ns=2,
        status="failed",
        reason=lost,
        measurement=Measurement(timer=lost, cold=True, figures={lost: Figure(missing=lost)}),
    )
    told = messages.decode_message(messages.encode(sent))
    escaped = r"caf\udce9"
    assert told == replace(
        sent,
        reason=escaped,
        measurement=Measurement(timer=escaped, cold=True, figures={escaped: Figure(missing=escaped)}),
    )


def test_arrays_beside_such_a_text_stay_as_they_are() -> None:
    array = Array.of([1.5, 2.5])
    request = TraceRequest(problem=Problem(seqlen_q=2, seqlen_k=2, batch=1, heads=1), inputs=(array,) * 3)
    unsent = messages.RecordTrace(request=request)
    lost = messages.WatchDevice(backend="cpu", uuid="\udcff")
    assert messages.decode_command(messages.encode(unsent)) == unsent
    assert messages.decode_command(messages.encode(lost)) == replace(lost, uuid=r"\udcff")
    holding = msgspec.to_builtins(unsent, builtin_types=(bytes,)) | {"also": "\udcff"}
    assert messages._in_utf8(holding)["request"]["inputs"][0]["data"] == array.data
