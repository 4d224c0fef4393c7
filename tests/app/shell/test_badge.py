"""The badge of the top bar tells where what the view in front shows comes from."""

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import alike_recordings, bundled_sessions, inside_recording
from flashscope.app.pages.claims import ClaimsPage
from flashscope.app.pages.compare import ComparePage
from flashscope.app.pages.ladder import LadderPage
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.shell.main_window import MainWindow
from tests.app.fakes import GPU_MACHINE
from tests.app.rig import Rig
from tests.app.stepper.builders import random_trace

SESSION = "SAVED · GPU NVIDIA H200 · 2026-11-22"


@pytest.fixture
def window(rig: Rig) -> MainWindow:
    """A window on a recording of a GPU."""
    made = rig.window()
    rig.open(bundled_sessions()[0])
    return made


def badge(window: MainWindow) -> str:
    return window.top_bar.badge.text()


def stepper(window: MainWindow) -> StepperPage:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    return page


def test_in_the_stepper_it_tells_of_the_trace_and_elsewhere_of_the_session(window: MainWindow) -> None:
    assert badge(window) == SESSION
    stepper(window).show_trace(random_trace())
    assert badge(window) == SESSION, "a trace that is not in front is told of"
    window.show_page("stepper")
    assert badge(window) == "CPU · trace of flash2"
    trace = random_trace()
    on_gpu = replace(trace, request=replace(trace.request, backend="cuda", order="flash1"))
    stepper(window).show_trace(on_gpu)
    assert badge(window) == "LIVE GPU · trace of flash1"
    window.show_page("results")
    assert badge(window) == SESSION


def test_in_watch_it_tells_of_the_session_until_a_kernel_is_watched(window: MainWindow) -> None:
    window.show_page("watch")
    assert badge(window) == SESSION


@pytest.mark.matrix
def test_a_trace_of_the_session_on_show_has_the_sessions_source(window: MainWindow, rig: Rig) -> None:
    session = rig.controller.session
    assert session is not None
    window.show_page("stepper")
    trace = random_trace()
    measured = replace(trace, request=replace(trace.request, backend="cuda"), device="NVIDIA H200")
    session.traces += [measured, trace]
    stepper(window).show_trace(measured)
    assert badge(window) == f"{SESSION} · trace of flash2"
    stepper(window).show_trace(trace)
    assert badge(window) == f"SAVED · CPU {trace.device} · trace of flash2", "it was kept there later"


@pytest.mark.matrix
def test_a_trace_that_stays_on_show_of_the_session_before_is_not_called_live(
    window: MainWindow, rig: Rig
) -> None:
    inside, others = inside_recording(), bundled_sessions()
    assert inside is not None
    rig.open(inside)
    assert rig.controller.session is not None
    window.show_page("stepper")
    stepper(window).show_trace(rig.controller.session.traces[-1])
    told = badge(window)
    assert told.startswith("SAVED · GPU NVIDIA H200")
    for other in others[:2]:
        rig.open(other)
        window.show_page("stepper")
        assert badge(window) == told, other.name


@pytest.mark.matrix
def test_in_the_source_it_tells_of_the_recording_of_the_gains_and_of_the_kernel(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.show_page("ladder")
    page = window.page
    assert isinstance(page, LadderPage)
    qtbot.waitUntil(lambda: page.recorded is not None)
    assert badge(window) == f"SAVED · GPU NVIDIA H200 · 2026-11-28 · {page.kernel}"
    page.kernels.setCurrentText("flash2")
    assert badge(window) == "SAVED · GPU NVIDIA H200 · 2026-11-28 · flash2"


def test_the_planner_is_a_model_that_goes_by_a_sessions_times(rig: Rig) -> None:
    window = rig.window()
    window.show_page("planner")
    assert badge(window) == "MODEL"
    rig.open(bundled_sessions()[0])
    window.show_page("planner")
    assert badge(window) == "MODEL · GPU NVIDIA H200 · 2026-11-22"


@pytest.mark.matrix
def test_a_comparison_tells_of_its_baseline_and_of_how_many_others(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("compare")
    page = window.page
    assert isinstance(page, ComparePage)
    assert badge(window) == SESSION
    shown, other, *_ = alike_recordings()
    page.choose([other])
    qtbot.waitUntil(lambda: badge(window) != SESSION)
    assert badge(window).startswith("SAVED · GPU NVIDIA "), "of the one that is chosen"
    page.choose([other, shown])
    qtbot.waitUntil(lambda: page.board.findings is not None)
    assert badge(window).endswith(" · and 1 other")
    assert badge(window) != f"{SESSION} · and 1 other"


@pytest.mark.matrix
def test_claims_are_tested_by_recordings_unless_a_gpu_is_here(window: MainWindow, rig: Rig) -> None:
    window.show_page("claims")
    assert isinstance(window.page, ClaimsPage)
    assert badge(window) == "SAVED · GPU NVIDIA H200 · and this CPU"
    rig.controller.machine = GPU_MACHINE
    rig.controller.machine_found.emit(rig.controller.machine)
    assert badge(window) == "LIVE GPU · and CPU"
