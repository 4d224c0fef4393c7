"""The instrumented kernels on a GPU against the trace of the CPU."""

from itertools import product

import numpy as np
import pytest

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cpu.trace import record as record_on_cpu
from flashscope.kernels.launching.launch import prepare
from flashscope.kernels.launching.on_show import drawn, rows_on_show
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.kernels.workload.trace import Array, LoopOrder, TimedKernel, Trace, TraceRequest
from tests.kernels.cuda.replaying import ALONE, AMONG_OTHERS, BLOCKS, HEADS, SHAPES, check_trace

pytestmark = pytest.mark.gpu


def record_on_cuda(request: TraceRequest) -> Trace:
    from flashscope.kernels.cuda.trace import record  # noqa: PLC0415 - imports CuPy

    return record(request)


def close(found: Array, expected: Array, tolerance: float) -> bool:
    return np.allclose(found.numpy(), expected.numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("order", ["flash1", "flash2"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("block_q", "block_k"), [(8, 8), (16, 16), (5, 3), (64, 64), (1, 2)])
def test_both_backends_trace_the_same_state(
    order: LoopOrder, reverse: bool, causal: bool, block_q: int, block_k: int
) -> None:
    problem = Problem(seqlen_q=50, seqlen_k=37, head_dim=20, causal=causal, seed=3)
    ours, theirs = (
        TraceRequest(
            problem=problem, backend=backend, order=order, block_q=block_q, block_k=block_k, reverse=reverse
        )
        for backend in ("cuda", "cpu")
    )
    cuda, cpu = record_on_cuda(ours), record_on_cpu(theirs)
    assert (cuda.tile.numpy() == cpu.tile.numpy()).all()
    for field in ("q", "k", "v"):
        assert getattr(cuda, field) == getattr(cpu, field)
    for field in ("s", "m", "l", "alpha", "o", "output", "lse"):
        assert close(getattr(cuda, field), getattr(cpu, field), 2e-5), field
    assert cuda.t_ns is not None
    assert cuda.sm is not None
    assert (cuda.t_ns.numpy() > 0).all()
    assert (np.diff(cuda.t_ns.numpy()[cuda.tile.numpy()[:, 0] == cuda.tile.numpy()[-1, 0]]) >= 0).all()


def test_the_example_of_the_slides_comes_out_of_the_gpu() -> None:
    scores = np.array([[1], [3], [2], [0.5]], np.float32)
    values = np.array([[1], [2], [3], [4]], np.float32)
    problem = Problem(seqlen_q=1, seqlen_k=4, head_dim=1, scale=1.0)
    request = TraceRequest(
        problem=problem,
        backend="cuda",
        block_q=1,
        block_k=2,
        inputs=(Array.of(np.ones((1, 1), np.float32)), Array.of(scores), Array.of(values)),
    )
    trace = record_on_cuda(request)
    assert trace.m.numpy().ravel() == pytest.approx([3, 3])
    assert trace.l.numpy().ravel() == pytest.approx([1.135335, 1.585300], abs=1e-5)
    weights = np.exp(scores.ravel() - 3) / np.exp(scores.ravel() - 3).sum()
    assert trace.output.numpy().ravel() == pytest.approx([weights @ values.ravel()], abs=1e-5)


def test_a_16_bit_trace_agrees_with_its_own_oracle() -> None:
    problem = Problem(seqlen_q=40, seqlen_k=40, head_dim=32, dtype="bfloat16")
    trace = record_on_cuda(TraceRequest(problem=problem, backend="cuda"))
    assert close(trace.output, trace.exact_output, 2e-2)
    assert close(trace.lse, trace.exact_lse, 1e-4)


MANY = {
    "batch": 4,
    "heads": 16,
    "seqlen_q": 512,
    "seqlen_k": 600,
    "causal": True,
}
TIMED = [
    *product(("flash1", "flash2", "flash3"), ALONE, (64, 128)),
    *product(("flash2", "flash3"), AMONG_OTHERS, (64, 128)),
    *product(("flash1", "flash2"), BLOCKS, (64, 128)),
    *product(("flash3-fp8",), (*ALONE, "grouped", "many"), (64, 128, 256)),
    *product(("flash2", "flash3"), ["many"], (64, 128, 192)),
]


def taken(kernel: str, shape: str) -> bool:
    """Whether a kernel takes a problem at all."""
    return Problem(**{"heads": 1, **SHAPES.get(shape, MANY)}).features <= find_kernel(kernel).features["cuda"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("kernel", "shape", "head_dim"), [case for case in TIMED if taken(*case[:2])])
def test_a_timed_kernel_is_traced_as_it_is_and_gives_the_same_bits(
    kernel: TimedKernel, shape: str, head_dim: int, dtype: Dtype
) -> None:
    import cupy  # noqa: PLC0415 - a GPU is there

    problem = Problem(**{"heads": 1, **SHAPES.get(shape, MANY)}, head_dim=head_dim, dtype=dtype, seed=4)
    request = TraceRequest(problem=problem, backend="cuda", kernel=kernel, head=HEADS.get(shape, 0))
    trace = record_on_cuda(request)
    check_trace(trace)
    assert trace.sm is not None
    assert trace.t_ns is not None
    assert len(trace.tile.numpy()) == np.count_nonzero(trace.t_ns.numpy())
    host = drawn(request)
    arrays = {name: cupy.asarray(getattr(host, name).astype(storage_dtype(dtype))) for name in "qkv"}
    table = None if host.page_table is None else cupy.asarray(host.page_table)
    launch = prepare(find_kernel(kernel), problem, host._replace(**arrays, page_table=table), "cuda")
    launch.run()
    for ours, theirs in ((trace.output, launch.output), (trace.lse, launch.lse)):
        plain = rows_on_show(trace.request, cupy.asnumpy(theirs.astype(cupy.float32)))
        assert ours.numpy().tobytes() == plain.tobytes()


@pytest.mark.parametrize(("block", "head_dim"), [(65, 64), (16, 136)])
def test_what_is_too_large_for_the_recording_is_refused(block: int, head_dim: int) -> None:
    problem = Problem(seqlen_q=100, seqlen_k=100, head_dim=head_dim)
    with pytest.raises(InputError, match="CPU backend takes larger ones"):
        record_on_cuda(TraceRequest(problem=problem, backend="cuda", block_q=block, block_k=block))
