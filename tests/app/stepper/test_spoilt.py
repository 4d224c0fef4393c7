"""Whatever values a trace holds, each step is worked out from them without a warning."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.comparison import FaultComparison
from flashscope.app.stepper.cursor import Cursor
from flashscope.app.stepper.formulas import formulas
from flashscope.app.stepper.lesson import at_the_end, of_all, of_row, rescaled
from flashscope.app.stepper.quiz import questions
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import SteppedTrace, StepView
from flashscope.kernels.workload.trace import FAULTS, Fault, Trace
from tests.app.stepper.strategies import spoilt_traces


@pytest.mark.matrix
@settings(max_examples=60)
@given(trace=spoilt_traces(), row=st.integers(0, 7), local_max=st.booleans())
def test_every_step_of_a_trace_of_any_values_is_worked_out(trace: Trace, row: int, local_max: bool) -> None:
    story = SteppedTrace.of(Recording.of(trace))
    assert story.events(RowChoice(row, follow=True), 0.5) is not None
    assert story.recording.max_error is not None
    assert story.recording.weight_limit > 0
    assert story.recording.score_limit >= 0
    start = Cursor(story.timeline)
    for at in range(start.last + 1):
        view = StepView(story, start.to(at), RowChoice(row, follow=True), local_max)
        assert view.history.row == row or view.row != row
        assert len(view.state.m) == len(view.before.m)
        if view.started:
            assert view.weights is None or view.weights.shape == view.recording.scores(view.step.tile).shape
            assert all(formula.symbols for formula in formulas(view))


@pytest.mark.matrix
@settings(max_examples=60, deadline=None)
@given(right=spoilt_traces(), wrong=spoilt_traces(), row=st.integers(0, 7), fault=st.sampled_from(FAULTS))
def test_traces_of_any_values_are_compared(right: Trace, wrong: Trace, row: int, fault: Fault) -> None:
    broken = replace(wrong, request=replace(right.request, fault=fault), tile=right.tile)
    pair = FaultComparison.of(SteppedTrace.of(Recording.of(right)), broken)
    assert of_row(pair, row)
    assert at_the_end(pair)
    assert isinstance(of_all(pair), str)
    assert rescaled(pair.rescales, "All rows")


@settings(max_examples=60, deadline=None)
@given(trace=spoilt_traces(), row=st.integers(0, 7))
def test_a_trace_of_any_values_is_asked_about_or_not(trace: Trace, row: int) -> None:
    for asked in questions(SteppedTrace.of(Recording.of(trace)), row):
        assert len(set(asked.choices)) == len(asked.choices)
