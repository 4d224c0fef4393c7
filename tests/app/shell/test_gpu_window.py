"""The main job on a real GPU, through the real window: a sweep until standard attention no longer fits."""

import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK, LIGHT
from flashscope.app.pages.profile.page import ProfilePage
from flashscope.app.pages.stepper.page import StepperPage
from flashscope.app.shell.main_window import MainWindow, build_window
from flashscope.app.shell.shots import grab_whole
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import Trace
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.plan.request import Request
from flashscope.profiles.plan.seqlens import parse_seqlens
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import RUNTIME
from flashscope.profiles.store import load
from flashscope.profiles.wire.events import PointStatus
from tests.app.turns import Turns, assert_no_turn_does_too_much

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(550)]

SWEEP = Request.of(
    "cuda",
    kernels=("standard", "flash2"),
    seqlens=parse_seqlens("512:65536"),
    dtype="bfloat16",
    heads=10,  # standard takes 40 GiB at 32k, beside other tests too, and 160 GiB at 64k, past every GPU here
    head_dim=64,
)
SHORT = Problem(seqlen_q=512, seqlen_k=512, heads=2)


@pytest.fixture
def faulty_window(qapp: QApplication, qtbot: QtBot, home: Path) -> Iterator[MainWindow]:
    yield from _window(qtbot, home, "tests.faults:KERNELS")


@pytest.fixture
def window(qapp: QApplication, qtbot: QtBot, home: Path) -> Iterator[MainWindow]:
    yield from _window(qtbot, home, "flashscope.kernels.catalogue.registry:KERNELS")


def _window(qtbot: QtBot, home: Path, kernels: str) -> Iterator[MainWindow]:
    window = build_window(Controller(lambda sink: LocalEngine(sink, kernels), home), DARK)
    qtbot.addWidget(window)
    window.resize(1440, 900)
    with qtbot.waitSignal(window.controller.machine_found, timeout=60_000):
        window.show()
    window.show_page("profile")
    yield window
    window.close_unasked()


def test_a_sweep_clicked_in_the_window_shows_quadratic_against_linear_until_standard_does_not_fit(
    window: MainWindow, qtbot: QtBot, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    page.form.show_request(SWEEP)
    record = request.config.getoption("--record")
    turns = Turns(window.controller, monkeypatch)

    with turns.counted():  # taking a picture is not part of the sweep
        window.top_bar.run.click()
        qtbot.waitUntil(lambda: _ended(window.controller.session) >= 13, timeout=400_000)
    if record:
        _shoot(window, Path(record) / "live-dark.png")
    qtbot.waitUntil(lambda: not window.controller.running, timeout=400_000)

    session = window.controller.session
    path = window.controller.path
    assert session is not None
    assert path is not None
    if record:
        window.appearance.use(LIGHT)
        _shoot(window, Path(record) / "done-light.png")
    window.close_unasked()
    if record:
        shutil.copy(path, Path(record) / "h200-standard-flash2.flashscope")
    _assert_the_claims(session)
    assert_no_turn_does_too_much(turns)
    assert [state.measurement for state in load(path).points] == [s.measurement for s in session.points]


def _ended(session: Session | None) -> int:
    return session.ended_points if session else 0


def _shoot(window: MainWindow, path: Path) -> None:
    QApplication.processEvents()
    assert grab_whole(window).save(str(path))


def _assert_the_claims(session: Session) -> None:
    by_kernel = {
        kernel: {s.point.problem.seqlen_q: s for s in session.points if s.point.kernel == kernel}
        for kernel in SWEEP.kernels
    }
    standard, flash2 = by_kernel["standard"], by_kernel["flash2"]
    assert _statuses(flash2) == ["done"] * 8
    assert _statuses(standard) == ["done"] * 7 + ["will-not-fit"]
    quadratic = [_footprint(standard[n]) for n in SWEEP.seqlens[:-1]]
    linear = [_footprint(flash2[n]) for n in SWEEP.seqlens]
    assert quadratic[-1] / quadratic[-2] == pytest.approx(4, rel=0.02)
    assert all(later / earlier == pytest.approx(2) for earlier, later in pairwise(linear))
    times = {(row.kernel, row.seqlen): value_of(RUNTIME, row) for row in rows(session)}
    for n in SWEEP.seqlens[:-1]:
        slow, fast = times["standard", n], times["flash2", n]
        assert slow is not None
        assert fast is not None
        assert n < 4096 or fast < slow, f"flash2 is not faster at N = {n}: {fast} ms against {slow} ms"
    assert _nvml_rise(session, standard[32768]) > 0.9 * quadratic[-1]


def _statuses(points: dict[int, PointState]) -> list[PointStatus]:
    return [points[n].status for n in sorted(points)]


def _footprint(state: PointState) -> int:
    assert state.measurement is not None
    peak = state.measurement.value("peak_bytes")
    assert peak is not None
    return int(peak)


def _nvml_rise(session: Session, state: PointState) -> int:
    """How far NVML's used memory rose above its lowest reading while a point ran, bytes."""
    used = [(r.t_ns, r.memory_used) for r in session.readings if r.memory_used is not None]
    assert state.started_ns is not None
    assert state.ended_ns is not None
    during = [bytes_ for t, bytes_ in used if state.started_ns <= t <= state.ended_ns]
    return max(during) - min(bytes_ for _, bytes_ in used)


def test_the_stepper_walks_a_trace_that_the_gpu_recorded(
    window: MainWindow, qtbot: QtBot, request: pytest.FixtureRequest
) -> None:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    assert page.bar.chosen_backend == "cuda"
    for preset, last_sum in (("slide", 1.585), ("random", None)):
        with qtbot.waitSignal(window.controller.trace_ready, timeout=60_000) as recorded:
            page.show_preset(preset)
        trace: Trace = recorded.args[0]
        assert trace.request.backend == "cuda"
        assert "H200" in trace.device or "NVIDIA" in trace.device
        assert trace.sm is not None
        assert last_sum is None or trace.l.numpy()[-1, 0] == pytest.approx(last_sum, abs=1e-3)
        error = abs(trace.output.numpy() - trace.exact_output.numpy()).max()
        assert error < 1e-5
    page.seek(150)
    record = request.config.getoption("--record")
    if record:
        _shoot(window, Path(record) / "stepper-dark.png")
    assert trace.device in page.words()


def test_an_illegal_address_and_an_endless_kernel_leave_the_window_alive_and_the_sweep_going(
    faulty_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = Turns(faulty_window.controller, monkeypatch)
    with turns.counted():
        faulty_window.controller.run(
            Plan(
                backend="cuda",
                kernels=("flash2", "illegal-address", "endless", "standard"),
                problems=(SHORT,),
                protocol=Protocol(deadline_s=8),
            )
        )
        qtbot.waitUntil(lambda: _ended(faulty_window.controller.session) == 4, timeout=120_000)
        qtbot.waitUntil(lambda: not faulty_window.controller.running, timeout=60_000)

    session = faulty_window.controller.session
    assert session is not None
    assert [s.status for s in session.points] == ["done", "failed", "timeout", "done"]
    assert "illegal" in session.points[1].reason.lower()
    assert faulty_window.isVisible()
    assert_no_turn_does_too_much(turns)
