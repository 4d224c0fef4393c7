"""Whatever figures a file holds, however absurd, the window shows them and goes on."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from flashscope.app.shell.main_window import MainWindow
from flashscope.kernels.workload.trace import Trace
from flashscope.profiles.store import Recorder
from flashscope.profiles.wire.events import Event, TraceReady
from tests.app.rig import Rig
from tests.app.shell.played.drawn import shown
from tests.app.stepper.strategies import spoilt_traces
from tests.matrix import on_demand
from tests.profiles.store.test_round_trip import sweeps

ROUNDS = 160
A_ROUND = settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.reuse, Phase.generate],  # making a whole sweep smaller takes longer than showing it
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def files(tmp_path: Path) -> Callable[[list[Event]], Path]:
    numbers = count()

    def write(events: list[Event]) -> Path:
        recorder = Recorder(tmp_path / f"{next(numbers)}.flashscope")
        for event in events:
            recorder.record(event)
        recorder.close()
        return recorder.path

    return write


@pytest.mark.matrix
@on_demand("turn", range(1, ROUNDS + 1), {1})
@A_ROUND
@given(events=sweeps(), trace=spoilt_traces())
def test_a_window_shows_any_figures(  # noqa: PLR0917 - fixtures
    turn: int,
    events: list[Event],
    trace: Trace,
    rig: Rig,
    window: MainWindow,
    files: Callable[[list[Event]], Path],
    raised: list[str],
) -> None:
    told = [event for event in events if not isinstance(event, TraceReady)]
    path = files([*told[:-1], TraceReady(trace=trace), told[-1]])
    rig.open(path)
    assert rig.controller.path == path, window.errors.text
    rig.say([TraceReady(trace=trace)])
    shown(window)
    assert not raised, raised[0]
