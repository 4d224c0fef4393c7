"""The engine of several devices: what it says while no sweep runs, and what it says of telemetry."""

from collections.abc import Iterator
from queue import SimpleQueue

import pytest
from msgspec.structs import replace

from flashscope.profiles.cluster.several import SeveralEngine
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.wire.events import Event, Readings, TelemetryStarted
from tests.app.fakes import SilentEngine, reading
from tests.profiles.sessions import TELEMETRY

PATIENCE_S = 60


class Several:
    """Two engines that say what a test has them say, as one.

    Attributes:
        members: The two.
        engine: What they are together.
    """

    def __init__(self) -> None:
        self.members: list[SilentEngine] = []
        self._told: SimpleQueue[Event] = SimpleQueue()
        self.engine = SeveralEngine(self._told.put, [("one", self._make), ("other", self._make)])

    def _make(self, sink: Sink) -> SilentEngine:
        self.members.append(SilentEngine(sink))
        return self.members[-1]

    def say(self, device: int, event: Event) -> None:
        """Have a device say this."""
        self.members[device].sink(event)

    def next(self) -> Event:
        """What is told next."""
        return self._told.get(timeout=PATIENCE_S)


@pytest.fixture
def several() -> Iterator[Several]:
    made = Several()
    yield made
    made.engine.close()


def test_what_watches_the_devices_is_told_together_once_the_first_is_watched(several: Several) -> None:
    other = replace(TELEMETRY, power_limit_w=450.0)
    several.say(1, other)
    several.say(0, TELEMETRY)
    told = several.next()
    assert told == replace(TELEMETRY, others=(other,))
    assert isinstance(told, TelemetryStarted)
    assert [told.of(device).power_limit_w for device in (0, 1, 2)] == [700, 450, 700]


def test_of_readings_those_of_the_first_device_alone_are_told_while_no_sweep_runs(several: Several) -> None:
    several.say(1, reading(1))
    several.say(0, reading(2))
    told = several.next()
    assert isinstance(told, Readings)
    assert told == reading(2)
