"""The trace: the state after every tile is the state the definition gives for the keys seen so far."""

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.launching import tracing
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import Array, LoopOrder, Trace, TraceRequest
from tests.kernels.masked import kept, masked_problems
from tests.kernels.running import run
from tests.matrix import in_rounds

each_order = pytest.mark.parametrize("order", ["flash1", "flash2"])


def slide(order: LoopOrder, *, reverse: bool = False) -> Trace:
    """The worked example: one query with scores 1, 3, 2, 0.5 and values 1 to 4, two keys a tile."""
    q, k, v = (Array.of(np.array(a)[:, None]) for a in ([1.0], [1.0, 3.0, 2.0, 0.5], [1.0, 2.0, 3.0, 4.0]))
    problem = Problem(seqlen_q=1, seqlen_k=4, head_dim=1, scale=1.0)
    return record(
        TraceRequest(problem=problem, order=order, block_q=1, block_k=2, reverse=reverse, inputs=(q, k, v))
    )


def column(array: Array) -> Any:
    return array.numpy().ravel()


@each_order
def test_the_slide_example_has_the_slides_numbers(order: LoopOrder) -> None:
    trace = slide(order)
    np.testing.assert_array_equal(trace.tile.numpy(), [[0, 0], [0, 1]])
    np.testing.assert_allclose(column(trace.s), [1, 3, 2, 0.5], rtol=1e-6)
    np.testing.assert_allclose(column(trace.m), [3, 3])
    np.testing.assert_allclose(column(trace.l), [1.135, 1.585], atol=5e-4)
    np.testing.assert_allclose(column(trace.alpha), [0, 1], atol=1e-7)
    np.testing.assert_allclose(column(trace.output), [2.250], atol=5e-4)
    np.testing.assert_allclose(column(trace.output), column(trace.exact_output), atol=1e-6)
    np.testing.assert_allclose(column(trace.lse), column(trace.exact_lse), atol=1e-6)


@each_order
def test_walking_the_slide_backwards_raises_m_and_shrinks_the_old_sum(order: LoopOrder) -> None:
    trace = slide(order, reverse=True)
    np.testing.assert_array_equal(trace.tile.numpy(), [[0, 1], [0, 0]])
    np.testing.assert_allclose(column(trace.m), [2, 3])
    np.testing.assert_allclose(column(trace.l), [1.223, 1.585], atol=5e-4)
    np.testing.assert_allclose(column(trace.alpha), [0, 0.368], atol=5e-4)
    np.testing.assert_allclose(column(trace.output), [2.250], atol=5e-4)


def test_flash1_holds_a_normalised_accumulator_and_flash2_does_not() -> None:
    kept = {order: slide(order) for order in ("flash1", "flash2")}
    np.testing.assert_allclose(column(kept["flash1"].o)[-1], 2.250, atol=5e-4)
    np.testing.assert_allclose(column(kept["flash2"].o)[-1], 2.250 * 1.585, atol=2e-3)


def one_head(problem: Problem) -> Problem:
    return msgspec.structs.replace(problem, batch=1, heads=1, kv_heads=None, head_dim=1 + problem.seed % 9)


requests = st.builds(
    TraceRequest,
    problem=masked_problems(longest=23).map(one_head),
    order=st.sampled_from(["flash1", "flash2"]),
    block_q=st.integers(1, 9),
    block_k=st.integers(1, 9),
    reverse=st.booleans(),
)


def expected_state(trace: Trace, row: int, keys: list[int]) -> tuple[float, float, Any]:
    """m, l and O of one row once it has seen these keys, in float64; O as the loop order holds it."""
    q, k, v = (array.numpy().astype(np.float64) for array in (trace.q, trace.k, trace.v))
    if not keys:
        return -np.inf, 0.0, np.zeros(v.shape[1])
    s = trace.request.problem.softmax_scale * (k[keys] @ q[row])
    p = np.exp(s - s.max())
    o = p @ v[keys]
    return s.max(), p.sum(), o / p.sum() if trace.request.order == "flash1" else o


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(requests)
def test_every_snapshot_is_what_the_definition_gives_for_the_keys_seen(
    turn: int, request: TraceRequest
) -> None:
    trace, problem = record(request), request.problem
    pairs = kept(problem)
    seen: dict[int, list[int]] = {row: [] for row in range(problem.seqlen_q)}
    for t, (i, j) in enumerate(trace.tile.numpy().tolist()):
        for r in range(request.block_q):
            row = i * request.block_q + r
            columns = range(j * request.block_k, min((j + 1) * request.block_k, problem.seqlen_k))
            keys = [k for k in columns if row < problem.seqlen_q and pairs[row, k]]
            m, l, o = -np.inf, 0.0, np.zeros(problem.head_dim)
            if row < problem.seqlen_q:
                before = expected_state(trace, row, seen[row])[0]
                seen[row] += keys
                m, l, o = expected_state(trace, row, seen[row])
                alpha = np.exp(before - m) if seen[row] else 1.0
                assert np.isfinite(trace.s.numpy()[t, r]).sum() == len(keys)
            else:
                alpha = 1.0
                assert np.isneginf(trace.s.numpy()[t, r]).all()
            np.testing.assert_allclose(trace.m.numpy()[t, r], m, atol=1e-5)
            np.testing.assert_allclose(trace.l.numpy()[t, r], l, rtol=1e-4)
            np.testing.assert_allclose(trace.alpha.numpy()[t, r], alpha, atol=1e-4)
            np.testing.assert_allclose(trace.o.numpy()[t, r], o, atol=1e-4)
    np.testing.assert_allclose(trace.output.numpy(), trace.exact_output.numpy(), atol=1e-5)
    np.testing.assert_allclose(trace.lse.numpy(), trace.exact_lse.numpy(), atol=1e-5)


