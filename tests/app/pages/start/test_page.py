"""The start page: every recording that comes with the program, and recents by the names given to them."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED, NAMES, bundled_sessions, inside_recording, told_sessions
from flashscope.app.control.settings import Settings
from flashscope.app.pages.start.sessions import RecentRow, RecordingCard
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.buttons import ElidedLink
from flashscope.installation import install_command
from flashscope.profiles.store import change, copy_session
from flashscope.profiles.worker.probing.fitting import no_gpu_found
from tests.app.fakes import CPU_MACHINE, sweep
from tests.app.rig import Rig, Save, start_page


@pytest.mark.matrix
def test_each_recording_that_comes_with_the_program_can_be_opened(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    assert {path.name for path in bundled_sessions()} == {path.name for path in BUNDLED.iterdir()}
    for path in told_sessions():
        window.show_page("start")
        buttons = start_page(window).findChildren(QPushButton)
        button = next(
            one for one in buttons if one.accessibleName() == f"Open the recording {NAMES[path.stem]}"
        )
        rig.opening(button.click)
        assert rig.controller.path == path


def test_a_name_without_room_is_broken_between_its_words_and_whole(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("start")
    links = start_page(window).findChildren(ElidedLink)
    for width in (1280, 2560):
        window.resize(width, 800)
        qtbot.waitUntil(lambda: ("\n" in links[0].text()) is (width == 1280))  # noqa: B023 - waited for here
        for link, name in zip(links, (NAMES[path.stem] for path in told_sessions()), strict=True):
            assert link.text().split() == name.split()
            assert not link.toolTip()
            assert link.height() >= link.sizeHint().height()


def test_a_word_without_room_ends_in_an_ellipsis_and_the_tip_has_all_of_it(qtbot: QtBot) -> None:
    link = ElidedLink("a worldwide-known-recording of it", "Open it", lambda: None)
    qtbot.addWidget(link)
    link.resize(90, 60)
    link.show()
    assert link.text().startswith("a\nworld")
    assert link.text().endswith("…")
    assert link.toolTip() == "a worldwide-known-recording of it"


@pytest.mark.matrix  # it takes seconds
@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_what_is_told_of_a_recording_is_shortened_by_whole_words(
    window: MainWindow, qtbot: QtBot, size: tuple[int, int]
) -> None:
    window.show_page("start")
    window.resize(*size)
    cards = start_page(window).findChildren(RecordingCard)
    qtbot.waitUntil(lambda: all(card.facts.text() for card in cards))
    QApplication.processEvents()
    assert [QLabel.text(card.facts) for card in cards if "…" in QLabel.text(card.facts)] == []


@pytest.mark.matrix
def test_all_of_it_is_in_sight_on_a_small_screen(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1280, 720)
    cards = start_page(window).findChildren(RecordingCard)
    qtbot.waitUntil(lambda: all(card.sentence.text() for card in cards))
    QApplication.processEvents()
    assert window._frames["start"].verticalScrollBar().maximum() == 0


@pytest.mark.matrix
def test_recents_show_the_names_that_were_given(
    window: MainWindow, rig: Rig, save: Save, qtbot: QtBot
) -> None:
    named, plain = save(sweep(), "one"), save(sweep(), "two")
    change(named, "name", "before & after\nthe fan")
    for path in (named, plain):
        rig.open(path)
    window.show_page("start")
    qtbot.waitUntil(lambda: recents(window) == ["two", "before && after the fan"])
    assert Settings().recent_name(named) == "before & after\nthe fan"


def test_sweeps_of_the_command_line_are_listed_unopened(rig: Rig, save: Save, qtbot: QtBot) -> None:
    save(sweep(), "swept")
    window = rig.window()
    qtbot.waitUntil(lambda: recents(window) == ["swept"])


@pytest.mark.matrix
def test_a_sweep_that_ends_elsewhere_comes_to_the_page_on_show(
    window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    save(sweep(), "one")
    window.show_page("start")
    qtbot.waitUntil(lambda: recents(window) == ["one"])
    save(sweep(), "two")
    qtbot.waitUntil(lambda: recents(window) == ["two", "one"])


@pytest.mark.matrix
def test_the_file_recorded_or_opened_last_stands_first_and_each_stands_once(
    window: MainWindow, rig: Rig, save: Save, qtbot: QtBot, tmp_path: Path
) -> None:
    first, second, elsewhere = save(sweep(), "first"), save(sweep(), "second"), tmp_path / "away.flashscope"
    copy_session(first, elsewhere)
    for path in (elsewhere, first):
        rig.open(path)
    window.show_page("start")
    qtbot.waitUntil(lambda: recents(window) == ["first", "away", "second"])
    os.utime(second)
    window.show_page("start")
    qtbot.waitUntil(lambda: recents(window) == ["second", "first", "away"])


def recents(window: MainWindow) -> list[str]:
    buttons = start_page(window)._recents.findChildren(QPushButton)
    return [button.text() for button in buttons if button.property("role") == "link"]


def test_each_recording_shows_its_curves_and_what_they_say(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("start")
    cards = start_page(window).findChildren(RecordingCard)
    assert len(cards) == len(told_sessions()) < len(bundled_sessions())
    qtbot.waitUntil(lambda: all(card.sentence.text() for card in cards), timeout=30_000)
    assert cards[0].sentence.text().replace("\u00a0", " ") == (
        "flash2 is 2.6× faster than standard and takes 255× less memory at N = 32k; "
        "standard will not fit at 64k."
    )
    assert cards[0].thumbnail.accessibleName() == "Runtime over N of standard, flash2"


@pytest.mark.matrix
def test_a_recent_session_tells_its_device_kernels_lengths_and_best_ratio(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    rig.open(bundled_sessions()[0])
    window.show_page("start")
    told = "NVIDIA H200 · standard, flash2 · N 512 to 64k · flash2: 2.6× faster at 32k"
    qtbot.waitUntil(lambda: told in facts(window), timeout=30_000)


def facts(window: MainWindow) -> list[str]:
    return [row.facts.text() for row in start_page(window).findChildren(RecentRow)]


def test_a_cupy_too_new_for_the_driver_is_told_with_the_line_that_replaces_it(rig: Rig, qtbot: QtBot) -> None:
    packages = {"cupy-cuda13x": "14.2.0"}
    finding = no_gpu_found(RuntimeError("cudaErrorInsufficientDriver"), "570.124.06", packages)
    rig.engine.machine = replace(CPU_MACHINE, findings=(finding,))
    page = start_page(rig.window())
    mending = install_command("cuda12", instead_of="cupy-cuda13x")
    qtbot.waitUntil(
        lambda: any(one.text() == mending and one.isVisible() for one in page.findChildren(QLabel))
    )
    (line,) = (one for one in page.findChildren(QLabel) if one.text() == mending)
    assert line.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


@pytest.mark.matrix
def test_a_button_leads_to_the_traffic_of_a_recording(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    window.show_page("start")
    card = start_page(window)
    button = next(one for one in card.findChildren(QPushButton) if one.text() == "Traffic")
    rig.opening(button.click)
    assert rig.controller.path == bundled_sessions()[2]
    qtbot.waitUntil(lambda: window.view == "traffic")


def test_a_button_leads_to_flash3_as_an_h100_ran_it(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    window.show_page("start")
    card = start_page(window)
    button = next(one for one in card.findChildren(QPushButton) if one.text() == "flash3")
    rig.opening(button.click)
    assert rig.controller.path == inside_recording()
    qtbot.waitUntil(lambda: window.view == "stepper")
    page = window.page
    assert isinstance(page, StepperPage)
    qtbot.waitUntil(lambda: page.story is not None)
    assert page.story is not None
    assert page.story.recording.trace.request.kernel == "flash3"
