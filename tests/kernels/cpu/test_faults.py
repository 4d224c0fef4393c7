"""A trace with a fault computes that fault: as an independent float64 replay does, on the same inputs."""

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.cpu.flash1 import absorb_normalised
from flashscope.kernels.cpu.tiles import ForwardTile, absorb, normalise, scores
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.launching import tracing
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import FAULTS, Array, Fault, LoopOrder, Trace, TraceRequest
from tests.kernels.cpu.replay import Replay
from tests.kernels.masked import masked_problems
from tests.matrix import in_rounds

ARRAYS = tuple(name for name, kind in Trace.__annotations__.items() if "Array" in str(kind))
each_order = pytest.mark.parametrize("order", ["flash1", "flash2"])


def one_head(problem: Problem) -> Problem:
    return replace(problem, batch=1, heads=1, kv_heads=None, head_dim=1 + problem.seed % 9)


requests = st.builds(
    TraceRequest,
    problem=masked_problems(longest=23).map(one_head),
    order=st.sampled_from(["flash1", "flash2"]),
    block_q=st.integers(1, 9),
    block_k=st.integers(1, 9),
    reverse=st.booleans(),
    fault=st.sampled_from(FAULTS),
)


def bytes_of(trace: Trace) -> dict[str, bytes]:
    held = {name: getattr(trace, name) for name in ARRAYS}
    return {name: array.data for name, array in held.items() if array is not None}


def row_of_scores(
    *row: float, block: int, fault: Fault, order: LoopOrder = "flash2", reverse: bool = False
) -> Trace:
    columns = ([1.0], row, range(1, len(row) + 1))
    q, k, v = (Array.of(np.array(column, np.float32)[:, None]) for column in columns)
    problem = Problem(seqlen_q=1, seqlen_k=len(row), head_dim=1, scale=1.0)
    return record(
        TraceRequest(
            problem=problem,
            order=order,
            block_q=1,
            block_k=block,
            reverse=reverse,
            inputs=(q, k, v),
            fault=fault,
        )
    )


@in_rounds(4)
@settings(max_examples=50, deadline=None)
@given(requests)
def test_each_faults_trace_is_what_the_replay_of_that_fault_gives(turn: int, request: TraceRequest) -> None:
    trace = record(request)
    replay = Replay(trace)
    loose = 4e-3 if request.fault == "float16-accumulators" else 1e-4
    m, l, o = (array.numpy() for array in (trace.m, trace.l, trace.o))
    for after in replay.walk():
        place = after.t, after.row % request.block_q
        np.testing.assert_allclose(m[place], after.m, atol=1e-5)
        np.testing.assert_allclose(l[place], after.l, rtol=loose, atol=1e-6)
        np.testing.assert_allclose(o[place], after.o, rtol=loose, atol=loose * (1 + after.l))
    for row in range(request.problem.seqlen_q):
        output, lse = replay.result(row)
        np.testing.assert_allclose(trace.output.numpy()[row], output, rtol=loose, atol=loose)
        np.testing.assert_allclose(trace.lse.numpy()[row], lse, atol=loose)


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(requests)
def test_inputs_tiles_and_the_exact_answer_are_those_of_the_right_trace(
    turn: int, request: TraceRequest
) -> None:
    faulty, right = record(request), record(replace(request, fault=""))
    for name in ("tile", "q", "k", "v", "exact_output", "exact_lse"):
        assert getattr(faulty, name) == getattr(right, name)


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(requests)
def test_without_a_fault_every_byte_is_that_of_the_kernels_own_steps(
    turn: int, request: TraceRequest
) -> None:
    trace = record(replace(request, fault=""))
    q, k, v = (array.numpy() for array in (trace.q, trace.k, trace.v))
    m, l = np.full(len(q), -np.inf, np.float32), np.zeros(len(q), np.float32)
    o = np.zeros((len(q), v.shape[1]), np.float32)
    br, bc, mask = request.block_q, request.block_k, request.problem.mask
    shapes = ((br, bc), (br, v.shape[1]), (br,), (br,))
    step = {"flash1": absorb_normalised, "flash2": absorb}[request.order]
    for i, j in tracing.visits(request):
        rows, columns = tracing.area(request, i, j)
        tile = ForwardTile(*(np.empty(shape, np.float32) for shape in shapes))
        part = tile.cut(rows.stop - rows.start, columns.stop - columns.start)
        scores(q[rows], k[columns], part.s, request.problem, (rows, columns))
        step((m[rows], l[rows], o[rows]), part, v[columns], mask, (rows, columns))
    if request.order == "flash2":
        normalise(o, l, np.empty_like(l))
    assert trace.output.numpy().tobytes() == o.tobytes()


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(requests)
def test_one_tile_for_all_keys_hides_every_fault_of_the_joining(turn: int, request: TraceRequest) -> None:
    assume(request.fault in {"no-rescale", "softmax-per-tile", "stale-keys"})
    whole = replace(request, block_k=request.problem.seqlen_k)
    right = record(replace(whole, fault=""))
    np.testing.assert_allclose(record(whole).output.numpy(), right.output.numpy(), atol=1e-6)


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(requests)
def test_a_wrong_causal_edge_changes_nothing_without_causal(turn: int, request: TraceRequest) -> None:
    plain = replace(request, problem=replace(request.problem, causal=False), fault="")
    expected = bytes_of(record(plain))
    for fault in ("diagonal-masked", "key-beyond-diagonal"):
        assert bytes_of(record(replace(plain, fault=fault))) == expected


