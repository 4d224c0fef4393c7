"""Questions about the next value: one choice is right, and what is shown tells which."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.app.stepper.numbers import number
from flashscope.app.stepper.presets import PRESETS, SLIDE_SCORES, SLIDE_VALUES, score_row
from flashscope.app.stepper.quiz import Question, Quiz, Score, questions
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import SteppedTrace
from flashscope.app.stepper.traffic import standard_bytes
from flashscope.app.words.units import traffic_text
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.workload.trace import TraceRequest
from tests.app.stepper.test_comparison import requests

right_requests = requests().map(lambda one: replace(one, fault=""))


def story_of(request: TraceRequest) -> SteppedTrace:
    return SteppedTrace.of(Recording.of(record(request)))


def slide(*, reverse: bool) -> tuple[Question, ...]:
    return questions(story_of(score_row(SLIDE_SCORES, SLIDE_VALUES, 2, reverse=reverse)), 0)


def true_answer(story: SteppedTrace, asked: Question) -> str:
    """The right choice's text, from the trace itself."""
    recording = story.recording
    t = story.timeline.steps[asked.shown_at].tile
    i, local = divmod(asked.row, recording.block_q)
    mine = np.flatnonzero(recording.tile[:, 0] == i)
    before = int(mine[mine < t][-1]) if (mine < t).any() else -1
    if asked.kind == "rise":
        return "Yes" if recording.m[t, local] > recording.m[before, local] else "No"
    if asked.kind == "alpha":
        return number(float(recording.alpha[t, local]))
    if asked.kind == "sum":
        return number(float(recording.l[t, local]))
    if asked.kind == "bytes":
        return f"{traffic_text(standard_bytes(recording))} against {traffic_text(story.traffic[-1].total)}"
    sums = {}
    for ran in mine[mine <= t]:
        scores = recording.s[ran, local].astype(np.float64)
        sums[int(recording.tile[ran, 1])] = np.exp(scores - float(recording.m[t, local])).sum()
    first, second = (int(re.sub(r"\D", "", choice)) for choice in asked.choices)
    return asked.choices[0 if sums[first] > sums[second] else 1]


@settings(deadline=None, max_examples=80)
@given(right_requests, st.integers(0, 20), st.integers(0, 9))
def test_the_choice_that_is_called_right_is_what_the_trace_has(
    request: TraceRequest, row: int, seed: int
) -> None:
    story = story_of(request)
    for asked in questions(story, row % request.problem.seqlen_q, seed):
        assert asked.choices[asked.right] == true_answer(story, asked)


@settings(deadline=None, max_examples=80)
@given(right_requests, st.integers(0, 20), st.integers(0, 9))
def test_no_two_choices_read_alike_and_there_are_two_or_three(
    request: TraceRequest, row: int, seed: int
) -> None:
    for asked in questions(story_of(request), row % request.problem.seqlen_q, seed):
        assert len(set(asked.choices)) == len(asked.choices)
        assert len(asked.choices) in {2, 3}
        if asked.kind in {"alpha", "sum", "bytes"}:
            assert len(asked.choices) == 3


@settings(deadline=None, max_examples=40)
@given(right_requests, st.integers(0, 20), st.integers(0, 9))
def test_the_same_trace_row_and_seed_ask_the_same(request: TraceRequest, row: int, seed: int) -> None:
    row %= request.problem.seqlen_q
    assert questions(story_of(request), row, seed) == questions(story_of(request), row, seed)


@settings(deadline=None, max_examples=40)
@given(right_requests, st.integers(0, 20))
def test_a_question_is_asked_where_its_answer_is_not_known_yet(request: TraceRequest, row: int) -> None:
    story = story_of(request)
    asked = questions(story, row % request.problem.seqlen_q)
    for one in asked:
        before, after = (story.timeline.steps[at] for at in (one.at, one.shown_at))
        assert one.at <= one.shown_at
        if one.kind in {"rise", "alpha"}:
            assert not before.reached("maximum")
            assert after.reached("maximum")
        if one.kind == "sum":
            assert not before.reached("weights")
            assert after.reached("weights")
    assert [one.at for one in asked] == sorted(one.at for one in asked)


def test_the_slide_reversed_asks_for_its_own_numbers() -> None:
    rise, alpha, total, _ = slide(reverse=True)
    assert rise.choices[rise.right] == "Yes"
    assert alpha.choices[alpha.right] == "0.368"
    assert "2.718" in alpha.choices  # inverted
    assert total.choices[total.right] == "1.585"
    assert number(1.223 + 1.135) in total.choices  # the rescale forgotten
    assert total.shows.endswith("= 0.368 · 1.223 + 1.135 = 1.585.")


def test_the_slide_as_it_stands_rescales_nothing() -> None:
    rise, alpha, *_ = slide(reverse=False)
    assert rise.choices[rise.right] == "No"
    assert alpha.choices[alpha.right] == "1.000"


def test_whether_the_maximum_rises_is_not_asked_where_what_is_shown_does_not_tell() -> None:
    scores = (2.0, 2.0001)
    assert number(scores[0]) == number(scores[1])
    kinds = [one.kind for one in questions(story_of(score_row(scores, (1.0, 2.0), 1)), 0)]
    assert "rise" not in kinds


def test_a_row_that_meets_one_tile_is_asked_about_bytes_alone() -> None:
    kinds = [one.kind for one in questions(story_of(score_row((1.0, 2.0), (1.0, 2.0), 2)), 0)]
    assert kinds in (["bytes"], [])


@pytest.mark.parametrize("key", [preset.key for preset in PRESETS])
def test_every_preset_asks_something_of_its_last_row(key: str) -> None:
    made = next(one for one in PRESETS if one.key == key)
    story = story_of(made.make("cpu", made.order))
    kinds = {one.kind for one in questions(story, story.recording.seqlen_q - 1)}
    assert {"rise", "bytes"} <= kinds


def test_the_first_answer_counts_and_one_that_there_is_not_is_none() -> None:
    quiz = Quiz(slide(reverse=True))
    assert quiz.answer(2) is quiz  # yes and no are all there is
    answered = quiz.answer(1)
    assert answered.answered == 1
    assert answered.answer(0) is answered


def test_one_goes_on_only_from_a_question_that_is_answered_and_back_from_any() -> None:
    quiz = Quiz(slide(reverse=True))
    assert quiz.moved(1).at == 0
    onward = quiz.answer(0).moved(1)
    assert (onward.at, onward.answered) == (1, None)
    assert (onward.moved(-1).at, onward.moved(-1).answered) == (0, 0)
    assert onward.moved(-9).at == 0


def test_the_last_answer_ends_it() -> None:
    quiz = Quiz(slide(reverse=True))
    for _ in quiz.questions:
        assert not quiz.ended
        quiz = quiz.answer(0).moved(1)
    assert quiz.ended


def test_a_quiz_without_questions_takes_no_answer() -> None:
    empty = Quiz(())
    assert empty.question is None
    assert empty.answer(0) is empty
    assert empty.moved(1).at == 0


def test_the_score_in_words() -> None:
    assert Score().text == "nothing answered yet"
    assert Score(3, 4).text == "3 of 4 right"
