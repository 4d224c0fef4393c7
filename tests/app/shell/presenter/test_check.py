"""Before a talk everything is green, or said to be wrong with what to do."""

from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from pytestqt.qtbot import QtBot

from flashscope.app.commands import present
from flashscope.app.control.bundled import BUNDLED
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.presenter.check_dialog import ALL_RIGHT, CheckDialog
from flashscope.app.shell.presenter.checks import of_venue
from flashscope.app.shell.presenter.checks.of_story import story_findings
from flashscope.app.shell.presenter.checks.of_venue import awake_finding, idle_finding, letters_finding
from flashscope.app.shell.presenter.checks.scenes import scene_at
from flashscope.app.stage.blanks import fill
from flashscope.app.stage.story import BUNDLED_STORIES, Story, find_story, read_story
from flashscope.app.words.plain import unbroken
from flashscope.profiles.plan.machine import ProbeFinding
from flashscope.profiles.store import load
from flashscope.profiles.wire.events import Reading
from tests.app.fakes import CPU_MACHINE, GPU_MACHINE
from tests.app.rig import Rig
from tests.app.shell.presenter.conftest import Key, press, settle

RIGHT = [ProbeFinding(name="Screen", ok=True, detail="large enough")]
WRONG = [ProbeFinding(name="Screen", ok=False, detail="too small", remedy="Take another.")]
RUN = 'run = "--kernels flash2 --backend cuda"\nfallback = "h200-peers"\n'


def story(folder: Path, *stops: str) -> Story:
    path = folder / "talk.toml"
    path.write_text('title = "Talk"\n' + "".join(f"[[stop]]\n{stop}\n" for stop in stops))
    return read_story(path)


def wrong(found: list[ProbeFinding]) -> list[tuple[str, str]]:
    """What is not right, each with a remedy."""
    assert all(one.remedy for one in found if not one.ok)
    return [(one.name, one.detail) for one in found if not one.ok]


@pytest.mark.parametrize("name", BUNDLED_STORIES)
def test_of_a_bundled_story_nothing_is_wrong(name: str) -> None:
    assert wrong(story_findings(read_story(find_story(name)), CPU_MACHINE)) == []


@pytest.mark.matrix
def test_what_is_checked_is_what_the_stage_says(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    window.activateWindow()
    window.stage.enter(read_story(find_story("why-tiling-wins")))
    for number, stop in enumerate(window.stage.stops):
        if number:
            press(window, Key.Key_Space)
        settle(window, rig, qtbot)
        if not stop.sentence:
            continue  # the view says its own
        scene = scene_at(stop, load(BUNDLED / f"{stop.session}.flashscope"))
        assert window.stage.frame.sentence.text() == unbroken(fill(stop.sentence, scene))


def test_a_file_that_is_damaged_and_what_hangs_on_it_are_named(tmp_path: Path) -> None:
    (tmp_path / "broken.flashscope").write_bytes(b"no session")
    stop = 'page = "profile"\nsession = "broken.flashscope"\nsentence = "{runtime of flash2}"'
    files, sentences = wrong(story_findings(story(tmp_path, stop), CPU_MACHINE))
    assert files[0] == "Files"
    assert files[1].startswith("broken.flashscope: ")
    assert sentences == ("Sentences", "stop 1: No session is on show.")


def test_a_blank_that_nothing_fills_is_named_with_its_stop(tmp_path: Path) -> None:
    right = 'page = "profile"\nsession = "h200-peers"\nsentence = "{runtime of flash2}"'
    left = 'page = "profile"\nsentence = "{runtime of flash9}"'
    assert wrong(story_findings(story(tmp_path, right, left), CPU_MACHINE)) == [
        ("Sentences", "stop 2: flash9 was not measured at N = 16k.")
    ]


def test_marked_lines_that_no_source_has_are_named(tmp_path: Path) -> None:
    stops = (f'page = "ladder"\nkernels = "flash3-b"\nmarked = "{text}"' for text in ("__global__", "xyzzy"))
    assert wrong(story_findings(story(tmp_path, *stops), CPU_MACHINE)) == [
        ("Marked lines", "stop 2: no line holds xyzzy")
    ]


@pytest.mark.matrix
def test_of_a_stop_that_runs_the_device_is_told_or_that_its_recording_is_shown(tmp_path: Path) -> None:
    talk = story(tmp_path, f'page = "profile"\n{RUN}')
    found = story_findings(talk, GPU_MACHINE)
    assert wrong(found) == []
    assert found[-1].detail.endswith("else the recording h200-peers")
    ((name, detail),) = wrong(story_findings(talk, CPU_MACHINE))
    assert (name, detail.startswith("stop 1: no usable GPU here")) == ("Runs", True)
    assert wrong(story_findings(talk, None))[0][0] == "Runs"


@pytest.mark.parametrize(
    ("busy", "backend", "right"), [(0, "cuda", True), (60, "cuda", False), (30, "cpu", True)]
)
def test_a_device_that_others_keep_busy_is_told(busy: float, backend: str, *, right: bool) -> None:
    readings = [Reading(t_ns=t, utilisation=float(busy)) for t in range(3)]
    assert idle_finding(readings, sweeps=False, backend="cuda" if backend == "cuda" else "cpu").ok is right
    assert not idle_finding(readings, sweeps=True, backend="cpu").ok


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (3840, 2160)])
def test_letters_are_large_enough_on_every_screen_that_is(size: tuple[int, int]) -> None:
    assert letters_finding(QSize(*size)).ok


def test_a_display_that_may_go_dark_is_told_with_the_reason() -> None:
    assert awake_finding("").ok
    assert awake_finding("there is no session bus").detail == "may go dark: there is no session bus"


def test_the_screen_of_these_tests_is_too_small(qtbot: QtBot) -> None:
    first = of_venue.screen_findings()[0]
    assert (first.name, first.ok, first.detail.startswith("800 × 800")) == ("Screen", False, True)


@pytest.mark.matrix
def test_the_menu_lists_what_was_found_and_looks_again_on_demand(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flashscope.app.shell.presenter.check_dialog.screen_findings", lambda: WRONG)
    window.presenting.check("online-softmax")
    dialog = window.findChild(CheckDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.summary.text() == "1 to look at.")
    assert wrong([*dialog.findings]) == [("Screen", "too small")]
    monkeypatch.setattr("flashscope.app.shell.presenter.check_dialog.screen_findings", lambda: RIGHT)
    dialog.again.click()
    qtbot.waitUntil(lambda: dialog.summary.text() == ALL_RIGHT)
    dialog.close()
    window.presenting.check("no-story")
    assert window.errors.text.startswith("Nothing was checked: there is no story 'no-story'")


@pytest.mark.parametrize(
    ("found", "code", "said"), [(RIGHT, 0, "ok       Screen"), (WRONG, 1, "look     Screen")]
)
def test_the_command_ends_with_0_when_all_is_right_and_else_with_1(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    found: list[ProbeFinding],
    code: int,
    said: str,
) -> None:
    monkeypatch.setattr(present, "find_machine", lambda *_: CPU_MACHINE)
    monkeypatch.setattr(present, "_watch", lambda *_: [])
    monkeypatch.setattr(present, "_findings", lambda *_: found)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert present.run("online-softmax", check=True) == code
    assert capsys.readouterr().out.startswith("ok       Screen" if code == 0 else "look     Screen")