@each_order
def test_forgetting_the_rescale_shows_where_the_maximum_rises_alone(
    order: LoopOrder,
) -> None:
    rising = row_of_scores(0.5, 2, 3, 1, block=2, fault="no-rescale", order=order)
    falling = row_of_scores(3, 1, 0.5, 2, block=2, fault="no-rescale", order=order)
    weights = np.array([np.exp(0.5 - 2), 1, 1, np.exp(1 - 3)])  # the old ones as they were
    np.testing.assert_allclose(rising.output.numpy()[0, 0], weights @ [1, 2, 3, 4] / weights.sum(), rtol=1e-6)
    assert abs(rising.output.numpy() - rising.exact_output.numpy()).max() > 0.1
    np.testing.assert_allclose(falling.output.numpy(), falling.exact_output.numpy(), rtol=1e-6)


@each_order
def test_without_a_maximum_large_scores_are_no_numbers_and_low_ones_vanish(order: LoopOrder) -> None:
    high = row_of_scores(1, 2, 89, 90, block=2, fault="no-maximum", order=order)
    low = row_of_scores(-120, -121, -119, -130, block=2, fault="no-maximum", order=order)
    small = row_of_scores(1, 2, 3, 4, block=2, fault="no-maximum", order=order)
    assert np.isnan(high.output.numpy()).all()
    assert (low.output.numpy() == 0).all()
    assert np.isneginf(low.lse.numpy()).all()
    np.testing.assert_allclose(small.output.numpy(), small.exact_output.numpy(), rtol=1e-6)
    np.testing.assert_allclose(small.m.numpy(), 0)


@each_order
def test_softmaxes_of_tiles_sum_to_the_slides_number(order: LoopOrder) -> None:
    trace = row_of_scores(1, 3, 2, 0.5, block=2, fault="softmax-per-tile", order=order)
    np.testing.assert_allclose(trace.output.numpy()[0, 0], 5.063, atol=5e-4)


def test_a_missing_barrier_reads_half_of_a_tile_from_the_tile_before() -> None:
    trace = row_of_scores(1, 3, 2, 0.5, block=2, fault="stale-keys")
    np.testing.assert_allclose(trace.s.numpy()[:, 0], [[1, 3], [2, 3]])


def test_a_missing_barrier_reads_zeros_where_the_tile_before_was_shorter() -> None:
    trace = row_of_scores(1, 3, 2, 4, 5, block=4, fault="stale-keys", reverse=True)
    np.testing.assert_allclose(trace.s.numpy()[1, 0], [1, 3, 0, 0])


def test_sums_in_float16_are_float16_numbers() -> None:
    trace = record(TraceRequest(problem=Problem(seqlen_q=20, seqlen_k=20), fault="float16-accumulators"))
    for held in (trace.l.numpy(), trace.o.numpy()):
        assert (held == held.astype(np.float16)).all()


@pytest.mark.parametrize("fault", FAULTS)
def test_the_source_names_the_fault(fault: Fault) -> None:
    request = TraceRequest(problem=Problem(seqlen_q=4, seqlen_k=4), fault=fault)
    assert fault in record(request).source


def test_a_gpu_traces_no_fault() -> None:
    request = TraceRequest(problem=Problem(seqlen_q=4, seqlen_k=4), backend="cuda", fault="no-rescale")
    with pytest.raises(UnsupportedError, match="on the CPU alone"):
        tracing.check_traceable(request)


def test_what_was_written_before_faults_is_a_trace_without_one() -> None:
    trace = row_of_scores(1, 3, 2, 0.5, block=2, fault="")
    old = msgspec.msgpack.decode(msgspec.msgpack.encode(trace))
    del old["request"]["fault"]
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(old), type=Trace)
    assert again == trace
    assert not again.request.fault
