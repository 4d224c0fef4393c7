"""Stalls in Source: samples beside lines and instructions, what they say, and what a step changed."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from flashscope.app.control.appearance import appearance_of
from flashscope.app.control.inside.occupying import SAMPLED
from flashscope.app.figures.stall_bars import PARTS, part_of
from flashscope.app.look.contrast import contrast
from flashscope.app.look.kernel_marks import LEGIBLE
from flashscope.app.look.stall_colours import stall_colours
from flashscope.app.look.theme import THEMES
from flashscope.app.pages.ladder import LadderPage
from flashscope.app.pages.ladder.page import IDEA_PX
from flashscope.app.pages.ladder.source_diff import PROBLEMS
from flashscope.app.pages.ladder.stalls import shelf
from flashscope.app.pages.ladder.stalls.board import NO_GPU, NO_PYTHON, OTHER_SOURCE, StallsBoard
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import Stop, Story
from flashscope.app.words.inside.timelines import NUMPY
from flashscope.app.words.results.provenance import Provenance
from flashscope.app.words.results.sessions import named
from flashscope.kernels.workload.stalls import StallProfile, StallRequest
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.store import load
from flashscope.profiles.wire.events import RequestFailed, StallsProgress, StallsReady
from tests.app.fakes import GPU_MACHINE
from tests.app.rig import Rig
from tests.app.stall_profiles import DEVICE, FEWER, LINES, SAMPLES, TEXTS, profile
from tests.profiles.store import builders

LABEL = "d 64, no mask"
FILE, BEHIND = profile().file, 900_000
DENIED = "Only administrators may read counters (ERR_NVGPUCTRPERM): run as root."


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch) -> list[StallProfile]:
    """What comes with the program, which a test may change before it shows any."""
    there = [profile("flash3-a", samples=FEWER, took_ms=1.25), profile("flash3-b")]

    def read() -> Sequence[shelf.Shelved]:
        return [shelf.Shelved(one, Provenance("saved", "cuda", DEVICE, "2026-11-26")) for one in there]

    monkeypatch.setattr(shelf, "read_bundled", read)
    return there


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot, bundled: list[StallProfile]) -> Iterator[LadderPage]:
    window.resize(1280, 720)
    window.show_page("ladder")
    found = window.pages["ladder"]
    assert isinstance(found, LadderPage)
    qtbot.waitUntil(lambda: found.board.columns[1].blockCount() > 1)
    found.show_step("flash3-b", LABEL)
    yield found
    for chores in (found.chores, found.stalls_board.chores, found.stalls_board.shelf.chores):
        chores.wait()


def shown(page: LadderPage, qtbot: QtBot) -> StallsBoard:
    page.stalls.setChecked(True)
    board = page.stalls_board
    qtbot.waitUntil(lambda: board.read is not None)
    return board


def texts(board: StallsBoard) -> list[tuple[str, str]]:
    return [(row.text, row.share) for row in board.code.code.rows if row.at is not None]


def test_a_key_shows_the_stalls_in_place_of_both_sources_and_never_beside_machine_code(
    window: MainWindow, page: LadderPage, qtbot: QtBot
) -> None:
    window.activateWindow()
    page.setFocus()
    QTest.keyClick(page, Qt.Key.Key_L)
    assert [page.board.isVisible(), page.sass_board.isVisible(), page.stalls_board.isVisible()] == [
        False,
        False,
        True,
    ]
    page.stalls_board.shelf.chores.wait()
    page.sass_board.block("Nothing is compiled in this test.")
    QTest.keyClick(page, Qt.Key.Key_S)
    assert (page.sass.isChecked(), page.stalls.isChecked(), page.stalls_board.isVisible()) == (
        True,
        False,
        False,
    )
    QTest.keyClick(page, Qt.Key.Key_L)
    assert (page.sass.isChecked(), page.sass_board.isVisible()) == (False, False)
    QTest.keyClick(page, Qt.Key.Key_L)
    assert page.board.isVisible()


def test_the_sentence_names_the_reason_with_most_samples_its_line_and_what_issues(
    page: LadderPage, qtbot: QtBot
) -> None:
    board = shown(page, qtbot)
    assert board.read is not None
    assert board.read.text is not None
    line = board.read.text[LINES[1] - 1].strip()
    assert board.head.words.text() == (
        f"flash3-b: 50.0% of the samples stall for “barrier”, of these 100% at line {LINES[1]}: "
        f"{line} · 25.0% issue an instruction."
    )
    told = board.head.taken.text()
    assert told.startswith(
        "100 samples of 2 launches of the timed build, every 128 cycles, by Nsight Compute"
    )
    assert "1.00 ms without a profiler" in told
    assert "the sampled one took 1.02 ms, 1.02× of one under the profiler" in told


def test_each_line_and_each_instruction_has_its_share_and_a_bar_by_reason(
    page: LadderPage, qtbot: QtBot
) -> None:
    board = shown(page, qtbot)
    bars = board.source._bars
    assert {line: bars.text(sum(parts.values())) for line, parts in bars.parts.items()} == {
        60: "85.0",
        70: "15.0",
    }
    assert bars.parts[60] == {part_of("selected"): 15, part_of("barrier"): 50, part_of("long_scoreboard"): 20}
    assert bars.parts[70] == {part_of("selected"): 10, len(PARTS): 5}, "what has no colour is together"
    assert [share for _, share in texts(board)] == ["30.0", "55.0", "15.0", ""]
    assert [row.aside for row in board.code.code.rows if row.at is None] == ["85.0%", "15.0%", "0.0%"]
    assert board.code.code.most == 55


@pytest.mark.matrix
def test_the_instructions_with_most_samples_come_first_when_that_is_asked_for(
    page: LadderPage, qtbot: QtBot
) -> None:
    board = shown(page, qtbot)
    board.head.order.buttons["samples"].setChecked(True)
    assert [text.partition("  ")[2] for text, _ in texts(board)] == [TEXTS[1], TEXTS[0], TEXTS[2]]
    page.setFocus()
    QTest.keyClick(page, Qt.Key.Key_A)
    assert board.head.order.current == "line"


def test_a_line_and_an_instruction_mark_each_other_and_say_what_they_wait_for(
    page: LadderPage, qtbot: QtBot
) -> None:
    board = shown(page, qtbot)
    assert board.detail.text().startswith("Line 60: 85 samples, 85.0% of all (barrier 58.8%, ")
    assert board.code.code.lit == {0, 1}
    row = board.code.code.row_of(2)
    assert row is not None
    board.code.setCurrentIndex(board.code.code.index(row))
    assert board.source.line == LINES[2] - 1
    assert board.detail.text() == (
        f"000020  {TEXTS[2]} · 15 samples, 15.0% of all (selected 66.7%, membar 33.3%)"
    )


def test_where_the_stalls_went_is_a_table_with_the_largest_change_first(
    page: LadderPage, qtbot: QtBot
) -> None:
    board = shown(page, qtbot)
    board.head.view.buttons["changes"].setChecked(True)
    assert board.stack.currentWidget() is board.table
    assert board.table.words.text() == (
        "From flash3-a to flash3-b: 1.25 ms to 1.00 ms. long scoreboard changes most, from 5.00% of the "
        "samples to 20.0%."
    )
    rows = [(row[0].rpartition("</span> ")[2], *row[1:]) for row in board.table.texts]
    assert rows == [
        ("long scoreboard", "5.0%", "20.0%", "+15.0"),
        ("barrier", "60.0%", "50.0%", "−10.0"),
        ("selected", "35.0%", "25.0%", "−10.0"),
        ("membar", "0.0%", "5.0%", "+5.0"),
    ]


@pytest.mark.matrix
def test_a_kernel_that_no_step_goes_before_has_no_such_table(
    page: LadderPage, qtbot: QtBot, bundled: list[StallProfile]
) -> None:
    del bundled[0]
    board = shown(page, qtbot)
    assert not board.head.view.buttons["changes"].isEnabled()
    assert board.stack.currentWidget() is board.split


@pytest.mark.matrix
def test_samples_of_another_source_keep_their_instructions_and_lose_their_lines(
    page: LadderPage, qtbot: QtBot, bundled: list[StallProfile]
) -> None:
    bundled[:] = [profile("flash3-b", source="0" * 16)]
    board = shown(page, qtbot)
    assert not board.source.isVisible()
    assert "at line" not in board.head.words.text()
    assert board.detail.text() == OTHER_SOURCE
    assert [text.partition("  ")[2] for text, _ in texts(board)] == list(TEXTS)


@pytest.mark.matrix
def test_samples_behind_the_end_of_the_source_are_shown_without_its_words(
    page: LadderPage, qtbot: QtBot, bundled: list[StallProfile]
) -> None:
    bundled[:] = [replace(profile("flash3-b"), line=Array.of(np.array([60, *[BEHIND] * 3], np.int32)))]
    board = shown(page, qtbot)
    (row,) = [row for row in board.code.code.rows if row.at is None and row.home == (FILE, BEHIND)]
    assert row.text == f"{BEHIND}"
    for at in range(len(TEXTS)):
        place = board.code.code.row_of(at)
        assert place is not None
        board.code.setCurrentIndex(board.code.code.index(place))
        assert TEXTS[at] in board.detail.text()


def test_the_badge_is_that_of_the_samples(window: MainWindow, page: LadderPage, qtbot: QtBot) -> None:
    shown(page, qtbot)
    qtbot.waitUntil(lambda: "stalls of flash3-b" in window.top_bar.badge.text())
    assert window.top_bar.badge.text().startswith(f"SAVED · GPU {DEVICE} · 2026-11-26")


def test_without_samples_and_without_a_gpu_the_reason_is_a_sentence(page: LadderPage, qtbot: QtBot) -> None:
    page.show_step("flash2", LABEL)
    page.stalls.setChecked(True)
    board = page.stalls_board
    qtbot.waitUntil(lambda: bool(board.shelf.bundled))
    assert board.stack.currentWidget() is board.notice
    assert board.notice.text() == f"No stalls of flash2 are recorded for {LABEL}.\n{NO_GPU}"
    assert not board.head.sample.isEnabled()
    assert "H200" not in page.staging.provenance.badge, "the recording of gains is not on show"
    board.show_kernel("flash2", NUMPY)
    qtbot.waitUntil(lambda: board.notice.text() == NO_PYTHON)
    assert board.head.sample.isHidden()


def on_a_gpu(page: LadderPage, rig: Rig) -> StallsBoard:
    rig.engine.machine = GPU_MACHINE
    rig.engine.probe()
    return page.stalls_board


def test_sampling_asks_for_the_kernel_and_the_step_before_and_tells_how_far_it_is(
    page: LadderPage, qtbot: QtBot, rig: Rig, bundled: list[StallProfile]
) -> None:
    bundled.clear()
    board = on_a_gpu(page, rig)
    page.stalls.setChecked(True)
    qtbot.waitUntil(board.head.sample.isEnabled)
    board.head.sample.click()
    assert [one.kernel for one in rig.engine.stalled] == ["flash3-a"]
    assert rig.engine.stalled[0].problem == PROBLEMS[LABEL]
    rig.engine.say([StallsProgress(done=2, total=4)])
    qtbot.waitUntil(lambda: board.head.progress.text() == "flash3-a: sampling …")
    assert page.sass_board._blocked == SAMPLED
    rig.engine.say([StallsReady(profile=profile("flash3-a", samples=FEWER))])
    qtbot.waitUntil(lambda: [one.kernel for one in rig.engine.stalled] == ["flash3-a", "flash3-b"])
    rig.engine.say([StallsReady(profile=profile())])
    qtbot.waitUntil(lambda: board.read is not None and bool(board.read.changes))
    assert board.shown is not None
    assert board.shown.provenance.kind == "live"
    assert not board.head.sample.isHidden()
    assert board.head.keep.isVisible(), "it is in no session"


@pytest.mark.matrix  # it takes a second
def test_what_was_sampled_is_kept_in_the_session_on_show_and_taken_out_again(
    page: LadderPage, qtbot: QtBot, rig: Rig, tmp_path: Path, bundled: list[StallProfile]
) -> None:
    bundled.clear()
    path = builders.recorded(tmp_path / "a.flashscope")
    rig.open(path)
    board = shown_after(page, qtbot, rig)
    assert page.staging.source == "", "it is in no session"
    qtbot.waitUntil(board.head.keep.isEnabled)
    with qtbot.waitSignal(rig.controller.keeping.kept):
        board.head.keep.click()
    assert [one.request.kernel for one in load(path).stalls] == ["flash2", "flash3-b"]
    qtbot.waitUntil(lambda: board.head.keep.isHidden() and board.shown is not None)
    assert board.shown is not None
    assert board.shown.provenance.kind == "saved"
    assert page.staging.source == named(load(path), path), "not the recording's with the program"
    with qtbot.waitSignal(rig.controller.keeping.kept):
        rig.controller.edits.undo()
    assert [one.request.kernel for one in load(path).stalls] == ["flash2"]
    qtbot.waitUntil(board.head.keep.isVisible)


def shown_after(page: LadderPage, qtbot: QtBot, rig: Rig) -> StallsBoard:
    """The stalls of the kernel on show, once they were sampled here."""
    page.stalls.setChecked(True)
    page.controller.stalls.ask([StallRequest(problem=PROBLEMS[LABEL], kernel="flash3-b")])
    rig.engine.say([StallsReady(profile=profile())])
    board = page.stalls_board
    qtbot.waitUntil(lambda: board.read is not None and board.head.keep.isVisible())
    return board


def test_counters_that_are_refused_are_a_sentence_and_no_empty_plot(
    page: LadderPage, qtbot: QtBot, rig: Rig, bundled: list[StallProfile]
) -> None:
    bundled.clear()
    board = on_a_gpu(page, rig)
    page.stalls.setChecked(True)
    qtbot.waitUntil(board.head.sample.isEnabled)
    board.head.sample.click()
    rig.engine.say([RequestFailed(request="stalls", reason=DENIED)])
    qtbot.waitUntil(lambda: DENIED in board.notice.text())
    assert board.stack.currentWidget() is board.notice
    assert not board.head.sample.isHidden()


@pytest.mark.matrix
def test_sampling_that_is_given_up_says_nothing(
    page: LadderPage, qtbot: QtBot, rig: Rig, bundled: list[StallProfile]
) -> None:
    bundled.clear()
    board = on_a_gpu(page, rig)
    page.stalls.setChecked(True)
    qtbot.waitUntil(board.head.sample.isEnabled)
    board.head.sample.click()
    board.head.cancel.click()
    assert rig.engine.given_up == 1
    rig.engine.say([RequestFailed(request="stalls", reason="It was cancelled.")])
    qtbot.waitUntil(lambda: not board.head.sample.isHidden())
    assert "cancelled" not in board.notice.text()


@pytest.mark.matrix
def test_a_stop_shows_where_the_stalls_went_and_gives_back_what_was_there(
    window: MainWindow, page: LadderPage, qtbot: QtBot
) -> None:
    board = page.stalls_board
    stop = Stop("ladder", kernels=("flash3-b",), curve=LABEL, mode="stalls")
    window.stage.enter(Story(Path("a.toml"), "A story", (stop,)))
    qtbot.waitUntil(lambda: page.staging.settled and bool(board.table.texts))
    assert (board.stack.currentWidget() is board.table, board.head.isVisible()) == (True, False)
    assert page.staging.sentence == (
        "What changed most in the stalls: long scoreboard, 5.00% to 20.0%. 25.0% of the samples issue."
    )
    assert page.staging.stop.mode == "stalls"
    assert page.staging.exhibits == ()
    window.stage.leave()
    window.show_page("ladder")
    qtbot.waitUntil(lambda: not page.stalls.isChecked())
    assert (board.head.isHidden(), board.head.view.current, page.board.isVisible()) == (False, "code", True)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_the_parts_of_a_bar_stand_out_from_the_card_and_are_as_many_as_their_colours(theme: object) -> None:
    colours = stall_colours(theme)  # type: ignore[arg-type]  # of the registry
    assert len(set(colours)) == len(colours) == len(PARTS) + 1
    for colour in colours:
        assert contrast(colour, theme.panel) > LEGIBLE / 3 * 1.5  # type: ignore[attr-defined]  # as above


@pytest.mark.matrix
def test_the_idea_of_a_step_keeps_room_at_double_zoom_in_the_smallest_window(
    window: MainWindow, page: LadderPage
) -> None:
    window.resize(1280, 720)
    appearance_of().zoom(200)
    appearance_of().finish()
    assert page.idea.width() >= 2 * IDEA_PX
    assert page.idea.height() <= 4 * page.idea.fontMetrics().lineSpacing()


@pytest.mark.matrix
def test_no_part_of_it_is_wider_than_the_smallest_window(page: LadderPage, qtbot: QtBot) -> None:
    board = shown(page, qtbot)
    for part in (board.head, board.split, board.detail, board.source, board.code):
        assert page.rect().contains(part.rect().translated(part.mapTo(page, part.rect().topLeft())))
    assert sum(map(sum, SAMPLES)) == 100
