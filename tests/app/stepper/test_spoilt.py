"""Whatever values a trace holds, each step is worked out from them without a warning."""

from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.cursor import Cursor
from flashscope.app.stepper.formulas import formulas
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import SteppedTrace, StepView
from flashscope.kernels.workload.trace import Trace
from tests.app.stepper.strategies import spoilt_traces


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
