"""A recording played by a clock. The time is the test's."""

from collections.abc import Iterator

import pytest

from flashscope.app.control.playback import SPEEDS, Playback
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import PlanStarted
from tests.app.fakes import PLAN, sweep

WHOLE_S = len(PLAN.points()) + 2  # see tests.app.fakes.sweep
FIRST_END_S = 1.9


class Deck:
    """A playback, and a clock that moves when a test moves it."""

    def __init__(self) -> None:
        opening, *events = sweep()
        assert isinstance(opening, PlanStarted)
        recorded = Session.begin(opening)
        for event in events:
            recorded.apply(event)
        self.now = 50.0
        self.playback = Playback(recorded, 1.0, lambda: self.now)
        self.ended: list[None] = []
        self.playback.ended.connect(lambda: self.ended.append(None))

    @property
    def at_s(self) -> float:
        return (self.playback.at_ns - self.playback.events.start_ns) / 1e9

    def play(self, seconds: float) -> None:
        self.playback.set_playing(True)
        self.now += seconds
        self.playback.tick()


@pytest.fixture
def deck() -> Iterator[Deck]:
    made = Deck()
    yield made
    made.playback.set_playing(False)


def test_it_plays_as_time_passes_and_stands_still_in_a_pause(deck: Deck) -> None:
    deck.play(2.5)
    assert deck.at_s == 2.5
    assert deck.playback.session.ended_points == 1
    deck.playback.set_playing(False)
    deck.now += 100
    deck.play(1.0)
    assert deck.at_s == 3.5


@pytest.mark.parametrize("speed", SPEEDS)
def test_a_speed_is_how_many_recorded_seconds_pass_in_one(deck: Deck, speed: float) -> None:
    deck.playback.set_speed(speed)
    deck.play(0.125)
    assert deck.at_s == pytest.approx(0.125 * speed)


def test_another_speed_counts_from_here_on(deck: Deck) -> None:
    deck.playback.set_playing(True)
    deck.now += 1.0
    deck.playback.change_speed(1)
    deck.play(1.0)
    assert deck.at_s == 3.0


def test_there_are_speeds_from_one_half_to_fifty_and_no_others(deck: Deck) -> None:
    for direction, last in ((1, 50.0), (-1, 0.5)):
        for _ in SPEEDS:
            deck.playback.change_speed(direction)
        assert deck.playback.speed == last
    with pytest.raises(ValueError, match=r"0\.5, 1, 2, 5, 10, 20, 50"):
        deck.playback.set_speed(1e6)


def test_it_goes_from_the_end_of_a_point_to_the_next_and_back(deck: Deck) -> None:
    places = []
    for direction in (1, 1, -1, -1, -1):
        deck.playback.step(direction)
        places.append(deck.at_s)
    assert places == [FIRST_END_S, FIRST_END_S + 1, FIRST_END_S, 0, 0]
    for _ in range(WHOLE_S):
        deck.playback.step(1)
    assert deck.playback.at_end


def test_a_moment_outside_of_the_recording_is_the_nearest_one_in_it(deck: Deck) -> None:
    deck.playback.seek(-(10**18))
    assert deck.at_s == 0
    deck.playback.seek(10**18)
    assert deck.at_s == WHOLE_S


def test_it_has_ended_when_it_was_played_to_the_end_not_when_one_goes_there(deck: Deck) -> None:
    deck.playback.seek(deck.playback.events.end_ns)
    assert not deck.ended
    deck.playback.set_playing(True)
    assert deck.at_s == 0
    deck.play(WHOLE_S)
    assert len(deck.ended) == 1
    assert not deck.playback.playing


def test_the_session_played_is_always_the_same_object_and_the_recorded_one_is_not_touched(deck: Deck) -> None:
    played, recorded = deck.playback.session, deck.playback.recorded
    points = len(recorded.points), recorded.ended_points
    deck.play(3.0)
    deck.playback.step(-1)
    assert deck.playback.session is played is not recorded
    assert (len(recorded.points), recorded.ended_points) == points
