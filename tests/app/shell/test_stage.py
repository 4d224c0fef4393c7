"""On a stage: one sentence and one picture, walked by a clicker; nothing there ends what runs."""

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.control.bundled import bundled_sessions
from app.look.zoom import ZOOM, px
from app.pages.ladder import LadderPage
from app.pages.profile import ProfilePage
from app.pages.stepper import StepperPage
from app.pages.traffic import TrafficPage
from app.plots.stepper.panel import Panel
from app.shell.main_window import MainWindow
from app.shell.shots import picture
from app.stage.blanks import fill
from app.stage.scene import Scene
from app.stage.story import BUNDLED_STORIES, Stop, Story, find_story, read_story
from app.words.headline import headline_text
from profiles.results.curves import by_curve
from profiles.results.rows import rows
from profiles.store import load
from profiles.wire.events import PlanFinished, PointFailed, PointStarted, TraceReady
from tests.app.fakes import PLAN, SECOND, plan_started, sweep
from tests.app.shell.conftest import Rig, Save
from tests.app.stepper.builders import build_trace

Key = Qt.Key
READABLE_PX = 24  # 18 pt at 96 dots an inch
LINE_PX = 3
AWAY = "top_bar", "rail", "status", "log"


def press(window: MainWindow, key: Qt.Key) -> None:
    QTest.keyClick(window, key)


def answer(rig: Rig) -> None:
    """Let the engine answer the traces that it was asked for, until nobody waits for one."""
    while rig.engine.traces:
        asked, rig.engine.traces = rig.engine.traces, []
        rig.say([TraceReady(trace=build_trace(request)) for request in asked])


