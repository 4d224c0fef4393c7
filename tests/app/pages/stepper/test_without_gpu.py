"""What cannot be traced here says why in its tip, and what fails all the same is told in one place."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.stepper.options_bar import LAST_GPU
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stepper.presets import Options, own
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import RequestFailed, TraceReady
from tests.app.fakes import CPU_MACHINE, GPU_MACHINE, PLAN, sweep
from tests.app.pages.stepper.conftest import Bench
from tests.app.rig import Rig
from tests.app.stepper.builders import build_trace, random_trace
from tests.profiles.sessions import session_of

REMEDY = CPU_MACHINE.findings[1].remedy
REASON = "CuPy cannot be imported; use the CPU backend."


def offered(combo: QComboBox, key: str) -> tuple[bool, str]:
    """Whether an entry can be chosen, and its tip in one line."""
    index = combo.findData(key)
    can = bool(combo.model().flags(combo.model().index(index, 0)) & Qt.ItemFlag.ItemIsEnabled)
    return can, " ".join(combo.itemData(index, Qt.ItemDataRole.ToolTipRole).split())


def gpu_session() -> Session:
    return session_of(sweep(replace(PLAN, backend="cuda"), GPU_MACHINE))


def test_without_a_gpu_neither_cuda_nor_the_last_gpu_problem_can_be_chosen_and_the_tips_have_the_remedy(
    bench: Bench,
) -> None:
    bar = bench.page.bar
    bench.page.show_session(gpu_session())
    bar.show_machine(CPU_MACHINE)
    for combo, key in ((bar.backend, "cuda"), (bar.preset, LAST_GPU)):
        can, tip = offered(combo, key)
        assert not can
        assert "no libcuda.so.1 on this machine" in tip
        assert REMEDY in tip


def test_with_a_gpu_the_last_gpu_problem_waits_for_a_session_that_ran_on_one(bench: Bench) -> None:
    bar = bench.page.bar
    bar.show_machine(GPU_MACHINE)
    can, tip = offered(bar.backend, "cuda")
    assert can
    assert tip.endswith(" Test GPU")
    can, tip = offered(bar.preset, LAST_GPU)
    assert (can, "run or open one" in tip) == (False, True)
    bench.page.show_session(gpu_session())
    assert offered(bar.preset, LAST_GPU)[0]


def test_a_trace_from_a_gpu_elsewhere_is_made_anew_on_the_cpu_where_there_is_no_gpu(bench: Bench) -> None:
    page = bench.show("causal")
    page.bar.show_machine(CPU_MACHINE)
    recorded = random_trace(seed=9)
    page.show_trace(replace(recorded, request=replace(recorded.request, backend="cuda")))
    assert page.bar.chosen_backend == "cuda"
    page.bar.order.setCurrentIndex(1 - page.bar.order.currentIndex())
    assert bench.engine.requests[-1].backend == "cpu"


@pytest.fixture
def page(rig: Rig) -> StepperPage:
    window = rig.window()
    window.show_page("stepper")
    found = window.pages["stepper"]
    assert isinstance(found, StepperPage)
    return found


def message(page: StepperPage) -> str:
    """What the message line of the window says now."""
    window = page.window()
    assert isinstance(window, MainWindow)
    return window.errors.text if window.errors.isVisible() else ""


def test_a_trace_that_fails_is_told_once_until_one_succeeds(
    rig: Rig, page: StepperPage, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(rig.controller.trace_failed):
        rig.engine.say([RequestFailed(request="trace", reason=REASON, detail="Traceback")])
    assert message(page) == REASON
    assert REASON not in page.words()
    with qtbot.waitSignal(rig.controller.trace_ready):
        rig.engine.say([TraceReady(trace=build_trace(own(Options())))])
    assert message(page) == ""


@pytest.mark.matrix
def test_a_trace_that_succeeds_takes_back_no_other_error(rig: Rig, page: StepperPage, qtbot: QtBot) -> None:
    with qtbot.waitSignal(rig.controller.trace_failed):
        rig.engine.say([RequestFailed(request="trace", reason=REASON)])
    rig.controller.error_raised.emit("The file is gone.", "")
    with qtbot.waitSignal(rig.controller.trace_ready):
        rig.engine.say([TraceReady(trace=build_trace(own(Options())))])
    assert message(page) == "The file is gone."


def test_before_the_machine_is_known_the_tips_say_that(bench: Bench) -> None:
    bench.page.show_session(gpu_session())
    can, tip = offered(bench.page.bar.preset, LAST_GPU)
    assert (can, "still being looked for" in tip) == (False, True)
