"""Steps of traces with keys in parts, packed heads and pages: walked back and forth, merged, and named."""

from dataclasses import astuple

import msgspec
import numpy as np
import pytest

from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.cursor import Cursor
from flashscope.app.stepper.formulas import formulas
from flashscope.app.stepper.merging import addition_words, merge_terms
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import SteppedTrace, StepView
from flashscope.app.words.inside.tracing import key_words, page_words, row_words, share_words, trace_words
from flashscope.kernels.workload.layout import page_table
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.store.blobs.traces import decode_trace
from tests.app.stepper.shared_traces import FEW_ROWS, shared_trace

STORY = SteppedTrace.of(Recording.of(shared_trace()))


def view_at(story: SteppedTrace, at: int, row: int = 0) -> StepView:
    return StepView(story, Cursor(story.timeline).to(at), RowChoice(row, follow=False))


def state_bits(view: StepView) -> tuple[bytes, ...]:
    return tuple(np.asarray(array).tobytes() for array in astuple(view.state))


def test_as_many_steps_back_as_forward_restore_every_state() -> None:
    last = len(STORY.timeline.steps) - 1
    forward = [state_bits(view_at(STORY, at)) for at in range(last + 1)]
    cursor = Cursor(STORY.timeline).to(last)
    for at in reversed(range(last + 1)):
        assert state_bits(StepView(STORY, cursor, RowChoice(0, follow=False))) == forward[at]
        cursor = cursor.moved(-1)


def test_each_part_begins_in_the_empty_state_and_walks_its_own_keys_downwards() -> None:
    recording = STORY.recording
    for i in range(recording.blocks_q):
        ran = np.flatnonzero(recording.tile[:, 0] == i)
        assert (np.diff(recording.part[ran]) >= 0).all()
        for part in range(recording.splits):
            own = ran[recording.part[ran] == part]
            assert (np.diff(recording.tile[own, 1]) == -1).all()
            assert recording.previous[own].tolist() == [-1, *own[:-1]]
            assert recording.last[own].tolist() == [False] * (len(own) - 1) + [True]


def test_all_tiles_have_ended_when_the_merge_begins() -> None:
    ends, steps = STORY.timeline.tile_ends, STORY.timeline.steps
    assert [steps[at].tile for at in ends[: STORY.recording.tiles]] == [*range(STORY.recording.tiles)]
    assert all(steps[at].merges for at in ends[STORY.recording.tiles :])
    assert len(ends) == STORY.recording.tiles + STORY.recording.blocks_q


@pytest.mark.parametrize("splits", [2, 4, 11])
def test_the_merge_ends_with_what_the_kernel_returns(splits: int) -> None:
    story = SteppedTrace.of(Recording.of(shared_trace(splits=splits)))
    trace, merges = story.recording.trace, [step for step in story.timeline.steps if step.merges]
    assert len(merges) == (splits + 7) * story.recording.blocks_q
    for row in range(story.recording.seqlen_q):
        i, local = divmod(row, story.recording.block_q)
        at = max(at for at, step in enumerate(story.timeline.steps) if step.merges and step.i == i)
        terms = merge_terms(view_at(story, at, row), local)
        assert terms.result == pytest.approx(float(trace.exact_output.numpy()[row, 0]), abs=1e-6)


def test_the_shares_of_the_parts_add_up_to_one() -> None:
    firsts = [at for at, step in enumerate(STORY.timeline.steps) if step.merges and step.i == 0]
    added = [view_at(STORY, at) for at in firsts[: STORY.recording.splits]]
    assert sum(merge_terms(view, 0).share for view in added) == pytest.approx(1, abs=1e-6)


def test_a_rows_output_so_far_is_that_of_all_parts_up_to_it() -> None:
    for row in range(STORY.recording.seqlen_q):
        history = STORY.history(row)
        assert history.o[-1] == pytest.approx(history.exact, abs=1e-6)
        assert history.starts.sum() == len(set(STORY.recording.part[history.tiles].tolist()))