@settings(deadline=None)
@given(requests)
def test_exactly_the_tiles_that_keep_a_pair_are_visited_once(request: TraceRequest) -> None:
    needed = {(q // request.block_q, k // request.block_k) for q, k in np.argwhere(kept(request.problem))}
    visited = list(tracing.visits(request))
    assert len(visited) == tracing.tile_count(request)
    assert set(visited) == needed
    assert len(set(visited)) == len(visited)


def test_flash1_walks_the_queries_inside_and_flash2_the_keys() -> None:
    problem = Problem(seqlen_q=4, seqlen_k=4)
    walks = {
        order: list(tracing.visits(TraceRequest(problem=problem, order=order, block_q=2, block_k=2)))
        for order in ("flash1", "flash2")
    }
    assert walks["flash1"] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert walks["flash2"] == [(0, 0), (0, 1), (1, 0), (1, 1)]


@each_order
def test_the_traced_answer_is_the_kernels_answer(order: LoopOrder) -> None:
    problem = Problem(seqlen_q=100, seqlen_k=130, head_dim=32, causal=True, seed=5)
    inputs = make_inputs(problem, "cpu")
    trace = record(TraceRequest(problem=problem, order=order, block_q=128, block_k=512))
    launch = run(find_kernel(order), problem, inputs)
    np.testing.assert_array_equal(trace.q.numpy(), inputs.q[0, 0])
    np.testing.assert_array_equal(trace.output.numpy(), launch.output[0, 0])
    np.testing.assert_array_equal(trace.lse.numpy(), launch.lse[0, 0])


def test_values_may_be_wider_than_the_head() -> None:
    rng = np.random.default_rng(0)
    q, k, v = (Array.of(rng.standard_normal(shape)) for shape in ((5, 3), (7, 3), (7, 6)))
    problem = Problem(seqlen_q=5, seqlen_k=7, head_dim=3)
    trace = record(TraceRequest(problem=problem, block_q=2, block_k=3, inputs=(q, k, v)))
    assert trace.output.shape == (5, 6)
    np.testing.assert_allclose(trace.output.numpy(), trace.exact_output.numpy(), atol=1e-6)


def test_a_trace_survives_the_wire() -> None:
    trace = slide("flash2")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(trace), type=Trace) == trace


def test_the_stated_size_is_the_size_of_the_arrays() -> None:
    request = TraceRequest(problem=Problem(seqlen_q=33, seqlen_k=50, head_dim=16, causal=True))
    trace = record(request)
    fields = (getattr(trace, name) for name in Trace.__struct_fields__)
    assert sum(len(f.data) for f in fields if isinstance(f, Array)) == tracing.trace_bytes(
        request, tracing.tile_count(request)
    )


PROBLEM = Problem(seqlen_q=4, seqlen_k=6, head_dim=2)
ZEROS = {shape: Array.of(np.zeros(shape)) for shape in ((4, 2), (6, 2), (5, 2), (6, 3))}


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (
            TraceRequest(problem=Problem(seqlen_q=4, seqlen_k=4, heads=2, batch=2), head=4),
            "no head 4 to look at: the 4 heads count from 0",
        ),
        (
            TraceRequest(
                problem=Problem(seqlen_q=4, seqlen_k=4, heads=2, batch=2, key_lengths=(4, 0)), head=3
            ),
            "Sequence 1 has no rows or no keys",
        ),
        (
            TraceRequest(
                problem=Problem(seqlen_q=4, seqlen_k=6, head_dim=2, heads=2), inputs=(ZEROS[4, 2],) * 3
            ),
            "are given for one head",
        ),
        (
            TraceRequest(problem=Problem(seqlen_q=1, seqlen_k=1 << 17, heads=32, batch=16, head_dim=128)),
            r"would take 64\.0 GiB in float32",
        ),
        (TraceRequest(problem=PROBLEM, block_q=0), "at least 1 long, not 0 x 16"),
        (
            TraceRequest(problem=Problem(seqlen_q=8192, seqlen_k=8192)),
            r"would hold \d+ MiB \(262144 tiles of 16 x 16\) where at most 64 MiB",
        ),
        (
            TraceRequest(problem=PROBLEM, inputs=(ZEROS[4, 2], ZEROS[5, 2], ZEROS[6, 2])),
            r"K of the trace must have shape \(6, 2\), not \(5, 2\)",
        ),
        (
            TraceRequest(problem=PROBLEM, inputs=(ZEROS[4, 2], ZEROS[6, 2], ZEROS[5, 2])),
            r"V of the trace must have shape \(6, 2\), not \(5, 2\)",
        ),
        (
            TraceRequest(problem=PROBLEM, inputs=(ZEROS[4, 2], ZEROS[6, 2], Array.of(np.zeros((6, 2), int)))),
            "V of the trace must be float32 or float64, not <i8",
        ),
        (
            TraceRequest(
                problem=PROBLEM, inputs=(ZEROS[4, 2], ZEROS[6, 2], Array.of(np.full((6, 2), np.nan)))
            ),
            "V of the trace must hold finite numbers only",
        ),
    ],
)
def test_what_cannot_be_traced_is_refused_with_the_numbers(request_: TraceRequest, says: str) -> None:
    with pytest.raises(InputError, match=says):
        record(request_)


def test_sixteen_bit_traces_are_refused_on_the_cpu() -> None:
    with pytest.raises(UnsupportedError, match="float32, not float16"):
        record(TraceRequest(problem=Problem(seqlen_q=4, seqlen_k=4, dtype="float16")))
