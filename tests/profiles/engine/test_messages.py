"""What crosses the pipe comes out as it went in."""

import math
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profiles.wire import events, messages
from tests.strategies import POSSIBLE, Drawn

ANY = Drawn(POSSIBLE)
often = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def each_of(union: Any) -> pytest.MarkDecorator:
    """A test for each struct of a union."""
    return pytest.mark.parametrize("kind", get_args(union), ids=lambda kind: kind.__name__)


@each_of(messages.Message)
@often
@given(st.data())
def test_every_answer_of_a_child_survives_the_pipe(kind: Any, data: st.DataObject) -> None:
    message = data.draw(ANY.struct(kind))
    assert repr(messages.decode_message(messages.encode(message))) == repr(message)  # NaN equals itself


@each_of(messages.Command)
@often
@given(st.data())
def test_every_command_survives_the_pipe(kind: Any, data: st.DataObject) -> None:
    command = data.draw(ANY.struct(kind))
    assert repr(messages.decode_command(messages.encode(command))) == repr(command)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@often
@given(st.data())
def test_figures_that_are_no_numbers_survive_the_pipe(value: float, data: st.DataObject) -> None:
    sent = data.draw(Drawn({float: st.just(value)}).struct(events.PointMeasured))
    assert repr(messages.decode_message(messages.encode(sent))) == repr(sent)
