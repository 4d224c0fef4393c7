"""The start page: every recording that comes with the program, and recents by the names given to them."""

import os
from pathlib import Path

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.control.bundled import BUNDLED, NAMES, bundled_sessions
from app.control.settings import Settings
from app.pages.start_sessions import RecentRow, RecordingCard
from app.shell.main_window import MainWindow
from app.widgets.buttons import ElidedLink
from profiles.store import change, copy_session
from tests.app.fakes import sweep
from tests.app.shell.conftest import Rig, Save


def test_each_recording_that_comes_with_the_program_can_be_opened(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    assert {path.name for path in bundled_sessions()} == {path.name for path in BUNDLED.iterdir()}
    for path in bundled_sessions():
        window.show_page("start")
        buttons = window.start_page.findChildren(QPushButton)
        button = next(
            one for one in buttons if one.accessibleName() == f"Open the recording {NAMES[path.stem]}"
        )
        rig.opening(button.click)
        assert rig.controller.path == path


def test_a_name_without_room_ends_in_an_ellipsis_and_its_tip_has_all_of_it(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.show_page("start")
    links = window.start_page.findChildren(ElidedLink)
    for width in (1280, 2560):
        window.resize(width, 800)
        qtbot.waitUntil(lambda: links[0].text().endswith("…") is (width == 1280))  # noqa: B023 - waited for here
        for link, name in zip(links, NAMES.values(), strict=True):
            assert link.text() == name or (link.text().endswith("…") and link.toolTip() == name)


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


def test_a_sweep_that_ends_elsewhere_comes_to_the_page_on_show(
    window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    save(sweep(), "one")
    window.show_page("start")
    qtbot.waitUntil(lambda: recents(window) == ["one"])
    save(sweep(), "two")
    qtbot.waitUntil(lambda: recents(window) == ["two", "one"])


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
    buttons = window.start_page._recents.findChildren(QPushButton)
    return [button.text() for button in buttons if button.property("role") == "link"]


def test_each_recording_shows_its_curves_and_what_they_say(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("start")
    cards = window.start_page.findChildren(RecordingCard)
    assert len(cards) == len(bundled_sessions())
    qtbot.waitUntil(lambda: all(card.sentence.text() for card in cards), timeout=30_000)
    assert cards[0].sentence.text() == (
        "flash2 is 2.6× faster than standard and takes 255× less memory at N = 32k; "
        "standard will not fit at 64k."
    )
    assert cards[0].thumbnail.accessibleName() == "Runtime over N of standard, flash2"


def test_a_recent_session_tells_its_device_kernels_lengths_and_best_ratio(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    rig.open(bundled_sessions()[0])
    window.show_page("start")
    told = "NVIDIA H200 · standard, flash2 · N 512 to 64k · flash2: 2.6× faster at 32k"
    qtbot.waitUntil(lambda: told in facts(window), timeout=30_000)


def facts(window: MainWindow) -> list[str]:
    return [row.facts.text() for row in window.start_page.findChildren(RecentRow)]
