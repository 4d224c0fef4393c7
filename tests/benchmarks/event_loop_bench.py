"""How long the window holds its event loop up: pytest -m benchmark -s event_loop_bench.py.

A timer of 1 ms beats on the window's thread; the longest time between two beats is the longest block. Prints
milliseconds, of the wall and of the thread's own processor time; gates on nothing. No GPU is needed.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK, LIGHT
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.plots.export.picture import WRITERS
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stepper.modes import BACKWARD
from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.cpu.backward_trace import record as record_backward
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.wire.events import Event, PlanFinished, PlanStarted, PointProgress, Reading, Readings
from tests.app.fakes import FakeEngine
from tests.app.stepper.builders import random_trace
from tests.benchmarks.heart import PATIENCE_MS, Block, Heart, line, now, settle, shown
from tests.profiles.sessions import make_plan, script

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]

TRIES = 3
PERCENTS = (125, 200, 250, 80, 100)
ROOT = Path(__file__).parents[2]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def engines() -> list[FakeEngine]:
    return []


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication, home: Path, engines: list[FakeEngine]) -> MainWindow:
    def make(sink: Callable[[Event], None]) -> FakeEngine:
        engines.append(FakeEngine(sink))
        return engines[-1]

    return shown(qtbot, Controller(make, home))


def test_opening_each_bundled_recording(window: MainWindow, qtbot: QtBot) -> None:
    print("\nlongest block of the event loop of each run in ms, of the wall (and of the processor)")  # noqa: T201 - the table
    for path in bundled_sessions():
        blocks = []
        for _ in range(TRIES):
            window.show_page("start")
            heart = Heart()
            with heart.beating():
                with qtbot.waitSignal(window.controller.session_changed, timeout=PATIENCE_MS):
                    window.open_path(path)
                settle(qtbot, window)
            assert window.controller.path == path
            blocks.append(heart.longest)
        line(f"opening {path.name}", *blocks)


def test_a_flood_of_events(window: MainWindow, qtbot: QtBot, engines: list[FakeEngine]) -> None:
    plan = make_plan(tuple(spec.name for spec in LADDER), tuple(256 << k for k in range(8)))
    progress = [PointProgress(index=0, phase="measure", done=k, total=40, last_ms=1.0) for k in range(40)]
    window.show_page("profile")
    blocks = []
    for _ in range(TRIES):
        window.controller.run(plan)
        heart = Heart()
        with heart.beating():
            engines[0].say(told for event in script(plan) for told in (event, *progress))
            qtbot.waitUntil(lambda: not window.controller.running, timeout=PATIENCE_MS)
            settle(qtbot, window)
        blocks.append(heart.longest)
    line("a flood of events", *blocks)


def test_a_cpu_sweep_from_the_start_page(qtbot: QtBot, qapp: QApplication, home: Path) -> None:
    blocks = []
    for run in range(TRIES):
        window = shown(qtbot, Controller(LocalEngine, home / str(run)))
        page = window.pages["profile"]
        assert isinstance(page, ProfilePage)
        window.controller.choose_backend("cpu")
        page.form.chips.field.setText("256:512")
        heart = Heart()
        with heart.beating():
            window.top_bar.run.click()
            qtbot.waitUntil(lambda w=window: not w.controller.running, timeout=PATIENCE_MS)  # type: ignore[misc]  # a default binds it
            settle(qtbot, window)
        blocks.append(heart.longest)
        window.close_unasked()
    line("a CPU sweep, from Run on the start page", *blocks)


def test_switching_the_theme(window: MainWindow, qtbot: QtBot) -> None:
    with_a_recording(window, qtbot)
    for key in ("profile", "stepper"):
        window.show_page(key)
        settle(qtbot, window)
        names = (LIGHT.name, DARK.name) * TRIES
        blocks = [
            switched(window, qtbot, lambda n=name: window.appearance.choose(n))  # type: ignore[misc]  # a default binds it
            for name in names
        ]
        line(f"switching the theme on the {key} page", *blocks)


def test_zooming(window: MainWindow, qtbot: QtBot) -> None:
    with_a_recording(window, qtbot)
    for key in ("profile", "stepper"):
        window.show_page(key)
        settle(qtbot, window)
        blocks = [
            switched(window, qtbot, lambda p=percent: window.appearance.zoom(p))  # type: ignore[misc]  # as above
            for percent in PERCENTS
        ]
        line(f"zooming to {', '.join(map(str, PERCENTS))} % on the {key} page", *blocks)


def test_telling_and_dismissing_a_message(window: MainWindow, qtbot: QtBot) -> None:
    with_a_recording(window, qtbot)
    for key in ("profile", "stepper", "sessions", "compare"):
        window.show_page(key)
        settle(qtbot, window)
        acts = (lambda: window.errors.show_error("It went wrong.", "How."), window.errors.hide) * TRIES
        line(f"a message and its end on the {key} page", *[beaten(qtbot, window, act) for act in acts])


def test_exporting_a_plot(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    with_a_recording(window, qtbot)
    window.show_page("profile")
    settle(qtbot, window)
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    for name, button in (
        ("plot", page.plots.cells[0].export_button),
        ("telemetry", page.bottom.export_button),
    ):
        for kind in WRITERS:
            export = partial(button.exporter.save, kind, tmp_path / f"{name}.{kind}")
            line(f"the {name} as {kind}", *[beaten(qtbot, window, export) for _ in range(TRIES)])


def with_a_recording(window: MainWindow, qtbot: QtBot) -> None:
    """Show the last of the bundled recordings, on every page once."""
    with qtbot.waitSignal(window.controller.session_changed, timeout=PATIENCE_MS):
        window.open_path(bundled_sessions()[-1])
    for key in window.pages:
        window.show_page(key)
        settle(qtbot, window)


def switched(window: MainWindow, qtbot: QtBot, switch: Callable[[], object]) -> Block:
    """The longest block of a switch of theme or zoom, until all is painted."""
    heart = Heart()
    with heart.beating():
        switch()
        qtbot.waitUntil(lambda: not window.appearance.busy, timeout=PATIENCE_MS)
        settle(qtbot, window)
    return heart.longest


@pytest.mark.parametrize("mode", ["blocks", "lanes"])
def test_scrubbing_through_a_long_trace(window: MainWindow, qapp: QApplication, mode: str) -> None:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    window.show_page("stepper")
    window.resize(1520, 920)
    page.show_mode(mode)
    page.show_trace(random_trace(464, block=16, head_dim=32))
    if mode == "lanes":  # with all the state that there is to be drawn
        page.modes.board.take_beside(random_trace(464, block=16, head_dim=32, order="flash1"))
    qapp.processEvents()
    last = page.transport.scrubber.maximum()
    frames = range(0, last, 16)
    begun = now()
    for place in frames:
        page.seek(place)
        qapp.processEvents()
    wall, processor = (len(frames) / (b - a) * 1e3 for a, b in zip(begun, now(), strict=True))
    print(f"scrubbing {mode}, {last + 1} steps: {wall:.0f} frames/s, {processor:.0f} a processor second")  # noqa: T201 - the table


@pytest.mark.parametrize("shape", [(1552, 16, 16), (576, 64, 128)], ids=["many tiles", "large tiles"])
def test_scrubbing_through_a_long_backward_trace(
    window: MainWindow, qtbot: QtBot, qapp: QApplication, shape: tuple[int, int, int]
) -> None:
    seqlen, block, width = shape
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    window.show_page("stepper")
    window.resize(1520, 920)
    page.show_trace(random_trace(64, block=16, head_dim=32))
    settle(qtbot, window)
    turned = beaten(qtbot, window, lambda: page.show_mode(BACKWARD))
    problem = Problem(seqlen_q=seqlen, seqlen_k=seqlen, heads=1, head_dim=width, passes="backward")
    trace = record_backward(BackwardTraceRequest(problem=problem, block_q=block, block_k=block))
    board = page.backwards.board
    arrived = beaten(qtbot, window, lambda: board.show_trace(trace))
    assert board.position is not None
    last = board.position.last
    frames = range(0, last, max(1, last // 500))
    begun = now()
    for place in frames:
        board.seek(place)
        qapp.processEvents()
    wall, processor = (len(frames) / (b - a) * 1e3 for a, b in zip(begun, now(), strict=True))
    line("the mode Backward comes", turned)
    line(f"a backward trace of {last + 1} steps arrives", arrived)
    print(f"scrubbing it: {wall:.0f} frames/s, {processor:.0f} a processor second")  # noqa: T201 - the table


@pytest.mark.parametrize("mode", ["blocks", "lanes"])
def test_a_trace_arrives_and_in_lanes_the_one_beside_it(
    qtbot: QtBot, qapp: QApplication, home: Path, mode: str
) -> None:
    window = shown(qtbot, Controller(LocalEngine, home))
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    window.show_page("stepper")
    page.show_mode(mode)
    page.bar.form.seqlen.setValue(512)
    page.bar.form.block_q.setValue(16)
    page.bar.form.block_k.setValue(16)
    page.bar.choose_preset("own")
    blocks = []
    for seed in range(TRIES):
        page.bar.form.seed.setValue(seed)
        heart = Heart()
        with heart.beating():
            page.ask()
            qtbot.waitUntil(lambda n=seed: traced(page) == (n, True), timeout=PATIENCE_MS)  # type: ignore[misc]  # a default binds it
            settle(qtbot, window)
        blocks.append(heart.longest)
    line(f"traces of N = 512 arrive in {mode}", *blocks)
    window.close_unasked()


def traced(page: StepperPage) -> tuple[int, bool]:
    """The seed of the trace on show, and whether nothing is waited for."""
    seed = page.story.recording.problem.seed if page.story is not None else -1
    return seed, "trace is being recorded" not in page.words()


def test_scrubbing_through_a_long_replay(window: MainWindow, qtbot: QtBot, engines: list[FakeEngine]) -> None:
    """504 points in one sweep, 10,000 readings: the handle is dragged to and fro, rows are clicked."""
    plan = make_plan(
        tuple(spec.name for spec in LADDER), tuple(128 * (k + 1) for k in range(504 // len(LADDER)))
    )
    window.show_page("profile")
    window.controller.run(plan)
    engines[0].say(with_readings(script(plan), 10_000))
    qtbot.waitUntil(lambda: not window.controller.running, timeout=PATIENCE_MS)
    settle(qtbot, window)
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    for name in ("telemetry", "results"):
        page.show_view(name)
        begins, scrubs, plays = [], [], []
        for _ in range(TRIES):
            begins.append(beaten(qtbot, window, lambda: begin_paused(window.controller)))
            scrubs.append(beaten(qtbot, window, lambda: scrub(page, qtbot)))
            plays.append(beaten(qtbot, window, lambda: play(window.controller, qtbot)))
        line(f"beginning a replay of 504 points, {name}", *begins)
        line(f"scrubbing through 504 points, {name}", *scrubs)
        line(f"playing 504 points at 50x, {name}", *plays)


def begin_paused(controller: Controller) -> None:
    controller.replay(50.0)
    assert controller.playback is not None
    controller.playback.set_playing(False)


def play(controller: Controller, qtbot: QtBot) -> None:
    assert controller.playback is not None
    controller.playback.set_playing(True)
    qtbot.wait(2000)
    if controller.playback is not None:  # it has come to its end
        controller.playback.set_playing(False)


def beaten(qtbot: QtBot, window: MainWindow, act: Callable[[], object]) -> Block:
    """The longest block while this is done, and drawn."""
    heart = Heart()
    with heart.beating():
        act()
        settle(qtbot, window)
    return heart.longest


def with_readings(events: list[Event], count: int) -> list[Event]:
    """The same events, and so many readings evenly over their time in place of theirs."""
    kept = [event for event in events if not isinstance(event, Readings)]
    (first,) = (event.t_ns for event in kept if isinstance(event, PlanStarted))
    (last,) = (event.t_ns for event in kept if isinstance(event, PlanFinished))
    step = (last - first) // count
    readings = tuple(
        Reading(t_ns=first + k * step, memory_used=1 << 30, utilisation=50.0, power_w=300.0 + k % 50)
        for k in range(count)
    )
    pieces = [Readings(readings=readings[k : k + 100]) for k in range(0, count, 100)]
    return [*kept[:-1], *pieces, kept[-1]]


def scrub(page: ProfilePage, qtbot: QtBot) -> None:
    scrubber = page.replay.scrubber
    for share in (0.9, 0.1, 0.5, 0.3, 1.0, 0.0, 0.7, 0.2):
        scrubber.setValue(round(share * scrubber.maximum()))
        qtbot.wait(60)
    for index in (400, 3, 250):
        page.replay.go_to_point(index)
        qtbot.wait(60)
