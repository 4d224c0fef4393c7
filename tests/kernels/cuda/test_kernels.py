"""Every CUDA kernel against the float64 oracle, on a GPU."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from flashscope.kernels import attention
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.cases import LENGTHS, PROBES, Case
from tests.kernels.cuda.running import (
    both_masks,
    differing_bits,
    each_kernel,
    each_kernel_and_dtype,
    head_dims,
    judged,
    poison,
    prepared,
    run,
    skip_unsupported,
    widened,
)

pytestmark = pytest.mark.gpu

MORE_LENGTHS = (
    (1, 239),
    (3, 799),
    (128, 64),
    (700, 180),
    (2050, 1300),
)  # one row, one tile, tiles of every kind


@both_masks
@pytest.mark.parametrize("lengths", [*LENGTHS, *MORE_LENGTHS], ids=str)
@each_kernel_and_dtype
def test_every_length_agrees_with_the_oracle(
    name: str, lengths: tuple[int, int], dtype: Dtype, causal: bool
) -> None:
    for head_dim in head_dims(name):
        problem = Problem(
            batch=2,
            heads=3,
            seqlen_q=lengths[0],
            seqlen_k=lengths[1],
            head_dim=head_dim,
            dtype=dtype,
            causal=causal,
        )
        verdict = run(name, problem)
        assert verdict.passed, (head_dim, verdict)


@each_kernel_and_dtype
def test_every_head_dim_agrees_with_the_oracle(name: str, dtype: Dtype) -> None:
    for head_dim in find_kernel(name).head_dims["cuda"]:
        problem = Problem(
            heads=2, seqlen_q=150, seqlen_k=170, head_dim=head_dim, dtype=dtype, causal=True, seed=head_dim
        )
        verdict = run(name, problem)
        assert verdict.passed, (head_dim, verdict)


@each_kernel_and_dtype
@pytest.mark.parametrize("scale", [0.0, -0.3, 2.5])
def test_any_finite_scale_agrees_with_the_oracle(name: str, dtype: Dtype, scale: float) -> None:
    for head_dim in head_dims(name):
        problem = Problem(
            seqlen_q=100, seqlen_k=300, head_dim=head_dim, dtype=dtype, causal=True, scale=scale
        )
        verdict = run(name, problem)
        assert verdict.passed, (head_dim, verdict)


@both_masks
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.__name__)
@each_kernel_and_dtype
def test_every_probe_agrees_with_the_oracle(
    cp: Any, name: str, probe: Callable[[], Case], dtype: Dtype, causal: bool
) -> None:
    case = probe()
    if case.problem.head_dim not in find_kernel(name).head_dims["cuda"]:
        case = widened(case, 64)
    problem = structs.replace(case.problem, dtype=dtype, causal=causal or case.problem.causal)
    inputs = Inputs(*(cp.asarray(array).astype(storage_dtype(dtype)) for array in case.inputs.qkv))
    verdict = run(name, problem, inputs)
    assert verdict.passed, verdict


@each_kernel_and_dtype
def test_logits_of_ten_thousand_stay_finite(cp: Any, name: str, dtype: Dtype) -> None:
    problem = Problem(heads=2, seqlen_q=130, seqlen_k=260, dtype=dtype, scale=250.0, causal=True)
    inputs = make_inputs(problem, "cuda")
    launch = prepared(name, problem, inputs)
    launch.run()
    assert bool(cp.isfinite(launch.output.astype(cp.float32)).all())
    verdict = judged(name, problem, inputs, launch.output, launch.lse)
    assert verdict.passed, verdict


def test_scores_in_float32_keep_what_rounding_them_loses() -> None:
    problem = Problem(heads=2, seqlen_q=300, seqlen_k=1000, head_dim=128, dtype="bfloat16")
    rounded, exact = (run(name, problem).of("LSE") for name in ("standard", "standard-fp32s"))
    assert rounded is not None
    assert exact is not None
    assert exact.error < rounded.error / 10


@each_kernel_and_dtype
def test_rows_that_attend_to_nothing_are_zero(cp: Any, name: str, dtype: Dtype) -> None:
    problem = Problem(heads=2, seqlen_q=300, seqlen_k=100, dtype=dtype, causal=True)
    launch = prepared(name, problem, make_inputs(problem, "cuda"))
    launch.run()
    assert bool((launch.output[:, :, :200].astype(cp.float32) == 0).all())
    assert bool(cp.isneginf(launch.lse[:, :, :200]).all())
    assert bool(cp.isfinite(launch.lse[:, :, 200:]).all())


@each_kernel_and_dtype
def test_a_hundred_runs_agree_to_the_bit(cp: Any, name: str, dtype: Dtype) -> None:
    problem = Problem(heads=4, seqlen_q=515, seqlen_k=771, dtype=dtype, causal=True)
    assert differing_bits(cp, prepared(name, problem, make_inputs(problem, "cuda")), runs=100) == 0


@pytest.mark.parametrize("name", ["flash3-fp8", "flash3", "flash2", "flash1", "standard"])
def test_offsets_pass_two_to_the_31_score_elements(name: str) -> None:
    problem = Problem(heads=2, seqlen_q=33000, seqlen_k=33008, head_dim=64, dtype="bfloat16")
    assert problem.score_elements > 2**31
    verdict = run(name, problem)
    assert verdict.passed, verdict


@pytest.mark.timeout(600)
def test_a_million_tokens_take_linear_memory(cp: Any) -> None:
    problem = Problem(heads=16, seqlen_q=2**20, seqlen_k=2**20, head_dim=128, dtype="bfloat16")
    inputs = make_inputs(problem, "cuda")
    pool = cp.get_default_memory_pool()
    before = pool.used_bytes()
    launch = prepared("flash2", problem, inputs)
    assert pool.used_bytes() - before == problem.output_bytes
    launch.run()
    verdict = judged("flash2", problem, inputs, launch.output, launch.lse, max_rows=16)
    assert verdict.passed, verdict


@each_kernel
def test_a_run_can_be_captured_in_a_graph(cp: Any, name: str) -> None:
    """It neither allocates nor waits: capture refuses both."""
    problem = Problem(heads=2, seqlen_q=300, seqlen_k=300, dtype="bfloat16")
    launch = prepared(name, problem, make_inputs(problem, "cuda"))
    launch.run()
    expected = launch.output.copy()
    poison(launch)
    stream = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        launch.run()
        graph = stream.end_capture()
        graph.launch(stream)
    stream.synchronize()
    assert bool((launch.output == expected).all())


@each_kernel
def test_the_surface_takes_cupy_arrays(cp: Any, name: str) -> None:
    problem = Problem(heads=2, seqlen_q=90, seqlen_k=120, dtype="float16", causal=True)
    skip_unsupported(name, problem)
    inputs = make_inputs(problem, "cuda")
    output, lse = attention(*inputs.qkv, kernel=name, causal=True, return_lse=True)
    assert isinstance(output, cp.ndarray)
    assert judged(name, problem, inputs, output, lse).passed


def test_a_view_off_its_alignment_is_refused(cp: Any) -> None:
    store = cp.zeros(16 * 64 + 1, cp.float32)
    q = store[1:].reshape(1, 1, 16, 64)
    with pytest.raises(InputError, match="16-byte boundary"):
        attention(q, q, q, kernel="flash2")


@each_kernel
def test_workspace_is_what_the_spec_predicts(name: str) -> None:
    problem = Problem(heads=2, seqlen_q=90, seqlen_k=120, dtype="bfloat16")
    launch = prepared(name, problem, make_inputs(problem, "cuda"))
    assert launch.workspace_bytes == find_kernel(name).workspace_bytes(problem, "cuda")
