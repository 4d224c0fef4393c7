"""The view Source: a step's source beside its predecessor's, and what it gained by the recording."""

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.look.contrast import contrast
from flashscope.app.look.kernel_marks import LEGIBLE
from flashscope.app.look.theme import THEMES
from flashscope.app.pages.ladder import LadderPage
from flashscope.app.pages.ladder.board import ABOVE
from flashscope.app.pages.ladder.column import MARKED, SIGN, CodeColumn, grounds, inks
from flashscope.app.pages.ladder.ladder_recording import (
    NAME,
    LadderRecording,
    gain_text,
    read_ladder_recording,
)
from flashscope.app.pages.ladder.source_diff import PROBLEMS, read
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import find_story, read_story
from flashscope.app.words.own.line_diff import AFTER, BEFORE, GAP, SAME
from flashscope.kernels.catalogue.ladder import FLASH3
from flashscope.kernels.catalogue.sources import source_digests
from flashscope.kernels.cuda.reading.step import BEFORE as BEFORE_STEP
from flashscope.kernels.cuda.reading.step import source_of, steps_of
from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.store import SUFFIX, SessionFileError, load
from tests.app.rig import Rig
from tests.matrix import chosen

READABLE_PX = 24  # 18 pt at 96 dots an inch
STORY = read_story(find_story("flash1-to-flash3"))
LADDER_STOPS = [stop for stop in STORY.stops if stop.page == "ladder"]


def shown(page: LadderPage, kernel: str, label: str = "d 128, no mask") -> LadderPage:
    page.show_step(kernel, label)
    page.chores.wait()
    QTest.qWait(0)
    return page


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> LadderPage:
    window.resize(1280, 720)
    window.show_page("ladder")
    found = window.pages["ladder"]
    assert isinstance(found, LadderPage)
    qtbot.waitUntil(lambda: found.recorded is not None and bool(texts(found.board.columns[1])))
    return found


def texts(column: CodeColumn) -> list[str]:
    return [line for line in column.toPlainText().split("\n") if line]


@pytest.mark.matrix
def test_a_step_without_predecessor_is_shown_though_the_predecessors_column_was_alone(
    page: LadderPage,
) -> None:
    board = shown(page, "flash3-b").board
    rows = board.columns[0].blockCount()
    board.fill_with(board.columns[0])
    assert [column.isVisible() for column in board.columns] == [True, False]
    assert board.columns[0].blockCount() < rows  # fewer lines are broken
    shown(page, "standard")
    assert [column.isVisible() for column in board.columns] == [False, True]
    shown(page, "flash3-b")
    assert [column.isVisible() for column in board.columns] == [True, False]
    board.fill_with(None)
    assert [column.isVisible() for column in board.columns] == [True, True]


@pytest.mark.matrix
def test_a_line_that_changed_has_a_sign_and_a_ground_on_its_side(page: LadderPage) -> None:
    before, after = shown(page, "flash3-c").board.columns
    assert "- #define SCHEDULE 0" in texts(before)
    assert "+ #define SCHEDULE 1" in texts(after)
    assert {line[0] for line in texts(before)} <= {BEFORE, SAME, GAP}
    assert {line[0] for line in texts(after)} <= {AFTER, SAME, GAP}
    marked = {mark.cursor.block().text()[0] for mark in after.extraSelections()}
    assert marked == {AFTER, GAP}


def test_lines_that_belong_together_stand_beside_each_other_and_scroll_together(page: LadderPage) -> None:
    before, after = shown(page, "flash3-b").board.columns
    assert before.blockCount() == after.blockCount()
    page.board.go_on(7)
    assert before.top == after.top > 7
    before.show_row(3)
    assert after.top == 3


def test_what_is_on_top_is_the_first_change_of_the_code_and_not_of_a_directive(page: LadderPage) -> None:
    after = shown(page, "flash3-b").board.columns[1]
    assert after.document().findBlockByNumber(after.top).text().startswith(GAP)
    below = [after.document().findBlockByNumber(after.top + row).text() for row in range(12)]
    assert any("const u32 k_now" in line for line in below)


