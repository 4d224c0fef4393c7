"""Machine code beside its source: what is chosen in one is marked in the other, and nothing blocks."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from flashscope.app.look.contrast import contrast
from flashscope.app.look.kernel_marks import LEGIBLE
from flashscope.app.look.kind_colours import kind_colours
from flashscope.app.look.theme import DARK, LIGHT, THEMES
from flashscope.app.pages.ladder.sass import job
from flashscope.app.pages.ladder.sass.board import CHOOSE, SassBoard
from flashscope.app.pages.ladder.source_diff import PROBLEMS
from flashscope.app.words.inside.sass import GIVEN_UP, NO_SASS
from flashscope.app.words.inside.timelines import NUMPY
from flashscope.kernels.cuda.reading.cards import CARDS, H200
from flashscope.kernels.cuda.reading.step import source_of
from flashscope.kernels.cuda.sass.child import ListingAnswer
from flashscope.kernels.cuda.sass.kinds import KINDS
from tests.app.fakes import GPU_MACHINE
from tests.app.pages.ladder.sass.builds import CALL, FILE, LINE, Builds, code

LABEL, OTHER = "d 64, no mask", "d 64, causal"
A100 = next(card for card in CARDS if card.name == "A100")
MISSING = "NVIDIA's disassembler, nvdisasm, is not on this machine: install it with pip."


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> Builds:
    made = Builds()
    monkeypatch.setattr(job, "ListingRun", made)
    return made


@pytest.fixture
def board(qtbot: QtBot, builds: Builds) -> Iterator[SassBoard]:
    made = SassBoard(DARK, ())
    qtbot.addWidget(made)
    made.resize(1100, 600)
    made.show()
    yield made
    made.chores.wait()
    made.job.wait()


def show(board: SassBoard, qtbot: QtBot, kernel: str = "flash2", label: str = LABEL) -> None:
    with qtbot.waitSignal(board.settled):
        board.show_kernel(kernel, label)


def texts(board: SassBoard) -> list[str]:
    return [row.text for row in board.code.code.rows]


def lit(board: SassBoard) -> list[int]:
    """Lines of the source that have a ground, from 1."""
    rows = board.source._rows
    marked = {mark.cursor.blockNumber() for mark in board.source.extraSelections()}
    return sorted({(rows[at].number or 0) + 1 for at in marked})


def test_instructions_stand_under_their_lines_each_line_with_its_own_words(
    board: SassBoard, qtbot: QtBot
) -> None:
    show(board, qtbot)
    source = source_of("flash2", PROBLEMS[LABEL]).text.splitlines()
    assert texts(board) == [
        f"{LINE}  {source[LINE - 1].strip()}",
        "000010  HMMA.16816.F32.BF16 R4, R4, R8, R12",
        "000020  @P0 MUFU.EX2 R4, R4",
        f"{CALL}  {source[CALL - 1].strip()}",
        "000000  LDC R1, c[0x0][0x28]",
        "a.cuh:3",
        "000030  EXIT",
    ]
    assert [row.aside for row in board.code.code.rows][:2] == ["2 instructions", "mma.cuh:12"]


def test_by_address_they_stand_as_in_memory_with_their_labels_and_lines(
    board: SassBoard, qtbot: QtBot
) -> None:
    show(board, qtbot)
    board.other_order()
    assert texts(board)[:3] == ["000000  LDC R1, c[0x0][0x28]", ".L_x_1:", f"000010  {code()[1].text}"]
    assert [row.aside for row in board.code.code.rows if row.at is not None] == [
        *map(str, (CALL, LINE, LINE)),
        "a.cuh:3",
    ]
    board.other_order()
    assert texts(board)[0].startswith(f"{LINE}  ")


def test_the_chosen_instruction_stays_chosen_in_the_other_order_and_in_no_other_kernel(
    board: SassBoard, qtbot: QtBot
) -> None:
    show(board, qtbot)
    board.code.choose(2)
    board.other_order()
    assert board.code.current is not None
    assert board.code.current.at == 2
    assert board.detail.text().startswith(code()[2].text)
    board.head.entries.setCurrentText("finish")
    assert not board.code.currentIndex().isValid()
    assert board.detail.text() == CHOOSE


def test_a_line_marks_its_instructions_and_those_of_what_is_called_there(
    board: SassBoard, qtbot: QtBot
) -> None:
    show(board, qtbot)
    board.source.setFocus()
    board.source.look_at(LINE)
    QTest.keyClick(board.source, Qt.Key.Key_Up)
    assert lit(board) == [LINE]
    assert board.code.code.lit == {1, 2}
    assert board.detail.text() == f"Line {LINE}: 2 instructions (tensor cores 1, MUFU 1)."
    board.source.look_at(CALL)
    QTest.keyClick(board.source, Qt.Key.Key_Up)
    assert board.code.code.lit == {0, 1, 2}
    assert board.detail.text() == (
        f"Line {CALL}: 1 instruction (other 1); 3 with those of what is called here."
    )
    QTest.keyClick(board.source, Qt.Key.Key_Up)
    assert board.code.code.lit == frozenset()
    assert board.detail.text() == f"Line {CALL - 1}: no instruction of this kernel."


def test_a_click_on_a_number_chooses_its_line(board: SassBoard, qtbot: QtBot) -> None:
    show(board, qtbot)
    board.source.begin_at(LINE - 1)
    place = board.source.gutter.rect().topLeft()
    place.setY(board.source.fontMetrics().height() // 2)
    QTest.mouseClick(board.source.gutter, Qt.MouseButton.LeftButton, pos=place)
    assert lit(board) == [LINE]


def test_an_instruction_marks_the_lines_that_it_comes_from_and_brings_the_first_into_sight(
    board: SassBoard, qtbot: QtBot
) -> None:
    show(board, qtbot)
    board.source.begin_at(0)
    board.code.setFocus()
    board.code.setCurrentIndex(board.code.code.index(0))
    QTest.keyClick(board.code, Qt.Key.Key_Down)
    assert board.code.current is not None
    assert board.code.current.at == 1
    assert lit(board) == [LINE, CALL]
    assert board.source.line == LINE - 1
    assert board.source.viewport().rect().contains(board.source.cursorRect())
    assert board.detail.text() == (
        f"{code()[1].text} · tensor cores · mma.cuh:12, called at {FILE}:{LINE}, called at {FILE}:{CALL}"
    )


def test_a_heading_marks_its_line(board: SassBoard, qtbot: QtBot) -> None:
    show(board, qtbot)
    board.code.setCurrentIndex(board.code.code.index(3))
    assert lit(board) == [CALL]
    assert board.code.code.lit == {0}


def test_the_head_says_what_the_build_takes_what_it_is_for_and_that_it_was_not_run(
    board: SassBoard, qtbot: QtBot
) -> None:
    show(board, qtbot)
    told = board.head.takes.text()
    assert told.startswith("flash2: 128 registers a thread, 128 threads a block, no spills; ")
    assert "0 B static, 4.00 KiB dynamic; 4 instructions. Occupancy: 4 blocks an SM, 16 of 64 warps" in told
    assert "registers let in no more. Compiled here by NVRTC 13.0 for the H200" in told
    assert told.endswith("not run.")
    assert "tensor cores 1" in board.head.legend.text().replace("&nbsp;", " ")
    assert "TMA" not in board.head.legend.text()


def test_of_several_kernels_the_longest_is_shown_and_the_others_can_be_chosen(
    board: SassBoard, qtbot: QtBot
) -> None:
    show(board, qtbot)
    assert board.head.entries.currentText() == "flash2"
    board.head.entries.setCurrentText("finish")
    assert board.head.takes.text().startswith("finish: ")
    assert [row.at for row in board.code.code.rows] == [None, 0]


def test_a_missing_tool_is_a_sentence_with_its_remedy_and_can_be_tried_again(
    board: SassBoard, qtbot: QtBot, builds: Builds
) -> None:
    builds.answer = ListingAnswer(refused=MISSING, log="details")
    show(board, qtbot)
    assert board.stack.currentWidget() is board.notice
    assert board.notice.words.text() == MISSING
    assert board.source.toPlainText(), "the source is there all the same"
    builds.answer = None
    with qtbot.waitSignal(board.settled):
        board.notice.again.click()
    assert board.stack.currentWidget() is board.code


def test_what_a_gpu_does_not_run_is_told_without_a_process(
    board: SassBoard, qtbot: QtBot, builds: Builds
) -> None:
    board.head.cards.setCurrentIndex(CARDS.index(A100))
    show(board, qtbot, "flash3")
    assert board.notice.words.text().startswith("Not for the A100: flash3 needs compute capability 9.0")
    assert not board.source.isVisible(), "there is no source to show"
    assert board.notice.again.isHidden()
    assert builds.asked == []


def test_a_kernel_in_numpy_is_said_to_have_no_machine_code(board: SassBoard, qtbot: QtBot) -> None:
    show(board, qtbot)
    show(board, qtbot, "flash2", NUMPY)
    assert board.notice.words.text() == NO_SASS
    assert (board.source.toPlainText(), texts(board), board.text) == ("", [], "")


def test_compiling_can_be_cancelled_and_begun_anew(board: SassBoard, qtbot: QtBot, builds: Builds) -> None:
    builds.slow = True
    board.show_kernel("flash2", LABEL)
    qtbot.waitUntil(lambda: board.job.active)
    assert board.notice.words.text() == "Compiling flash2 for the H200 …"
    with qtbot.waitSignal(board.settled):
        board.notice.cancel.click()
    assert (builds.given_up, board.notice.words.text()) == (["flash2"], GIVEN_UP)
    builds.slow = False
    with qtbot.waitSignal(board.settled):
        board.try_again()
    assert board.shown is not None


def test_what_is_asked_for_next_gives_up_what_is_being_made(
    board: SassBoard, qtbot: QtBot, builds: Builds
) -> None:
    builds.slow = True
    board.show_kernel("flash1", LABEL)
    qtbot.waitUntil(lambda: board.job.active)
    builds.slow = False
    show(board, qtbot, "flash2", OTHER)
    assert builds.given_up == ["flash1"]
    assert board.shown is not None
    assert "causal" in board.shown.listing.source.heading


def test_nothing_is_compiled_beside_what_is_measured_but_after_it(
    board: SassBoard, qtbot: QtBot, builds: Builds
) -> None:
    board.block("A sweep runs.")
    show(board, qtbot)
    assert (board.notice.words.text(), builds.asked) == ("A sweep runs.", [])
    with qtbot.waitSignal(board.settled):
        board.block("")
    assert (board.shown is not None, builds.asked) == (True, ["flash2"])
    board.block("A sweep runs.")
    show(board, qtbot)
    assert board.stack.currentWidget() is board.code, "what was made before is there"


def test_what_is_being_made_is_given_up_for_what_is_measured(
    board: SassBoard, qtbot: QtBot, builds: Builds
) -> None:
    builds.slow = True
    board.show_kernel("flash2", LABEL)
    qtbot.waitUntil(lambda: board.job.active)
    board.block("A sweep runs.")
    assert (builds.given_up, board.notice.words.text()) == (["flash2"], "A sweep runs.")
    builds.slow = False
    with qtbot.waitSignal(board.settled):
        board.block("")
    assert board.shown is not None


def test_a_build_that_was_made_is_not_made_again(board: SassBoard, qtbot: QtBot, builds: Builds) -> None:
    show(board, qtbot)
    show(board, qtbot, "flash1")
    show(board, qtbot)
    assert builds.asked == ["flash2", "flash1"]
    assert board.title.text().startswith("flash2: ")
    assert board.detail.text() == CHOOSE


def test_another_gpu_has_its_own_source_and_build(board: SassBoard, qtbot: QtBot, builds: Builds) -> None:
    show(board, qtbot)
    with qtbot.waitSignal(board.settled):
        board.head.cards.setCurrentIndex(CARDS.index(A100))
    assert "sm_80" in board.title.text()
    assert "for the A100" in board.head.takes.text()
    assert len(builds.asked) == 2


def test_the_gpu_of_this_machine_is_offered_first(board: SassBoard) -> None:
    assert board.head.card == H200
    board.head.show_machine(None)
    assert board.head.card == H200
    board.head.show_machine(GPU_MACHINE)
    device = GPU_MACHINE.device("cuda")
    assert device is not None
    assert device.name.removeprefix("NVIDIA ") == board.head.card.name
    assert board.head.card.compute_capability == device.compute_capability
    names = [board.head.cards.itemData(at).name for at in range(board.head.cards.count())]
    assert len(names) == len(set(names))


def test_selected_rows_a_line_and_the_whole_are_copied_as_text(board: SassBoard, qtbot: QtBot) -> None:
    show(board, qtbot)
    board.code.setCurrentIndex(board.code.code.index(1))
    QTest.keyClick(board.code, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(board.code, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    both = f"000010  {code()[1].text}\n000020  {code()[2].text}"
    assert QGuiApplication.clipboard().text() == both
    board.code.setCurrentIndex(board.code.code.index(0))
    entries = {action.text(): action for action in board.code.menu().actions()}
    entries["Copy all of this line"].trigger()
    assert QGuiApplication.clipboard().text() == both
    assert both.splitlines()[0] in board.text
    assert board.text.splitlines()[0] == f"// {board.title.text()}"


def test_a_theme_recolours_list_and_source(board: SassBoard, qtbot: QtBot) -> None:
    show(board, qtbot)
    board.source.light((LINE - 1,))
    before = board.grab().toImage(), board.head.legend.text()
    board.apply_theme(LIGHT)
    assert board.grab().toImage() != before[0]
    assert board.head.legend.text() != before[1]
    assert kind_colours(LIGHT)[0] in board.head.legend.text()


def test_in_a_narrow_window_the_source_stands_over_the_machine_code_and_no_line_is_cut(
    board: SassBoard, qtbot: QtBot
) -> None:
    board.resize(600, 700)
    show(board, qtbot)
    for width, orientation in ((600, Qt.Orientation.Vertical), (1100, Qt.Orientation.Horizontal)):
        board.resize(width, 700)
        assert board.split.orientation() is orientation
        qtbot.waitUntil(lambda: widest(board) <= room(board))


def widest(board: SassBoard) -> float:
    """Pixels of the longest row of the source."""
    metrics = QFontMetricsF(board.source.font())
    return max(metrics.horizontalAdvance(line) for line in board.source.toPlainText().splitlines())


def room(board: SassBoard) -> float:
    """Pixels of a row of the source."""
    return board.source.viewport().width() - 2 * board.source.document().documentMargin()


@pytest.mark.parametrize("name", THEMES)
def test_the_kinds_have_colours_of_their_own_that_stand_out_from_the_ground(name: str) -> None:
    theme = THEMES[name]
    colours = kind_colours(theme)
    assert len(set(colours)) == len(KINDS)
    assert all(contrast(colour, theme.panel) >= 2 for colour in colours)
    assert contrast(theme.text, theme.panel) >= LEGIBLE
