"""What a client and a host say to each other comes out as it went in."""

from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flashscope.profiles.cluster.calls import HostAnswer, HostCall, decode_answer, decode_call
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.messages import encode
from tests.strategies import POSSIBLE, Drawn

NUMBERS = st.integers(0, 1 << 40)
REMAINING = st.builds(
    Remaining,
    session_id=st.text(),
    part=NUMBERS,
    left=st.frozensets(NUMBERS),
    again=st.just(()),
    repeats=st.lists(NUMBERS).map(tuple),
    first=NUMBERS,
    t_ns=NUMBERS,
    outcome=st.sampled_from((None, "cancelled")),
)
ANY = Drawn({**POSSIBLE, Remaining: REMAINING})
often = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("kind", get_args(HostCall), ids=lambda kind: kind.__name__)
@often
@given(st.data())
def test_every_call_survives_the_connection(kind: Any, data: st.DataObject) -> None:
    call = data.draw(ANY.struct(kind))
    assert repr(decode_call(encode(call))) == repr(call)  # NaN equals itself


@pytest.mark.parametrize("kind", get_args(HostAnswer), ids=lambda kind: kind.__name__)
@often
@given(st.data())
def test_every_answer_survives_the_connection(kind: Any, data: st.DataObject) -> None:
    answer = data.draw(ANY.struct(kind))
    assert repr(decode_answer(encode(answer))) == repr(answer)
