"""A trace beside the same one with a fault: where it leaves the truth, judged as kernels are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.app.stepper.comparison import FaultComparison, on_cpu
from flashscope.app.stepper.lesson import at_the_end, hidden, of_all, of_row, rescaled
from flashscope.app.stepper.numbers import plain
from flashscope.app.stepper.presets import PRESETS, SLIDE_SCORES, SLIDE_VALUES, Options, own, score_row
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.rescales import Rescales, rescales, rescales_of_row
from flashscope.app.stepper.step_view import SteppedTrace
from flashscope.app.stepper.truth import Truth, answer
from flashscope.app.words.inside.faults import WORDS
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from flashscope.kernels.workload.trace import FAULTS, HEADROOM, Array, Fault, LoopOrder, TraceRequest
from tests.kernels.masked import kept
from tests.matrix import chosen

each_fault = pytest.mark.parametrize("fault", FAULTS)


@st.composite
def requests(draw: st.DrawFn) -> TraceRequest:
    """Ragged and causal problems, in both loop orders, of scores that may be large."""
    problem = Problem(
        seqlen_q=draw(st.integers(1, 21)),
        seqlen_k=draw(st.integers(1, 21)),
        head_dim=draw(st.integers(1, 8)),
        causal=draw(st.booleans()),
        scale=draw(st.sampled_from([None, 1.0, 8.0])),
        seed=draw(st.integers(0, 99)),
    )
    return TraceRequest(
        problem=problem,
        order=draw(st.sampled_from(["flash1", "flash2"])),
        block_q=draw(st.integers(1, 8)),
        block_k=draw(st.integers(1, 8)),
        reverse=draw(st.booleans()),
        fault=draw(st.sampled_from(FAULTS)),
    )


def compared(request: TraceRequest) -> FaultComparison:
    right = SteppedTrace.of(Recording.of(record(replace(request, fault=""))))
    return FaultComparison.of(right, record(request))


def preset(key: str, fault: Fault) -> FaultComparison:
    made = next(one for one in PRESETS if one.key == key)
    return compared(replace(made.make("cpu", made.order), fault=fault))


def judged_by_hand(request: TraceRequest, pair: FaultComparison, row: int) -> list[bool]:
    """Whether the faulty answer passes after each tile of a row: the problem of the keys so far, verified."""
    trace, problem = pair.broken.recording.trace, request.problem
    q, k, v = (array.numpy() for array in (trace.q, trace.k, trace.v))
    pairs, seen, passed = kept(problem), [], []
    i, local = divmod(row, request.block_q)
    for t, (block, j) in enumerate(trace.tile.numpy().tolist()):
        if block != i:
            continue
        keys = range(j * request.block_k, min((j + 1) * request.block_k, problem.seqlen_k))
        seen += [key for key in keys if pairs[row, key]]
        m, l, o = (array.numpy()[t, local] for array in (trace.m, trace.l, trace.o))
        divided = request.order == "flash1" or request.fault == "softmax-per-tile"
        with np.errstate(all="ignore"):
            output = o.astype(np.float64) if divided or not l else o.astype(np.float64) / l
            lse = m + np.log(l) if l else -np.inf
            if not seen:
                passed.append(bool((output == 0).all() and np.isneginf(lse)))
                continue
            one = Problem(
                seqlen_q=1, seqlen_k=len(seen), head_dim=problem.head_dim, scale=problem.softmax_scale
            )
            inputs = Inputs(q[None, None, row : row + 1], k[seen][None, None], v[seen][None, None])
            found = output[None, None, None].astype(np.float32), np.full((1, 1, 1), lse, np.float32)
            passed.append(verify(one, inputs, *found).passed)
    return passed


@pytest.mark.matrix
@settings(deadline=None, max_examples=60)
@given(requests())
def test_the_first_wrong_tile_of_each_row_is_the_first_that_verification_refuses(
    request: TraceRequest,
) -> None:
    pair = compared(request)
    for row in range(request.problem.seqlen_q):
        passed = judged_by_hand(request, pair, row)
        found = pair.row(row)
        assert [one.passed for one in found.broken] == passed
        wrong = found.first_wrong
        assert (None if wrong is None else int(np.searchsorted(found.tiles, wrong.t))) == (
            passed.index(False) if False in passed else None
        )


@pytest.mark.matrix
@settings(deadline=None, max_examples=60)
@given(requests())
def test_the_first_of_all_is_the_earliest_tile_of_a_row_that_ends_wrong(request: TraceRequest) -> None:
    pair = compared(request)
    firsts = [pair.row(row).first_wrong for row in pair.refused.tolist()]
    expected = min(((one.t, one.row) for one in firsts if one is not None), default=None)
    found = pair.first_wrong
    assert (None if found is None else (found.t, found.row)) == expected


@pytest.mark.matrix
@settings(deadline=None, max_examples=100)
@given(requests())
def test_the_right_answer_is_the_truth_at_every_tile(request: TraceRequest) -> None:
    pair = compared(request)
    assert pair.truth.verdict(pair.right.recording).passed
    assert not len(pair.truth.refused(pair.right.recording))
    for row in range(request.problem.seqlen_q):
        assert all(one.passed for one in pair.row(row).right)


@settings(deadline=None, max_examples=60)
@given(requests())
def test_a_faults_verdict_is_that_of_the_check_of_kernels(request: TraceRequest) -> None:
    pair = compared(request)
    trace = pair.broken.recording.trace
    inputs = Inputs(*(array.numpy()[None, None] for array in (trace.q, trace.k, trace.v)))
    output, lse = (array.numpy()[None, None] for array in (trace.output, trace.lse))
    with np.errstate(all="ignore"):
        expected = verify(request.problem, inputs, output, lse)
    assert str(pair.verdict) == str(expected)  # NaN is no NaN's equal
    if len(pair.refused):
        assert not pair.verdict.passed


@settings(deadline=None, max_examples=60)
@given(requests())
def test_a_row_that_is_refused_in_the_end_has_a_wrong_tile(request: TraceRequest) -> None:
    pair = compared(request)
    for row in pair.refused.tolist():
        tiles = pair.row(row)
        assert tiles.first_wrong is not None or not len(tiles.tiles)


@chosen("key", ["random", "causal", "rising", "one-hot", "masked-rows"], {"causal", "rising"})
@pytest.mark.parametrize("fault", ["no-rescale", "softmax-per-tile", "stale-keys", "float16-accumulators"])
def test_the_rows_that_are_refused_are_those_that_end_beyond_their_bound(key: str, fault: Fault) -> None:
    pair = preset(key, fault)
    rows = [pair.row(row) for row in range(pair.right.recording.seqlen_q)]
    ended_wrong = [row.row for row in rows if row.broken and not row.broken[-1].passed]
    assert pair.refused.tolist() == ended_wrong


def brute_rescales(scores: list[list[float]]) -> Rescales:
    always = raised = lazy = 0
    m = held = -np.inf
    for tile in scores:
        top = max(tile)
        if np.isfinite(m):
            always += 1
            raised += top > m
            if top > held + HEADROOM:
                lazy, held = lazy + 1, top
        else:
            held = top
        m = max(m, top)
    return Rescales(always, int(raised), lazy)


@settings(deadline=None, max_examples=60)
@given(requests())
def test_rescales_are_counted_row_by_row_and_add_up(request: TraceRequest) -> None:
    right = Recording.of(record(replace(request, fault="")))
    total = Rescales(0, 0, 0)
    for row in range(right.seqlen_q):
        i, local = divmod(row, right.block_q)
        tiles = [right.s[t, local].tolist() for t in np.flatnonzero(right.tile[:, 0] == i)]
        expected = brute_rescales(tiles)
        assert rescales_of_row(right, row) == expected
        total += expected
    assert rescales(right) == total


def test_with_headroom_m_follows_seldom_and_by_more_than_8_ln_2() -> None:
    scores = (0.0, 3.0, 5.0, 5.6, 11.0, 20.0)  # 5.6 is above 8 ln 2 = 5.545 of 0
    right = Recording.of(record(score_row(scores, (1.0,) * 6, 1)))
    assert rescales(right) == Rescales(always=5, raised=5, lazy=2)


def test_forgetting_the_rescale_is_right_on_falling_maxima_and_wrong_on_rising_ones() -> None:
    falling, rising = preset("falling", "no-rescale"), preset("rising", "no-rescale")
    assert falling.verdict.passed
    assert falling.first_wrong is None
    assert falling.rescales.raised == 0
    assert "every α is 1" in of_all(falling)
    assert len(rising.refused) == 32
    first = rising.first_wrong
    assert first is not None
    assert rising.right.recording.at(first.t) == (0, 1)
    assert rising.rescales.raised == rising.rescales.always == 96


SHOWN = {
    ("random", "no-rescale"): True,
    ("random", "no-maximum"): False,
    ("overflow", "no-maximum"): True,
    ("huge", "no-maximum"): True,
    ("rising", "no-maximum"): False,
    ("falling", "softmax-per-tile"): True,
    ("sink", "no-rescale"): False,
    ("one-hot", "no-rescale"): True,
    ("one-hot", "no-maximum"): False,
    ("huge", "float16-accumulators"): False,
    ("random", "float16-accumulators"): True,
    ("random", "diagonal-masked"): False,
    ("causal", "diagonal-masked"): True,
    ("causal", "key-beyond-diagonal"): True,
    ("masked-rows", "key-beyond-diagonal"): True,
    ("masked-rows", "no-maximum"): False,
    ("random", "stale-keys"): True,
}


@pytest.mark.parametrize(("key", "fault", "shows"), [(*pair, shows) for pair, shows in SHOWN.items()])
def test_a_fault_shows_on_some_inputs_and_not_on_others(key: str, fault: Fault, shows: bool) -> None:
    pair = preset(key, fault)
    assert pair.verdict.passed is not shows
    assert ("does not show" in of_all(pair)) is not shows
    assert ("refuses" in at_the_end(pair)) is shows


def test_the_sentences_have_the_numbers_of_the_traces() -> None:
    pair = compared(replace(score_row(SLIDE_SCORES, SLIDE_VALUES, 2, reverse=True), fault="no-rescale"))
    off = abs(float(pair.broken.recording.output[0, 0]) - float(pair.right.recording.exact[0, 0]))
    wrong = pair.row(0).first_wrong
    assert wrong is not None
    assert wrong.judged.error == pytest.approx(off, rel=1e-6)
    assert plain(of_row(pair, 0)).startswith(
        f"Row 0 leaves the truth at tile 2 of 2 (i = 0, j = 0): O is off by {off:.3f} where "
    )
    assert at_the_end(pair).startswith(
        f"max |O − exact| = {off:.3f} over 1 row: the check of kernels refuses it"
    )
    assert rescaled(pair.rescales_of(0), "Row 0") == (
        "Row 0: old sums are multiplied 1× if at every tile, 1× if only where m rises, "
        "0× with flash3’s headroom of 8 ln 2."
    )


def test_a_row_without_keys_is_told_as_such() -> None:
    pair = preset("masked-rows", "key-beyond-diagonal")
    assert of_row(pair, 0) == "Row 0 meets no tile: all its keys are masked, and O = 0 is right."
    assert 11 in pair.refused.tolist()  # the first that sees a key which it must not see
    assert 0 not in pair.refused.tolist()


@each_fault
def test_why_a_fault_does_not_show_is_told_for_every_fault(fault: Fault) -> None:
    one_key = score_row((1.0,), (2.0,), 1)
    assert hidden(compared(replace(one_key, fault=fault))).startswith("This input does not show the fault: ")


def test_every_fault_has_words_of_its_own() -> None:
    assert tuple(WORDS) == FAULTS
    assert len({words.title for words in WORDS.values()}) == len(FAULTS)


@pytest.mark.parametrize("order", ["flash1", "flash2"])
def test_an_answer_so_far_is_divided_by_l_where_it_is_not_yet(order: LoopOrder) -> None:
    right = Recording.of(record(score_row(SLIDE_SCORES, SLIDE_VALUES, 2, order=order)))
    output, lse = answer(right, 0, 0)
    np.testing.assert_allclose(output, (1 * np.exp(-2) + 2) / (1 + np.exp(-2)), rtol=1e-6)
    np.testing.assert_allclose(lse, 3 + np.log(1 + np.exp(-2)), rtol=1e-6)


def test_what_a_gpu_traced_is_computed_again_on_the_same_inputs() -> None:
    request = own(Options(seqlen=8, head_dim=4))
    trace = record(request)
    on_gpu = replace(
        trace,
        request=replace(
            request, backend="cuda", kernel="flash2", problem=replace(request.problem, dtype="float16")
        ),
    )
    again = on_cpu(on_gpu)
    assert (again.backend, again.kernel, again.problem.dtype) == ("cpu", "", "float32")
    assert again.inputs == (trace.q, trace.k, trace.v)
    np.testing.assert_array_equal(record(again).output.numpy(), trace.output.numpy())
    assert on_cpu(replace(trace, request=replace(request, fault="no-rescale"))) == request


def test_nothing_that_is_no_number_passes() -> None:
    right = Recording.of(record(score_row(SLIDE_SCORES, SLIDE_VALUES, 2)))
    truth = Truth(right)
    assert not truth.judge(0, 1, (np.array([np.nan]), 1.0)).passed
    assert not truth.judge(0, 1, (answer(right, 0, 0)[0], np.inf)).passed


def test_shaped_presets_have_their_shapes() -> None:
    made = {one.key: Recording.of(record(one.make("cpu", one.order))) for one in PRESETS}
    assert rescales(made["falling"]).raised == rescales(made["sink"]).raised == 0
    rising = rescales(made["rising"])
    assert rising.raised == rising.always
    assert made["huge"].score_limit > 9_000
    seen = np.isfinite(made["masked-rows"].trace.lse.numpy())
    assert seen.tolist() == [False] * 12 + [True] * 24
    hot = made["one-hot"]
    np.testing.assert_allclose(hot.exact[:, 0], hot.trace.v.numpy()[_hottest(hot.trace.q), 0], atol=1e-5)
    assert (_weights_of(made["sink"])[:, 0] > 0.9).all()


def _hottest(q: Array) -> list[int]:
    return [int(place) for place in q.numpy().argmax(axis=1)]


def _weights_of(recording: Recording) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    q, k = (array.numpy().astype(np.float64) for array in (recording.trace.q, recording.trace.k))
    s = q @ k.T
    p = np.exp(s - s.max(axis=1, keepdims=True))
    weights: np.ndarray[tuple[int, int], np.dtype[np.float64]] = p / p.sum(axis=1, keepdims=True)
    return weights
