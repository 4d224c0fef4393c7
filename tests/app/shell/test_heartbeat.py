"""A sweep's flood of events through the whole window: no turn of its event loop does too much."""

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.pages.profile import ProfilePage
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.wire.events import Event, PointProgress
from tests.app.fakes import sweep
from tests.app.rig import Rig
from tests.app.turns import PLOTS, Turns, assert_no_turn_does_too_much

PLAN = Plan(
    backend="cpu",
    kernels=("standard", "flash1", "flash2"),
    problems=tuple(Problem(seqlen_q=1 << n, seqlen_k=1 << n, heads=2) for n in range(7, 13)),
    protocol=Protocol(drift_check=False),
)


def flood() -> list[Event]:
    events: list[Event] = []
    for event in sweep(PLAN):
        repeats = 2000 if isinstance(event, PointProgress) else 1
        events.extend([event] * repeats)
    return events


@pytest.mark.matrix
def test_no_turn_of_a_flooded_windows_event_loop_does_too_much(
    rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = Turns(rig.controller, monkeypatch)
    window = rig.window()
    window.resize(1280, 720)
    window.show_page("profile")
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    qtbot.waitExposed(window)
    rig.controller.run(PLAN)
    rig.engine.say(flood())  # all of it waits: every turn has as much to do as one ever has
    with turns.counted():
        qtbot.waitUntil(lambda: not rig.controller.running, timeout=120_000)
        qtbot.waitUntil(lambda: page._turns.idle and turns.most(PLOTS) > 0, timeout=120_000)
    assert rig.controller.session is not None
    assert rig.controller.session.outcome == "finished"
    assert_no_turn_does_too_much(turns)