def test_the_whole_source_is_there_when_it_is_asked_for(page: LadderPage) -> None:
    shown(page, "flash3-b").whole.setChecked(True)
    wanted = "".join(source_of("flash3-b", PROBLEMS["d 128, no mask"]).text.split())
    told = "".join("".join(line[SIGN:].split()) for line in texts(page.board.columns[1]))
    assert told == wanted


@pytest.mark.matrix
def test_a_kernel_with_nothing_before_it_stands_alone_and_nothing_in_it_is_new(page: LadderPage) -> None:
    before, after = shown(page, "simt").board.columns
    assert not before.isVisible()
    assert {line[0] for line in texts(after)} == {SAME}
    assert page.gain.text() == "simt begins a ladder: nothing goes before it."
    assert page.board.headings[1].text() == "simt · simt.cu"
    assert max(map(len, texts(after))) > page.board.width() // after.fontMetrics().horizontalAdvance("m") // 2


@pytest.mark.matrix
def test_steps_that_are_compiled_alike_are_said_to_be(
    page: LadderPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BEFORE_STEP, "flash3", "flash3")
    read.cache_clear()
    shown(page, "flash3", "d 256, causal")
    read.cache_clear()
    assert page.board.headings[1].text() == "flash3 · flash3.cu, the same for this problem"
    assert {line[0] for line in texts(page.board.columns[1])} == {SAME}


@pytest.mark.matrix
def test_what_a_step_gained_is_the_recording_s_own_ratio(page: LadderPage) -> None:
    session = load(BUNDLED / f"{NAME}{SUFFIX}")
    curves = {curve.label: members for curve, members in by_curve(rows(session)).items()}
    times = {
        row.kernel: row.times.median
        for row in curves["d 128, no mask"]
        if row.seqlen == 16384 and row.times is not None
    }
    shown(page, "flash3-b")
    ratio = times["flash3-a"] / times["flash3-b"]
    assert page.gain.text().startswith("Beside flash3-a: ")
    assert page.gain.text().endswith(f"{ratio:.2f}× faster at 16k.")  # and of no other version
    assert page.badge.text() == "SAVED · GPU NVIDIA H200 · 2026-11-28"


@pytest.mark.matrix
def test_what_the_recording_does_not_hold_is_absent_with_its_reason(page: LadderPage) -> None:
    """Whole rows of 4k scores do not fit shared memory."""
    assert " at 2k." in shown(page, "fused").gain.text()
    members = [row for row in read_ladder_recording().curves["d 128, no mask"] if row.kernel != "fused"]
    assert "did not measure fused and standard" in gain_text(members, "fused", "standard")


