"""Nothing is timed or compiled beside what that would disturb, or what would disturb it."""

import pytest

from flashscope.app.control.controller import Controller
from flashscope.app.control.inside.occupying import SAMPLED
from flashscope.app.pages.designer import DesignerPage
from flashscope.app.pages.designer.beside import BESIDE_A_SWEEP
from flashscope.kernels.workload.live import LiveRequest
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.profiles.wire.events import RequestFailed
from tests.app.pages.designer.conftest import Compilers


def test_nothing_is_timed_beside_a_launch_in_slow_motion(page: DesignerPage, compilers: Compilers) -> None:
    page.choices.show_kernel("numpy")
    page.controller.live.ask(
        LiveRequest(problem=Problem(seqlen_q=64, seqlen_k=64), kernel="flash2", seconds=5)
    )
    assert not page.tiles.time.isEnabled()
    page.time_cuts()
    assert compilers.asked == []
    page.controller.live.take(RequestFailed(request="live", reason="It was given up."))
    assert page.tiles.time.isEnabled()
    page.time_cuts()
    assert len(compilers.asked) == 1


def test_compiling_gives_way_to_what_is_measured(
    page: DesignerPage, compilers: Compilers, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.compile_all()
    monkeypatch.setattr(Controller, "measuring", True)
    page.controller.running_changed.emit(True)
    assert compilers.ended == 1
    assert page.bar.progress.text() == page.bar.one.toolTip() == BESIDE_A_SWEEP
    page.compile_one()
    page.compile_all()
    assert len(compilers.asked) == 1
    monkeypatch.setattr(Controller, "measuring", False)
    page.controller.running_changed.emit(False)
    page.bar.one.click()
    assert len(compilers.asked) == 2
    page.controller.timelines.ask(
        [TimelineRequest(problem=Problem(seqlen_q=64, seqlen_k=64), kernel="flash2")]
    )
    assert compilers.ended == 2
    assert not page.bar.every.isEnabled()


def test_nothing_is_compiled_while_stalls_are_sampled(page: DesignerPage, compilers: Compilers) -> None:
    problem = Problem(seqlen_q=64, seqlen_k=64, dtype="float16")
    page.controller.stalls.ask([StallRequest(problem=problem, kernel="flash2")])
    assert page.bar.one.toolTip() == SAMPLED
    page.compile_all()
    assert compilers.asked == []
    page.controller.stalls.take(RequestFailed(request="stalls", reason="It was given up."))
    page.compile_all()
    assert len(compilers.asked) == 1