def settle(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    """Wait until the stop is on show."""
    stage = window.stage
    stop = stage.stops[stage.at]
    wanted = stage.story.session_of(stop) if stage.story else None
    qtbot.waitUntil(lambda: stage.stop is stop and (wanted is None or rig.controller.path == wanted))
    answer(rig)
    if isinstance(window.page, LadderPage):
        window.page.chores.wait()
        qtbot.waitUntil(lambda: not window.page.staging.scene.waiting)
    window.appearance.finish()


@pytest.fixture
def story(tmp_path: Path, save: Save) -> Story:
    """Three stops of one session."""
    path = save(sweep(), "swept")
    named = path.with_name("three.toml")
    named.write_text(
        'title = "Three"\n'
        + "".join(
            f'[[stop]]\npage = "profile"\ntitle = "{title}"\nsession = "{path.name}"\nquantity = "{title}"\n'
            f'kernels = ["standard", "flash2"]\nseqlen = 512\nnotes = "About {title}."\n'
            f'sentence = "flash2: {{runtime of flash2}}, {{runtime of flash2 against standard}}, at {{n}}"\n'
            for title in ("footprint", "runtime", "throughput")
        )
    )
    return read_story(named)


@pytest.fixture
def staged(window: MainWindow, rig: Rig, qtbot: QtBot, story: Story) -> MainWindow:
    """A window that presents these."""
    window.activateWindow()
    window.stage.enter(story)
    settle(window, rig, qtbot)
    return window


def profile(window: MainWindow) -> ProfilePage:
    page = window.page
    assert isinstance(page, ProfilePage)
    return page


def shown_plots(window: MainWindow) -> list[str]:
    return [card.quantity.key for card in profile(window).plots.cells if card.isVisible()]


def test_a_stop_shows_its_plot_and_nothing_to_work_with(staged: MainWindow) -> None:
    page = profile(staged)
    assert shown_plots(staged) == ["footprint"]
    assert page.plots.seqlen == 512
    assert page.plots.kernels == ("standard", "flash2")
    assert not any(getattr(staged, part).isVisible() for part in AWAY)
    assert not any(part.isVisible() for part in (page.form, page.bottom, page.plots.panel))
    assert staged.stage.frame.badge == "SAVED · CPU Test CPU · 2026-11-21"
    assert staged.stage.frame.place.text() == "1 / 3"


def test_page_down_and_up_walk_the_stops_and_stay_at_the_ends(
    staged: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    seen = []
    for key in (Key.Key_PageUp, *[Key.Key_PageDown] * 4, Key.Key_PageUp):
        press(staged, key)
        settle(staged, rig, qtbot)
        seen += shown_plots(staged)
    assert seen == ["footprint", "runtime", "throughput", "throughput", "throughput", "runtime"]


def test_a_digit_jumps_to_a_stop_and_one_of_no_stop_does_nothing(staged: MainWindow) -> None:
    press(staged, Key.Key_3)
    assert shown_plots(staged) == ["throughput"]
    press(staged, Key.Key_2)  # at once: there is no stop 32
    assert shown_plots(staged) == ["runtime"]
    press(staged, Key.Key_9)
    assert shown_plots(staged) == ["runtime"]


def test_two_digits_soon_after_one_another_are_one_number(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    window.activateWindow()
    window.stage.enter(read_story(find_story("online-softmax")))
    press(window, Key.Key_1)
    press(window, Key.Key_2)
    settle(window, rig, qtbot)
    assert window.stage.at == 11
    window.stage._forget_digits()
    press(window, Key.Key_0)
    assert window.stage.at == 9


@pytest.mark.parametrize("key", [Key.Key_B, Key.Key_Period])
def test_b_blackens_all_and_the_next_key_opens_the_curtain(staged: MainWindow, key: Qt.Key) -> None:
    press(staged, key)
    assert {picture(staged).toImage().pixelColor(x, 40).name() for x in (20, 300, 590)} == {"#000000"}
    press(staged, Key.Key_PageDown)
    assert staged.stage.curtain.isHidden()
    assert staged.stage.at == 0
    press(staged, key)
    press(staged, key)
    assert staged.stage.curtain.isHidden()


def test_z_lets_the_plot_under_the_focus_fill_the_stage_and_back(
    window: MainWindow, rig: Rig, story: Story
) -> None:
    rig.open(story.path.with_name("swept.flashscope"))
    window.activateWindow()
    press(window, Key.Key_F11)
    assert shown_plots(window) == ["footprint", "runtime"]
    profile(window).plots.cells[1].chooser.setFocus()
    press(window, Key.Key_Z)
    assert shown_plots(window) == ["runtime"]
    press(window, Key.Key_Z)
    assert shown_plots(window) == ["footprint", "runtime"]


def test_zoomed_a_stop_keeps_badge_and_source_but_no_sentence(staged: MainWindow) -> None:
    press(staged, Key.Key_Z)
    assert staged.stage.frame.sentence.isHidden()
    assert staged.stage.frame.foot.isVisible()
    press(staged, Key.Key_Z)
    assert staged.stage.frame.sentence.isVisible()


def test_esc_leaves_the_stage_and_everything_is_as_before(staged: MainWindow) -> None:
    press(staged, Key.Key_Escape)
    staged.appearance.finish()
    page = profile(staged)
    assert all(
        part.isVisible() for part in (staged.top_bar, staged.rail, staged.status, page.form, page.plots.panel)
    )
    assert shown_plots(staged) == ["footprint", "runtime", "speed-up", "throughput"]
    assert staged.stage.frame.foot.isHidden()
    assert pytest.approx(1.0) == ZOOM.factor
    assert not staged.log.isVisible()


def test_esc_on_a_stage_never_cancels(window: MainWindow, rig: Rig) -> None:
    window.activateWindow()
    rig.controller.run(PLAN)
    rig.say(sweep(points=1))
    press(window, Key.Key_F11)
    press(window, Key.Key_Escape)
    assert not window.stage.on
    assert not rig.engine.cancelled
    press(window, Key.Key_Escape)
    assert not rig.engine.cancelled, "the first Esc after the stage only asks"


def test_the_crosshair_moves_the_sentence(staged: MainWindow, rig: Rig) -> None:
    before = staged.stage.frame.sentence.text()
    QTest.keyClick(staged, Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    after = staged.stage.frame.sentence.text()
    assert before.endswith("at 512")
    assert after.endswith("at 1k")
    assert rig.controller.session is not None
    assert after == fill(staged.stage.stops[0].sentence, Scene(rows(rig.controller.session), 1024))


def test_text_can_be_read_from_row_30_and_lines_seen(staged: MainWindow) -> None:
    picture(staged)
    labels = [label for label in staged.findChildren(QLabel) if label.isVisible() and label.text()]
    assert labels
    assert min(label.fontInfo().pixelSize() for label in labels) >= READABLE_PX
    page = profile(staged)
    plot = page.plots.cells[0].plot
    assert min(axis.style["tickFont"].pixelSize() for axis in (plot._x_axis, plot._y_axis)) >= READABLE_PX
    assert min(one.curve.opts["pen"].widthF() for one in plot._curves.values()) >= LINE_PX
    assert px(13) >= READABLE_PX


# A run that fails


def lose(rig: Rig) -> None:
    rig.say([plan_started(), PointStarted(index=0, t_ns=SECOND)])
    reason = "The worker died (signal 9)."
    rig.say([PointFailed(index=0, t_ns=2 * SECOND, status="failed", reason=reason)])


def test_a_run_that_loses_its_worker_falls_back_to_a_recording_with_one_key(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    window.activateWindow()
    window.show_page("profile")
    press(window, Key.Key_F11)
    press(window, Key.Key_R)
    assert rig.controller.session is None, "nothing has failed yet"
    rig.controller.run(PLAN)
    lose(rig)
    frame = window.stage.frame
    assert frame.source.text() == "Press R for the bundled recording. The worker died (signal 9)."
    press(window, Key.Key_R)
    assert rig.engine.cancelled == 1
    with qtbot.waitSignal(rig.controller.session_changed):
        rig.say([PlanFinished(t_ns=3 * SECOND, outcome="cancelled")])
    assert rig.controller.path == bundled_sessions()[0]
    qtbot.waitUntil(lambda: frame.badge == "RUN FAILED · SAVED · GPU NVIDIA H200 · 2026-11-22")
    assert frame.source.text() == "H200 standard and flash2"


def test_the_badge_forgets_a_failed_run_at_the_next_stop(
    staged: MainWindow, rig: Rig, qtbot: QtBot, story: Story
) -> None:
    rig.controller.run(PLAN)
    lose(rig)
    rig.say([PlanFinished(t_ns=3 * SECOND, outcome="failed", reason="No worker starts.")])
    press(staged, Key.Key_R)
    qtbot.waitUntil(lambda: staged.stage.fallback.standing_in)
    assert rig.controller.path == story.session_of(story.stops[0]), "a stop falls back to its own recording"
    assert staged.stage.frame.badge.startswith("RUN FAILED")
    press(staged, Key.Key_PageDown)
    settle(staged, rig, qtbot)
    assert not staged.stage.frame.badge.startswith("RUN FAILED")


def test_what_does_not_fit_is_no_failure_of_a_run(window: MainWindow, rig: Rig) -> None:
    window.activateWindow()
    press(window, Key.Key_F11)
    rig.controller.run(PLAN)
    rig.say([plan_started(), PointFailed(index=0, t_ns=SECOND, status="will-not-fit", reason="Too large.")])
    assert not window.stage.fallback.reason


# Bundled stories


@pytest.mark.parametrize("name", BUNDLED_STORIES)
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
        assert sentence == expected(window, stop)
        assert not any(word in sentence for word in ("{", "has no", "was not measured", "being computed"))
        if isinstance(window.page, StepperPage):
            assert window.page.position is not None
            assert window.page.position.at == stop.step


def expected(window: MainWindow, stop: Stop) -> str:
    """The sentence, worked out from the file, or from the numbers of the step."""
    story = window.stage.story
    path = story.session_of(stop) if story else None
    if path is None:
        return fill(stop.sentence, window.page.staging.scene)
    curves = by_curve(rows(load(path)))
    curve = next((c for c in curves if c.label == stop.curve), next(iter(curves)))
    kernel = stop.kernels[-1] if stop.kernels else ""
    return fill(stop.sentence, Scene(curves[curve], stop.seqlen, kernel, stop.baseline))


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
    press(window, Key.Key_Right)
    assert window.stage.frame.sentence.text() == fill(window.stage.stops[8].sentence, page.staging.scene)
    window.stage.leave()
    assert all(panel.isVisibleTo(page.board) for panel in page.board.panels)


# Notes, and stops of one's own


def test_n_opens_the_speakers_notes_which_walk_the_stops_too(staged: MainWindow) -> None:
    press(staged, Key.Key_N)
    notes = staged.presenting.notes
    assert notes is not None
    told = notes.title.text(), notes.notes.toPlainText(), notes.next.text()
    assert told == ("1. footprint", "About footprint.", "Next: runtime")
    notes.activateWindow()
    press_in(notes, Key.Key_PageDown)
    press_in(notes, Key.Key_PageDown)
    assert staged.stage.at == 2
    assert notes.next.text() == "The end"
    staged.activateWindow()
    press(staged, Key.Key_Escape)
    assert staged.presenting.notes is None


def press_in(window: QWidget, key: Qt.Key) -> None:
    QTest.keyClick(window, key)


def test_what_is_on_show_can_be_added_as_a_stop_and_is_shown_by_it(
    staged: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    press(staged, Key.Key_Escape)
    target = tmp_path / "home" / "mine"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(target), ""))
    add = staged.registry.find("stage.add")
    assert add is not None
    add.trigger()
    added = read_story(target.with_suffix(".toml"))
    stop = added.stops[0]
    assert (stop.page, stop.quantity, stop.seqlen) == ("profile", ("footprint", "runtime"), 512)
    assert added.session_of(stop) is not None
    assert staged.errors.text == "Stop 1 of mine.toml: write its title and notes there."
    staged.stage.enter(added)
    qtbot.waitUntil(lambda: staged.stage.stop is stop)
    assert "flash2 takes" in staged.stage.frame.sentence.text()


def test_a_story_that_cannot_be_read_is_told_and_nothing_is_presented(
    window: MainWindow,
) -> None:
    window.presenting.present("gone.toml")
    assert not window.stage.on
    assert "gone.toml" in window.errors.text


def test_no_two_actions_share_a_key_on_a_stage(staged: MainWindow) -> None:
    for page in ("profile", "stepper", "compare", "planner", "roofline"):
        staged.show_page(page)
        taken: dict[str, str] = {}
        for action in staged.registry:
            qaction = staged.registry.find(action.key)
            assert qaction is not None
            for keys in qaction.shortcuts() if qaction.isEnabled() else []:
                assert keys.toString() not in taken, (
                    f"{keys.toString()} is {taken[keys.toString()]} and {action.key}"
                )
                taken[keys.toString()] = action.key


def test_off_the_stage_its_keys_mean_what_they_did(staged: MainWindow) -> None:
    press(staged, Key.Key_Escape)
    staged.show_page("stepper")
    forward = staged.registry.find("stepper.forward")
    assert forward is not None
    assert [keys.toString() for keys in forward.shortcuts()] == ["Right", "PgDown"]


def test_a_closed_window_leaves_nothing_of_a_stage(rig: Rig, qtbot: QtBot, story: Story) -> None:
    window = rig.window()
    window.stage.enter(story)
    settle(window, rig, qtbot)
    window.close_unasked()
    assert window.settings.geometry is None, "how large it was on the stage is not how large it is to be"
    assert isinstance(window.stage, QObject)


def test_without_a_story_the_stage_says_the_headline(window: MainWindow, rig: Rig, save: Save) -> None:
    rig.open(save(sweep(), "swept"))
    window.activateWindow()
    press(window, Key.Key_F11)
    said = window.stage.frame.sentence.text()
    assert said.startswith(headline_text(profile(window).plots.headline()))
    assert "flash2" in said
    assert not profile(window).headline.isVisible()
