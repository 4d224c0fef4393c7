"""How long a sweep still takes, in words."""

from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.words.results.progress import left_text


@given(st.floats(-100, 1e6))
def test_while_something_is_left_it_is_never_said_to_take_no_time(seconds: float) -> None:
    assert "0:00" not in left_text(seconds)
    assert left_text(seconds).startswith("about ") is (seconds >= 5)