def test_an_addition_is_told_in_symbols_and_with_its_numbers() -> None:
    at = next(at for at, step in enumerate(STORY.timeline.steps) if step.merges)
    view = view_at(STORY, at)
    assert addition_words(STORY.recording, 0) == "part 0 added to sum 0"
    assert addition_words(STORY.recording, 4) == "sum 1 added to sum 0"
    assert all(formula.active and formula.numbers for formula in formulas(view))
    assert view.scores is None
    assert "O</o> = " not in formulas(view)[-1].symbols
    assert formulas(view_at(STORY, len(STORY.timeline.steps) - 1, 5))[-1].symbols.startswith("<o>O</o>")


def test_rows_are_named_by_their_head_and_keys_by_their_page() -> None:
    trace = STORY.recording.trace
    assert row_words(trace.request, 4) == "head 3, query 1"
    assert share_words(trace.request) == "heads 2 to 3 of 4, sequence 1 of 2, keys in 4 parts"
    assert "heads 2 to 3 of 4" in trace_words(trace.request)
    table = page_table(FEW_ROWS)[1]
    assert page_words(trace, 2) == f"page {table[1]}"
    assert key_words(trace, 33) == f"33 in page {table[2]}"
    wide = shared_trace(block=(4, 32))
    assert page_words(wide, 0) == f"pages {table[0]}, {table[1]}"


def in_8_bits(twice: bool) -> SteppedTrace:
    """A trace of flash3-fp8 in which no tile, or every one, is computed again."""
    problem = Problem(seqlen_q=10, seqlen_k=20, head_dim=8, dtype="float16")
    trace = shared_trace(problem, splits=1, packed=1, head=0)
    asked = msgspec.structs.replace(trace.request, kernel="flash3-fp8")
    flags = Array.of(np.full(trace.m.shape, twice, np.uint8))
    return SteppedTrace.of(Recording.of(msgspec.structs.replace(trace, request=asked, twice=flags)))


@pytest.mark.parametrize("twice", [False, True])
def test_in_8_bits_the_formula_says_whether_the_weights_overflow(twice: bool) -> None:
    story = in_8_bits(twice)
    at = story.timeline.maxima[1]
    first = formulas(view_at(story, at))[0]
    assert first.numbers.startswith("P overflows: max(") == twice
    assert "if P overflows" in first.symbols
    assert not story.recording.plain


def test_in_8_bits_tiles_load_half_as_much_and_a_first_launch_rounds() -> None:
    story = in_8_bits(twice=False)
    elements = 10 * 8 + 20 * 8 + 20 * 8
    assert (story.traffic[0].read, story.traffic[0].written) == (2 * elements, elements)
    load = story.timeline.steps[1]
    assert load.phase == "load"
    assert story.traffic[1].read - story.traffic[0].read == 4 * 8 + 2 * (20 % 8) * 8


def test_one_head_of_many_in_one_part_is_stepped_through_as_one_alone() -> None:
    problem = Problem(seqlen_q=10, seqlen_k=20, heads=3, head_dim=8, batch=2, causal=True)
    trace = shared_trace(problem, splits=1, packed=1, head=4)
    assert trace.merge_m is None
    assert not any(step.merges for step in SteppedTrace.of(Recording.of(trace)).timeline.steps)
    assert row_words(trace.request, 4) == "row 4"
    assert trace_words(trace.request).endswith("causal, head 1 of 3, sequence 1 of 2")


def test_a_file_keeps_all_of_it_and_parts_without_their_merge_are_none() -> None:
    trace = shared_trace()
    assert decode_trace(msgspec.msgpack.encode(trace)) == trace
    for missing in ("merge_m", "merge_o"):
        with pytest.raises(ValueError, match="4 parts of keys with 0 additions"):
            decode_trace(msgspec.msgpack.encode(msgspec.structs.replace(trace, **{missing: None})))