def test_a_recording_that_cannot_be_read_is_told_and_the_source_is_there_all_the_same(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def broken() -> LadderRecording:
        raise SessionFileError("The recording is damaged; install Flashscope again.")

    monkeypatch.setattr("flashscope.app.pages.ladder.page.read_ladder_recording", broken)
    window.show_page("ladder")
    page = window.pages["ladder"]
    assert isinstance(page, LadderPage)
    qtbot.waitUntil(lambda: "damaged" in page.gain.text())
    assert page.staging.scene.waiting == page.gain.text()
    assert not page.badge.isVisible()
    qtbot.waitUntil(lambda: bool(texts(page.board.columns[1])))


@pytest.mark.matrix
def test_on_a_stage_the_badge_stands_in_its_corner_alone_also_when_the_recording_is_read_there(
    window: MainWindow, qtbot: QtBot
) -> None:
    page = window.pages["ladder"]
    assert isinstance(page, LadderPage)
    window.stage.enter(STORY)
    window.stage.go(STORY.stops.index(LADDER_STOPS[0]))
    qtbot.waitUntil(lambda: page.recorded is not None and page.isVisible())
    assert not page.badge.isVisible()
    window.stage.leave()
    window.show_page("ladder")
    assert page.badge.isVisible()


def test_a_step_and_its_problem_are_read_together(page: LadderPage, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def refuse(*wanted: str) -> str:
        asked.append(wanted)
        return "not read"

    monkeypatch.setattr("flashscope.app.pages.ladder.page.read", refuse)
    shown(page, "flash3-c", "d 64, causal")
    assert asked == [("flash3-c", "d 64, causal")]


def test_whether_the_recording_ran_this_very_source_is_told() -> None:
    mine = source_digests()["cuda"]["flash2"]
    same, other, unknown = (
        read_ladder_recording()._replace(digests=known) for known in ({"flash2": mine}, {"flash2": "x"}, {})
    )
    assert same.version_text("flash2") == ""
    assert "another version" in other.version_text("flash2")
    assert "does not say" in unknown.version_text("flash2")


def test_keys_walk_the_ladder_also_while_source_has_the_focus(window: MainWindow, page: LadderPage) -> None:
    window.activateWindow()
    shown(page, "flash2")
    page.board.columns[1].setFocus()
    QTest.keyClick(page.board.columns[1], Qt.Key.Key_N)
    assert page.kernel == "flash3-a"
    QTest.keyClick(page.board.columns[1], Qt.Key.Key_P)
    assert page.kernel == "flash2"


@chosen("width", [1280, 1920], {1280})
def test_no_line_is_cut_off_at_the_edge(window: MainWindow, page: LadderPage, width: int) -> None:
    window.resize(width, 900)
    shown(page, "flash3-b").whole.setChecked(True)
    for column in page.board.columns:
        room = column.viewport().width() - 2 * column.document().documentMargin()
        metrics = QFontMetricsF(column.font())
        assert max(metrics.horizontalAdvance(line) for line in texts(column)) <= room


@pytest.mark.parametrize("name", THEMES)
def test_every_colour_of_source_is_legible_on_every_ground(name: str) -> None:
    theme = THEMES[name]
    for ground in grounds(theme).values():
        for ink in inks(theme, ground).values():
            assert contrast(ink, ground) >= LEGIBLE


@chosen("height", [700, 711, 724], {700})
def test_on_a_stage_no_line_of_source_is_seen_in_part(page: LadderPage, height: int) -> None:
    shown(page, "flash3-b")
    page.window().resize(1280, height)
    for column in page.board.columns:
        column.take_stage(on=True)
        column.show_row(12)
        line = column.blockBoundingRect(column.firstVisibleBlock()).height()
        assert column.viewport().height() % line < 1
        column.take_stage(on=False)
        assert column.viewportMargins().bottom() == 0


def grounds_of(column: CodeColumn) -> dict[int, str]:
    """What is behind each row that has a ground of its own."""
    return {
        mark.cursor.blockNumber(): mark.format.background().color().name()
        for mark in column.extraSelections()
    }


@chosen("by_number", [False, True], {True})
def test_lines_that_a_stop_marks_have_a_ground_are_in_sight_and_all_others_stand_back(
    page: LadderPage, *, by_number: bool
) -> None:
    shown(page, "flash3-b")
    text = "wait(at.k_full(rk.stage), rk.phase);"
    source = read("flash3-b", page.label)
    assert not isinstance(source, str)
    numbers = [at for at, line in enumerate(source.sources[1].text.splitlines()) if text in line]
    page.show_step("flash3-b", page.label, (), [str(at + 1) for at in numbers] if by_number else [text])
    column, lit = page.board.columns[1], grounds(page.theme)[MARKED]
    rows = [at for at, row in enumerate(column._colours.rows) if row.number in numbers]
    assert rows
    assert grounds_of(column) == dict.fromkeys(rows, lit)
    assert column.top <= rows[0] <= column.top + ABOVE
    others = {
        span.format.foreground().color().name()
        for at in set(range(column.blockCount())) - set(rows)
        for span in column.document().findBlockByNumber(at).layout().formats()
    }
    assert len(others) == 1
    page.show_step("flash3-b", page.label)
    assert lit not in grounds_of(column).values()


@pytest.mark.matrix
def test_a_backward_pass_is_beside_that_of_the_nearest_kernel_before_that_has_one(page: LadderPage) -> None:
    shown(page, "flash3-b")
    page.problems.setCurrentText("d 128, backward, no mask")
    page.chores.wait()
    QTest.qWait(0)
    offered = [page.kernels.itemText(at) for at in range(page.kernels.count())]
    assert offered == ["standard", "flash1", "flash2", "flash3"]
    assert page.kernel == "flash2"  # flash3-b goes on from it, and has no backward pass
    page.step(1)
    page.chores.wait()
    QTest.qWait(0)
    assert page.idea.text() == f"flash3: {FLASH3.backward.idea}." if FLASH3.backward else False
    told = [heading.text() for heading in page.board.headings]
    assert told == ["- flash2 · flash2_backward.cu", "+ flash3 · flash3_backward.cu"]
    assert "did not measure flash3 and flash2 on one problem" in page.gain.text()
    page.step(1)
    assert page.kernel == "flash3"
    stop = page.staging.stop
    assert (stop.kernels, stop.curve) == (("flash2", "flash3"), "d 128, backward, no mask")
    page.problems.setCurrentText("d 128, no mask")
    assert (page.kernel, page.before, page.kernels.count()) == (
        "flash3",
        "flash3-c",
        len(steps_of("forward")),
    )


@pytest.mark.matrix
def test_what_no_ladder_has_leaves_the_step_on_show(page: LadderPage) -> None:
    shown(page, "flash3-b")
    shown(page, "flash9", "d 7")
    assert (page.kernel, page.label) == ("flash3-b", "d 128, no mask")


@pytest.mark.matrix  # it takes seconds
def test_every_kernel_can_be_read_for_every_problem() -> None:
    assert len(PROBLEMS) == 12
    for problem in PROBLEMS.values():
        for kernel in steps_of(problem.passes):
            assert source_of(kernel, problem).text


@pytest.mark.matrix
def test_the_story_of_the_ladder_shows_each_step_s_source_beside_its_predecessor_s() -> None:
    assert [stop.kernels for stop in LADDER_STOPS] == [
        ("flash1", "flash2"),
        ("flash2", "flash3-a"),
        ("flash3-a", "flash3-b"),
        ("flash3-b", "flash3-c"),
        ("flash3-c", "flash3"),
    ]
    for stop in LADDER_STOPS:
        for kernel, line in zip(stop.kernels, (stop.lines[:1], stop.lines[-1:]), strict=True):
            source = source_of(kernel, PROBLEMS[stop.curve]).text
            assert not line or line[0] in source


def top_line(column: CodeColumn) -> str:
    """The first line in sight."""
    return str(column.document().findBlockByNumber(column.top).text())


@pytest.mark.matrix
def test_on_a_stage_the_source_is_large_and_begins_where_the_stop_says(
    window: MainWindow, page: LadderPage, rig: Rig, qtbot: QtBot
) -> None:
    window.stage.enter(STORY)
    number = next(n for n, stop in enumerate(STORY.stops) if stop.kernels[-1] == "flash3-b" and stop.lines)
    window.stage.go(number)
    page.chores.wait()
    window.appearance.finish()
    qtbot.waitUntil(lambda: "flash3-b" in page.board.headings[1].text())
    qtbot.waitUntil(lambda: not (window.stage.venue.turning or window.stage.venue.filling))
    window.stage.venue.stand_as(QSize(1280, 720))
    for column in page.board.columns:
        assert QFontMetricsF(column.font()).height() >= READABLE_PX
        assert column.font().pixelSize() >= READABLE_PX
    begins = "wait(at.k_full(rk.stage)"  # whole, once the lines have the width that the stage has
    qtbot.waitUntil(lambda: all(begins in top_line(column) for column in page.board.columns))
    assert not page.kernels.isVisible()
    assert window.stage.frame.sentence.text().endswith("faster.")
    assert window.stage.frame.badge == "SAVED · GPU NVIDIA H200 · 2026-11-28 · flash3-b"
    top = page.board.columns[0].top
    QTest.keyClick(window, Qt.Key.Key_Down)
    assert page.board.columns[0].top > top
    window.stage.leave()
    window.appearance.finish()
    assert page.kernels.isVisible()
    assert page.board.columns[0].font().pixelSize() < READABLE_PX
