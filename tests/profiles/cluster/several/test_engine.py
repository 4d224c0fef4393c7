"""The engine of several devices: what it says while no sweep runs, and what it says of telemetry."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from flashscope.profiles.cluster.lines import LOST_REMEDY
from flashscope.profiles.cluster.several.engine import SeveralEngine
from flashscope.profiles.engine.contract import Sink, Working
from flashscope.profiles.plan.request import Request
from flashscope.profiles.wire.events import Event, MachineFound, PlanFinished, Readings, TelemetryStarted
from flashscope.profiles.wire.lines import LineKind
from flashscope.profiles.wire.ranks import RanksEnded
from tests.app.fakes import CPU_MACHINE, SilentEngine, reading
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


class LineEngine(SilentEngine):
    """One that has a GPU, and notes what is started on it.

    Attributes:
        started: The GPUs that a process sees, and what takes its answers.
    """

    def __init__(self, gpu: str, sink: Sink) -> None:
        super().__init__(sink)
        self.gpu = gpu
        self.started: list[tuple[Sequence[str], Callable[[Any], None]]] = []

    def lines(
        self,
        kind: LineKind,  # noqa: ARG002 - as the engine's contract has it
        asked: Sequence[Any],  # noqa: ARG002 - as above
        told: Callable[[Any], None],
        gpus: Sequence[str] = (),
    ) -> Working:
        self.started.append((gpus, told))
        return Mock()


def test_the_first_device_starts_a_process_on_the_gpus_of_all_which_ends_where_one_is_lost() -> None:
    members: list[LineEngine] = []

    def make(gpu: str, sink: Sink) -> LineEngine:
        members.append(LineEngine(gpu, sink))
        return members[-1]

    engine = SeveralEngine(Mock(), [(gpu, partial(make, gpu)) for gpu in ("GPU-a", "GPU-b")])
    told: list[RanksEnded] = []
    engine.lines("ranks", ["first", "second"], told.append)
    ((gpus, answer),) = members[0].started
    assert gpus == ("GPU-a", "GPU-b")
    assert not members[1].started
    answer(RanksEnded())
    engine.lose("GPU-b is lost.")
    assert [one.reason for one in told] == ["", f"GPU-b is lost. {LOST_REMEDY}"]
    engine.close()


@pytest.fixture
def several() -> Iterator[Several]:
    made = Several()
    yield made
    made.engine.close()


def test_a_sweep_that_is_cancelled_while_the_devices_are_looked_at_never_begins(several: Several) -> None:
    several.engine.run(Request.of("cpu").plan())
    several.engine.cancel()
    ended = several.next()
    assert isinstance(ended, PlanFinished)
    assert ended.outcome == "cancelled"
    for device in (0, 1):
        several.say(device, MachineFound(machine=CPU_MACHINE))
    assert isinstance(several.next(), MachineFound)
    several.engine.close()
    assert [one.plans for one in several.members] == [[], []]


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
