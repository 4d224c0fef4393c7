"""The mode Predict: the next value is asked, answered by keys or clicks, and then shown."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt

from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.stepper.mode_commands import NO_QUESTION
from flashscope.app.pages.stepper.predict_board import BROKEN_TRACE, NO_ROW, PredictBoard
from flashscope.app.stage.story import Stop
from flashscope.app.stepper.numbers import plain
from flashscope.app.stepper.presets import Options, own, score_row
from flashscope.app.stepper.quiz import Question
from flashscope.kernels.cpu.trace import record
from tests.app.pages.stepper.conftest import Bench
from tests.app.pages.stepper.position import at

KEYS = (Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3)


@pytest.fixture
def asking(bench: Bench) -> Bench:
    """The page in the mode, over the slide read from the right."""
    bench.engine.real = True
    bench.show("slide-reversed").choose_mode("predict")
    return bench


def board_of(page: StepperPage) -> PredictBoard:
    board = page.modes.board
    assert isinstance(board, PredictBoard)
    return board


def asked(page: StepperPage) -> Question:
    question = board_of(page).quiz.question
    assert question is not None
    return question


def wrong(question: Question) -> int:
    return next(n for n in range(len(question.choices)) if n != question.right)


def test_the_answer_is_hidden_until_one_is_given(asking: Bench) -> None:
    page = asking.page
    question, board = asked(page), board_of(page)
    assert at(page) == question.at
    assert board.shows.isHidden()
    assert plain(question.asks) in page.words()
    assert "rises" not in page.words()
    asking.press(KEYS[question.right])
    assert at(page) == question.shown_at
    assert not board.shows.isHidden()
    assert "✓ Right." in page.words()
    assert "The largest score of tile j = 0 is 3.000: m rises" in page.words()


def test_a_wrong_answer_names_the_right_one(asking: Bench) -> None:
    question = asked(asking.page)
    asking.press(KEYS[wrong(question)])
    assert f"✗ No: it is {question.choices[question.right]}." in asking.page.words()


def test_a_click_answers_as_a_key_does(asking: Bench) -> None:
    page = asking.page
    asking.click(board_of(page).choices[asked(page).right])
    assert board_of(page).score.right == 1


@pytest.mark.parametrize("key", [Qt.Key.Key_Right, Qt.Key.Key_Space, Qt.Key.Key_PageDown])
def test_the_keys_go_on_only_from_an_answer(asking: Bench, key: Qt.Key) -> None:
    page = asking.page
    asking.press(key)
    assert board_of(page).quiz.at == 0
    asking.press(Qt.Key.Key_1)
    asking.press(key)
    assert board_of(page).quiz.at == 1
    asking.press(Qt.Key.Key_Left)
    assert board_of(page).quiz.at == 0


def test_the_score_counts_each_question_once(asking: Bench) -> None:
    page, board = asking.page, board_of(asking.page)
    asking.press(KEYS[asked(page).right])
    asking.press(KEYS[asked(page).right])
    asking.click(board.onward)
    asking.press(KEYS[wrong(asked(page))])
    assert board.tally.text() == "1 of 2 right"
    assert page.bar.result.text() == "1 of 2 right"


def test_the_score_goes_on_over_another_preset_and_mode_and_is_reset_by_its_button(asking: Bench) -> None:
    page, board = asking.page, board_of(asking.page)
    asking.press(KEYS[asked(page).right])
    page.choose_mode("blocks")
    page.choose_mode("predict")
    assert board.quiz.answers == {0: asked(page).right}
    asking.show("random")
    asking.press(KEYS[asked(page).right])
    assert board.tally.text() == "2 of 2 right"
    asking.click(board.reset)
    assert board.tally.text() == "nothing answered yet"
    assert board.quiz.answers == {}


def test_walking_to_the_end_answers_every_question_and_says_so(asking: Bench) -> None:
    page, board = asking.page, board_of(asking.page)
    for _ in board.quiz.questions:
        asking.press(KEYS[asked(page).right])
        asking.press(Qt.Key.Key_Right)
    assert board.score.right == board.score.asked == len(board.quiz.questions)
    assert board.quiz.ended
    assert not board.onward.isEnabled()
    assert "last question" in page.words()


def test_what_is_drawn_beside_a_question_has_no_value_that_tells_its_answer(bench: Bench) -> None:
    bench.engine.real = True
    page = bench.show("rising")
    page.choose_mode("predict")
    board = board_of(page)
    for _ in range(8):
        question = asked(page)
        assert page.view is not None
        drawn = board.chart.series(page.view)
        if question.kind in {"rise", "sum"}:
            assert (drawn.known, drawn.final) == (question.tile, None)
        if question.kind == "rise":
            assert drawn.high < page.view.history.m[question.tile]
        told = board.chart.accessibleDescription()
        bench.press(KEYS[question.right])
        if question.kind in {"rise", "sum"}:
            assert board.chart.series(page.view).known == question.tile + 1
            assert len(board.chart.accessibleDescription()) > len(told)
        bench.press(Qt.Key.Key_Right)


def test_the_scrubber_marks_no_rise_that_would_tell_an_answer(bench: Bench) -> None:
    bench.engine.real = True
    page = bench.show("random")
    assert page.transport.scrubber._events
    page.choose_mode("predict")
    assert page.events
    assert not page.transport.scrubber._events
    page.choose_mode("blocks")
    assert page.transport.scrubber._events


def test_a_step_that_is_sought_asks_the_last_question_up_to_it(bench: Bench) -> None:
    bench.engine.real = True
    page = bench.show("random")
    page.choose_mode("predict")
    questions = board_of(page).quiz.questions
    page.seek(questions[-2].at)
    assert asked(page) == questions[-2]
    page.seek(0)
    assert asked(page) == questions[0]


def test_the_row_that_is_followed_is_the_one_asked_about(bench: Bench) -> None:
    bench.engine.real = True
    page = bench.show("random")
    page.choose_mode("predict")
    page.seek(len(page.story.timeline.steps) // 2 if page.story else 0)
    assert asked(page).row == page.transport.row.value() > 0
    page.seek(0)
    for _ in board_of(page).quiz.questions[1:]:
        bench.press(KEYS[asked(page).right])
        bench.press(Qt.Key.Key_Right)
    assert board_of(page).quiz.at == len(board_of(page).quiz.questions) - 1
    assert asked(page).row == 0


def test_what_was_answered_of_a_row_is_not_asked_again_where_one_comes_back(bench: Bench) -> None:
    bench.engine.real = True
    page = bench.show("random")
    page.choose_mode("predict")
    bench.press(KEYS[asked(page).right])
    page.seek(len(page.story.timeline.steps) // 2 if page.story else 0)
    bench.press(KEYS[asked(page).right])
    page.seek(0)
    assert board_of(page).quiz.answered == asked(page).right
    bench.press(KEYS[asked(page).right])
    assert board_of(page).tally.text() == "2 of 2 right"


def test_rows_under_a_causal_mask_whose_first_meets_one_tile_are_asked_about_where_one_goes(
    bench: Bench,
) -> None:
    bench.engine.real = True
    page = bench.show("causal")
    page.choose_mode("predict")
    assert [one.kind for one in board_of(page).quiz.questions] == ["bytes"]
    page.seek(at(page) // 2)
    assert asked(page).row == page.transport.row.value() > 0
    assert asked(page).kind != "bytes"


def test_letters_grow_where_a_board_has_the_room(bench: Bench) -> None:
    bench.engine.real = True
    page = bench.show("random")
    page.choose_mode("predict")
    small = board_of(page).asks.sizeHint().height()
    page.resize(2400, 1400)
    bench.qtbot.wait(0)
    assert board_of(page).asks.sizeHint().height() > small


def test_another_row_is_asked_about_when_it_is_watched(bench: Bench) -> None:
    bench.engine.real = True
    page = bench.show("random")
    page.choose_mode("predict")
    assert asked(page).row == 0
    page.transport.row.setValue(5)
    assert asked(page).row == 5


def test_own_scores_are_asked_about(asking: Bench) -> None:
    page = asking.page
    page.show_trace(record(score_row((0.0, 1.0, 4.0, 2.0), (1.0, 2.0, 3.0, 4.0), 2)))
    assert "4.000, 2.000" in page.words()


def test_what_cannot_be_asked_is_told(asking: Bench) -> None:
    page = asking.page
    page.show_trace(record(own(Options(seqlen=1, head_dim=1))))
    board = board_of(page)
    if board.quiz.question is None:
        assert NO_ROW in page.words()
    page.show_trace(record(replace(own(Options(seqlen=16)), fault="no-rescale")))
    assert BROKEN_TRACE in page.words()
    asking.press(Qt.Key.Key_1)
    assert board.score.asked == 0


def test_a_digit_in_another_mode_says_where_questions_are(bench: Bench) -> None:
    page = bench.show("random")
    with bench.qtbot.waitSignal(page.noticed) as told:
        bench.press(Qt.Key.Key_2)
    assert told.args == [NO_QUESTION]


def test_on_a_stage_the_question_stands_alone_and_a_key_reveals(asking: Bench) -> None:
    page, board = asking.page, board_of(asking.page)
    page.staging.show_stop(Stop("stepper", mode="predict"))
    assert page.staging.exhibits == [board._card]
    assert page.staging.sentence == "Question 1 of 4: nothing answered yet."
    asking.press(KEYS[asked(page).right])
    assert page.staging.sentence == "Question 1 of 4: 1 of 1 right."
    page.staging.leave()
    assert page.staging.exhibits == [*board.cards]
