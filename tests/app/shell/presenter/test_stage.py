"""On a stage: one sentence and one picture, walked by a clicker; nothing there ends what runs."""

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from flashscope.app.look.zoom import ZOOM, px
from flashscope.app.pages.ladder import LadderPage
from flashscope.app.pages.registry import VIEWS, title_of
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.presenter.actions import STAGED
from flashscope.app.shell.shots import grab_whole
from flashscope.app.stage.blanks import fill
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Story, read_story
from flashscope.app.words.plain import unbroken
from flashscope.app.words.results.headline import headline_text
from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import rows
from tests.app.fakes import PLAN, sweep
from tests.app.rig import Rig, Save
from tests.app.shell.presenter.conftest import Key, press, profile, settle, shown_plots
from tests.matrix import chosen

EMPTY = "compare", "ranks", "traffic"  # which show nothing without sessions
READABLE_PX = 24  # 18 pt at 96 dots an inch

LINE_PX = 3

AWAY = "top_bar", "rail", "status", "log"


@pytest.mark.matrix
def test_a_stop_shows_its_plot_and_nothing_to_work_with(staged: MainWindow) -> None:
    page = profile(staged)
    assert shown_plots(staged) == ["footprint"]
    assert page.plots.seqlen == 512
    assert page.plots.kernels == ("standard", "flash2")
    assert not any(getattr(staged, part).isVisible() for part in AWAY)
    assert not any(part.isVisible() for part in (page.form, page.bottom, page.plots.panel))
    assert staged.stage.frame.badge == "SAVED · CPU Test CPU · 2026-11-21"
    assert staged.stage.frame.place.text() == "1 / 3"


