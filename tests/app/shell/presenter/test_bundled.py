"""The bundled stories on a stage, stop by stop."""

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.timeline.stops import timelines_of
from flashscope.app.pages.traffic import TrafficPage
from flashscope.app.plots.stepper.panel import Panel
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.presenter.checks.scenes import scene_at
from flashscope.app.stage.blanks import fill
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import BUNDLED_STORIES, Stop, find_story, read_story
from flashscope.app.stepper.recorded import newest_trace
from flashscope.app.words.plain import unbroken
from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.store import load
from tests.app.rig import Rig
from tests.app.shell.presenter.conftest import Key, press, settle
from tests.app.stepper.builders import slide_trace
from tests.matrix import chosen


@pytest.mark.matrix
def test_two_digits_soon_after_one_another_are_one_number(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    window.activateWindow()
    window.stage.enter(read_story(find_story("online-softmax")))
    press(window, Key.Key_1)
    press(window, Key.Key_2)
    settle(window, rig, qtbot)
    assert window.stage.at == 11
    window.stage._pause.timeout.emit()
    press(window, Key.Key_0)
    assert window.stage.at == 9


@pytest.mark.matrix  # it takes a second
@chosen("name", BUNDLED_STORIES, [*BUNDLED_STORIES][:1])
def test_every_stop_of_a_bundled_story_shows_its_page_its_session_and_its_figures(
    window: MainWindow, rig: Rig, qtbot: QtBot, name: str
) -> None:
    window.activateWindow()
    window.stage.enter(read_story(find_story(name)))
    for number, stop in enumerate(window.stage.stops):
        if number:
            press(window, Key.Key_PageDown)
        settle(window, rig, qtbot)
        assert window.page.key == stop.page
        sentence = window.stage.frame.sentence.text()
        assert window.stage.frame.sentence.isVisible()
        assert sentence == unbroken(expected(window, stop))
        assert not any(word in sentence for word in ("{", "has no", "was not measured", "being computed"))
        if isinstance(window.page, StepperPage):
            assert window.page.position is not None
            assert window.page.position.at == stop.step


def expected(window: MainWindow, stop: Stop) -> str:
    """The sentence, worked out from the file, or from the numbers of the step."""
    story = window.stage.story
    path = story.session_of(stop) if story else None
    if not stop.sentence:
        return window.staging.sentence
    if path is not None and stop.page in {"stepper", "timeline", "roofline"}:
        return fill(stop.sentence, scene_at(stop, load(path)))
    if path is None:
        return fill(stop.sentence, window.page.staging.scene)
    curves = by_curve(rows(load(path)))
    curve = next((c for c in curves if c.label == stop.curve), next(iter(curves)))
    kernel = stop.kernels[-1] if stop.kernels else ""
    return fill(stop.sentence, Scene(curves[curve], stop.seqlen, kernel, stop.baseline))


@pytest.mark.matrix
def test_a_stop_of_the_stepper_without_a_preset_walks_the_newest_trace_of_its_kernel_and_n(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    rig.open(BUNDLED / "h100-trace.flashscope")
    window.show_page("stepper")
    page = window.page
    assert isinstance(page, StepperPage)
    page.show_trace(slide_trace())
    story = read_story(find_story("inside-flash3"))
    window.stage.enter(story)
    window.stage.go(next(at for at, stop in enumerate(story.stops) if stop.page == "stepper"))
    settle(window, rig, qtbot)
    assert page.story is not None
    request = page.story.recording.trace.request
    assert (request.kernel, request.problem.seqlen_q, request.problem.causal) == ("flash3", 384, True)
    traces = load(BUNDLED / "h200-inside.flashscope").traces
    (tiled,) = (one for one in traces if one.request.kernel == "flash2")
    assert newest_trace(traces, ("flash1", "flash2"), None) == tiled
    assert newest_trace(traces, (), None) == traces[-1]
    assert newest_trace(traces, ("flash2",), 512) is None


def test_what_inside_flash3_says_of_recordings_is_so() -> None:
    """Its sentences name what is walked: a rise that is not taken, and a mask without a window."""
    story = read_story(find_story("inside-flash3"))
    session, trace = (load(BUNDLED / f"{name}.flashscope") for name in ("h200-inside", "h100-trace"))
    walk, lazy = (scene_at(stop, trace).numbers for stop in story.stops if stop.page == "stepper")
    assert walk["m-before"] == "−∞"
    assert lazy["m-before"] == lazy["m"] < lazy["m-tile"]
    assert lazy["alpha"] == "1.000"
    last = [stop for stop in story.stops if stop.page == "timeline"][-1]
    (shown,) = timelines_of(session.timelines, last.kernels, last.seqlen)
    assert shown.request.problem.causal
    assert shown.request.problem.window is None


@pytest.mark.matrix
def test_a_stop_of_traffic_shows_the_curves_of_its_kernels_alone(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    window.stage.enter(read_story(find_story("why-tiling-wins")))
    window.stage.go(3)
    settle(window, rig, qtbot)
    page = window.page
    assert isinstance(page, TrafficPage)
    assert list(page.cards) == ["standard", "flash2"]
    window.resize(1280, 720)
    qtbot.waitUntil(lambda: page.height() <= window._frames["traffic"].viewport().height())
    window.stage.leave()
    assert len(page.cards) > 2


def test_a_step_on_stage_shows_the_panels_of_its_stop(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    window.stage.enter(read_story(find_story("online-softmax")))
    window.stage.go(8)
    settle(window, rig, qtbot)
    page = window.page
    assert isinstance(page, StepperPage)
    seen = [panel for panel in page.findChildren(Panel) if panel.isVisible()]
    assert seen == [page.board.formulas, page.board.charts[0]]
    assert not page.bar.isVisible()
    assert not page.transport.isVisible()
    window.trigger("stepper.forward")
    said = unbroken(fill(window.stage.stops[8].sentence, page.staging.scene))
    assert window.stage.frame.sentence.text() == said
    window.stage.leave()
    assert all(panel.isVisibleTo(page.board) for panel in page.board.panels)
