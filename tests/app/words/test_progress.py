"""How far a sweep is, in words."""

from flashscope.app.words.progress import count_text
from tests.app.pages.profile.failing import EVENTS
from tests.profiles.sessions import session_of


def test_the_count_says_how_many_of_the_points_that_ended_failed_and_how() -> None:
    assert count_text(session_of(EVENTS)) == "6 of 6 points, 1 timeout, 1 out of memory"
