"""A window on its Compare page, and sessions to compare."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.pages.compare import ComparePage
from flashscope.app.shell.main_window import MainWindow
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.store import Recorder, sessions_dir
from flashscope.profiles.wire.events import Event, PlanFinished, PointStarted
from flashscope.profiles.wire.measurement import Measurement, Sample
from tests.app.fakes import GPU_MACHINE, PLAN, SECOND, measurement, plan_started
from tests.app.rig import Rig
from tests.profiles.sessions import ends_well

GPU_PLAN = replace(
    PLAN,
    backend="cuda",
    problems=tuple(Problem(seqlen_q=n, seqlen_k=n, heads=2, dtype="float16") for n in (256, 512, 1024)),
)
Record = Callable[..., Path]


class Desk:
    """The Compare page of a window on show."""

    def __init__(self, window: MainWindow, qtbot: QtBot) -> None:
        self.window, self.qtbot = window, qtbot
        page = window.pages["compare"]
        assert isinstance(page, ComparePage)
        self.page, self.board = page, page.board
        window.show_page("compare")

    def choose(self, *paths: Path) -> None:
        """Choose these and wait until they are compared and drawn."""
        self.after(lambda: self.page.choose(paths))

    def after(self, act: Callable[[], object]) -> None:
        """Do what leads to another comparison, and wait until that is drawn."""
        with self.qtbot.waitSignal(self.page.lineup.found):
            act()
        self.drawn()

    def drawn(self) -> None:
        self.qtbot.waitUntil(lambda: self.board._turns.idle)

    def sentences(self) -> list[str]:
        found = self.board.findings
        assert found is not None
        return [one.summary for one in found.comparison.contrasts]


@pytest.fixture
def desk(rig: Rig, qtbot: QtBot) -> Desk:
    return Desk(rig.window(), qtbot)


@pytest.fixture
def record() -> Record:
    return recorded


def recorded(name: str, plan: Plan = GPU_PLAN, times: float = 1.0, **machine: object) -> Path:
    """A sweep in the sessions' folder of which every run takes so many times as long as usual."""
    path = sessions_dir() / f"{name}.flashscope"
    recorder = Recorder(path)
    for event in _events(plan, times, machine):
        recorder.record(event)
    recorder.close()
    return path


def _events(plan: Plan, times: float, machine: dict[str, object]) -> Sequence[Event]:
    told: list[Event] = [plan_started(plan, replace(GPU_MACHINE, **machine))]
    for point in plan.points():
        t_ns = (point.index + 1) * SECOND
        told.append(PointStarted(index=point.index, t_ns=t_ns))
        told += ends_well(point.index, t_ns, _measured(point.problem.seqlen_q / 256 * times))
    return [*told, PlanFinished(t_ns=100 * SECOND, outcome="finished")]


def _measured(ms: float) -> Measurement:
    """Twelve samples close to each other, the last of them rejected."""
    samples = [Sample(ms * (1 + 0.0005 * k)) for k in range(11)]
    return replace(measurement(ms, 4096), samples=(*samples, Sample(ms * 2, "throttled")))


def press(desk: Desk, key: str) -> None:
    action = desk.window.registry.find(key)
    assert action is not None
    action.trigger()