@pytest.mark.matrix
def test_page_down_and_up_walk_the_stops_and_stay_at_the_ends(
    staged: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    seen = []
    for key in (Key.Key_PageUp, *[Key.Key_PageDown] * 4, Key.Key_PageUp):
        press(staged, key)
        settle(staged, rig, qtbot)
        seen += shown_plots(staged)
    assert seen == ["footprint", "runtime", "throughput", "throughput", "throughput", "runtime"]


@pytest.mark.matrix  # it takes a second
def test_right_space_and_return_go_on_and_left_and_backspace_back(
    staged: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    seen = []
    for key in (Key.Key_Space, Key.Key_Right, Key.Key_Left, Key.Key_Return, Key.Key_Backspace):
        press(staged, key)
        settle(staged, rig, qtbot)
        seen += shown_plots(staged)
    assert seen == ["runtime", "throughput", "runtime", "throughput", "runtime"]


@pytest.mark.matrix
def test_the_pointer_moves_nothing_before_c_lets_it(staged: MainWindow) -> None:
    plots = profile(staged).plots
    sentence = staged.stage.frame.sentence.text()
    plots.cells[0].plot.hovered.emit(1024)
    assert plots.seqlen == 512
    assert staged.stage.frame.sentence.text() == sentence
    press(staged, Key.Key_C)
    plots.cells[0].plot.hovered.emit(1024)
    assert plots.seqlen == 1024
    press(staged, Key.Key_Escape)
    staged.show_page("profile")
    plots.cells[0].plot.hovered.emit(512)
    assert plots.seqlen == 512


@pytest.mark.matrix  # it takes a second
@chosen("view", sorted(set(STAGED) - set(EMPTY)), {"stepper"})
def test_f11_presents_the_view_in_front(shared_window: MainWindow, qtbot: QtBot, view: str) -> None:
    window = shared_window
    window.show_page(view)
    window.trigger("stage")
    assert window.stage.on
    assert window.stage.stop is not None
    assert (window.stage.stop.page, window.view) == (view, view)
    window.trigger("stage")
    assert (window.stage.on, window.view) == (False, view)


@pytest.mark.parametrize("view", EMPTY)
def test_f11_in_a_view_that_shows_nothing_says_so(window: MainWindow, view: str) -> None:
    window.show_page(view)
    window.trigger("stage")
    assert not window.stage.on
    assert window.errors.text.startswith("There is nothing to present: ")


@pytest.mark.matrix
@chosen("view", sorted(set(VIEWS) - set(STAGED)), {"sessions"})
def test_f11_in_a_view_without_a_form_for_a_stage_says_so(window: MainWindow, view: str) -> None:
    window.show_page(view)
    window.trigger("stage")
    assert not window.stage.on
    assert window.errors.text.startswith(f"{title_of(view)} has no form for a stage")
    window.show_page("profile")
    assert not window.errors.isVisible(), "it is still told of a view that is no longer in front"
    window.errors.show_error("something else")
    window.show_page(view)
    assert window.errors.isVisible()


@pytest.mark.matrix
def test_a_digit_jumps_to_a_stop_and_one_of_no_stop_does_nothing(staged: MainWindow) -> None:
    press(staged, Key.Key_3)
    assert shown_plots(staged) == ["throughput"]
    press(staged, Key.Key_2)  # at once: there is no stop 32
    assert shown_plots(staged) == ["runtime"]
    press(staged, Key.Key_9)
    assert shown_plots(staged) == ["runtime"]


@pytest.mark.matrix
@pytest.mark.parametrize("key", [Key.Key_B, Key.Key_Period])
def test_b_blackens_all_and_the_next_key_opens_the_curtain(staged: MainWindow, key: Qt.Key) -> None:
    press(staged, key)
    assert {grab_whole(staged).toImage().pixelColor(x, 40).name() for x in (20, 300, 590)} == {"#000000"}
    press(staged, Key.Key_PageDown)
    assert staged.stage.curtain.isHidden()
    assert staged.stage.at == 0
    press(staged, key)
    press(staged, key)
    assert staged.stage.curtain.isHidden()


@pytest.mark.matrix
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


@pytest.mark.matrix
def test_zoomed_a_stop_keeps_badge_and_source_and_names_the_problem_but_has_no_sentence(
    staged: MainWindow,
) -> None:
    frame = staged.stage.frame
    source = frame.source.text()
    press(staged, Key.Key_Z)
    assert frame.sentence.isHidden()
    assert frame.foot.isVisible()
    (curve,) = by_curve(profile(staged).plots.rows)
    assert frame.source.text() == f"{source} · {curve.whole_label}"
    press(staged, Key.Key_Z)
    assert frame.sentence.isVisible()
    assert frame.source.text() == source


@pytest.mark.matrix
def test_esc_leaves_the_stage_and_everything_is_as_before(staged: MainWindow, qtbot: QtBot) -> None:
    press(staged, Key.Key_Escape)
    staged.appearance.finish()
    assert staged.view == "start"
    staged.show_page("profile")
    page = profile(staged)
    assert all(
        part.isVisible()
        for part in (staged.top_bar, staged.rail, staged.status, staged.tabs, page.plots.panel)
    )
    qtbot.waitUntil(
        lambda: shown_plots(staged) == ["footprint", "runtime"]
    )  # a small window has room for these
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


@pytest.mark.matrix
def test_the_crosshair_moves_the_sentence(staged: MainWindow, rig: Rig) -> None:
    before = staged.stage.frame.sentence.text()
    QTest.keyClick(staged, Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    after = staged.stage.frame.sentence.text()
    assert before.endswith("at 512")
    assert after.endswith("at 1k")
    assert rig.controller.session is not None
    scene = Scene(rows(rig.controller.session), 1024)
    assert after == unbroken(fill(staged.stage.stops[0].sentence, scene))


@pytest.mark.matrix
def test_text_can_be_read_from_row_30_and_lines_seen(staged: MainWindow) -> None:
    grab_whole(staged)
    labels = [label for label in staged.findChildren(QLabel) if label.isVisible() and label.text()]
    assert labels
    assert min(label.fontInfo().pixelSize() for label in labels) >= READABLE_PX
    page = profile(staged)
    plot = page.plots.cells[0].plot
    assert min(axis.style["tickFont"].pixelSize() for axis in (plot._x_axis, plot._y_axis)) >= READABLE_PX
    assert min(one.curve.opts["pen"].widthF() for one in plot._curves.values()) >= LINE_PX
    assert px(13) >= READABLE_PX


@pytest.mark.matrix
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


@pytest.mark.matrix
def test_off_the_stage_its_keys_mean_what_they_did(staged: MainWindow) -> None:
    press(staged, Key.Key_Escape)
    staged.show_page("stepper")
    forward = staged.registry.find("stepper.forward")
    assert forward is not None
    assert [keys.toString() for keys in forward.shortcuts()] == ["Right", "PgDown"]


@pytest.mark.matrix
def test_a_closed_window_leaves_nothing_of_a_stage(rig: Rig, qtbot: QtBot, story: Story) -> None:
    window = rig.window()
    window.stage.enter(story)
    settle(window, rig, qtbot)
    window.close_unasked()
    assert window.settings.geometry is None, "how large it was on the stage is not how large it is to be"
    assert isinstance(window.stage, QObject)


@pytest.mark.matrix
def test_without_a_story_the_stage_says_the_headline(window: MainWindow, rig: Rig, save: Save) -> None:
    rig.open(save(sweep(), "swept"))
    window.activateWindow()
    press(window, Key.Key_F11)
    said = window.stage.frame.sentence.text()
    assert said.startswith(unbroken(headline_text(profile(window).plots.headline())))
    assert "flash2" in said
    assert not profile(window).headline.isVisible()


@pytest.mark.matrix
def test_a_stop_shows_the_problems_that_it_names_whatever_the_view_before_it_showed(
    window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "problems.toml"
    path.write_text(
        'title = "Problems"\n[[stop]]\npage = "profile"\nsession = "h200-peers"\ncurve = "d 128, causal"\n'
        '[[stop]]\npage = "ladder"\ncurve = "d 64, causal"\nkernels = ["flash3-c", "flash3"]\n'
    )
    window.stage.enter(read_story(path))
    settle(window, rig, qtbot)
    window.stage.step(1)
    settle(window, rig, qtbot)
    assert isinstance(window.page, LadderPage)
    assert window.page.label == "d 64, causal"


@pytest.mark.matrix
def test_what_leads_to_a_stage_stands_before_what_only_a_stage_has(shared_window: MainWindow) -> None:
    keys = [action.key for action in shared_window.registry.groups()["Present"]]
    able = [key for key in keys if (found := shared_window.registry.find(key)) and found.isEnabled()]
    assert {"stage", "story.new", "stage.add"} <= set(able)
    assert keys[: len(able)] == able
