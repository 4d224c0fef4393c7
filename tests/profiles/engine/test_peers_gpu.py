"""Libraries' kernels on a real GPU: right, forced, refused with a reason, on CuPy's stream, accounted for."""

from typing import Any

import pytest

from flashscope.kernels.catalogue.peers import (
    CUDNN_FRONTEND,
    FLASH_ATTN_3,
    FLASH_ATTN_4,
    FLASHINFER,
    TORCH,
    TORCH_AUTO,
    TORCH_CUDNN,
    TORCH_EFFICIENT,
    TORCH_FLASH,
    TORCH_MATH,
    TRITON_FLASH,
)
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import LibraryLaunch, make_inputs, prepare
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.wire.events import PlanStarted
from flashscope.profiles.wire.measurement import Measurement
from tests.profiles.heard import QUICK, Heard, done

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

FLASH_ATTENTION = (
    pytest.param(FLASH_ATTN_3, marks=pytest.mark.flash_attn_3),
    pytest.param(FLASH_ATTN_4, marks=pytest.mark.flash_attn_4),
)
OTHERS = (
    pytest.param(CUDNN_FRONTEND, marks=pytest.mark.cudnn_frontend),
    pytest.param(FLASHINFER, marks=pytest.mark.flashinfer),
    pytest.param(TRITON_FLASH, marks=pytest.mark.triton),
)
NAMED = {"cudnn-frontend": "cudnn-frontend 1.", "flashinfer": "flashinfer 0.", "triton-flash": "Triton 3."}
PEERS = (*TORCH, *FLASH_ATTENTION, *OTHERS)
each_of_flash_attention = pytest.mark.parametrize("spec", FLASH_ATTENTION, ids=lambda spec: spec.name)
each_other = pytest.mark.parametrize("spec", OTHERS, ids=lambda spec: spec.name)
each_peer = pytest.mark.parametrize("spec", PEERS, ids=lambda spec: spec.name)
SHAPES: tuple[dict[str, Any], ...] = (
    {"seqlen_q": 300, "seqlen_k": 300, "batch": 2},
    {"seqlen_q": 300, "seqlen_k": 300, "causal": True, "head_dim": 128, "scale": 0.2},
    {"seqlen_q": 130, "seqlen_k": 257, "causal": True},
)
WIDE = Problem(seqlen_q=2048, seqlen_k=2048, heads=4, dtype="bfloat16")
FUSED = {"flash", "efficient", "cudnn"}


@pytest.fixture
def cp() -> Any:
    import cupy  # noqa: PLC0415 - on a GPU only

    return cupy


def prepared(spec: KernelSpec, problem: Problem) -> tuple[Any, Any]:
    inputs = make_inputs(problem, "cuda")
    launch: Any = prepare(spec, problem, inputs, "cuda")
    assert isinstance(launch, LibraryLaunch)
    return inputs, launch


@each_peer
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape", SHAPES, ids=("square", "causal", "ragged-causal"))
def test_a_peer_passes_the_criterion_of_our_own_kernels(
    cp: Any, spec: KernelSpec, dtype: Dtype, shape: dict[str, Any]
) -> None:
    problem = Problem(heads=3, dtype=dtype, **shape)
    inputs, launch = prepared(spec, problem)
    launch.run()
    output = launch.output
    assert isinstance(output, cp.ndarray)
    assert output.shape == problem.q_shape
    assert output.dtype.name == dtype
    verdict = verify(problem, inputs, output, launch.lse)
    assert verdict.passed, verdict


@pytest.mark.parametrize("spec", [TORCH_MATH, TORCH_EFFICIENT, TORCH_AUTO], ids=lambda spec: spec.name)
def test_float32_passes_where_the_spec_claims_it(spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=200, seqlen_k=200, heads=2)
    inputs, launch = prepared(spec, problem)
    launch.run()
    verdict = verify(problem, inputs, launch.output, launch.lse)
    assert verdict.passed, verdict


@pytest.mark.parametrize("spec", [TORCH_FLASH, TORCH_CUDNN], ids=lambda spec: spec.name)
def test_the_dispatchers_own_reason_is_told_when_it_refuses(spec: KernelSpec) -> None:
    from flashscope.kernels.library import torch_attention  # noqa: PLC0415 - imports PyTorch

    problem = Problem(seqlen_q=64, seqlen_k=64)  # float32, which the spec would have kept from it
    with pytest.raises(UnsupportedError, match=f"PyTorch refuses {spec.name}: .*(dtype|Half|BFloat16)"):
        torch_attention.prepare(spec, problem, make_inputs(problem, "cuda"))


def test_the_dispatchers_choice_is_named() -> None:
    _, fused = prepared(TORCH_AUTO, Problem(seqlen_q=512, seqlen_k=512, heads=2, dtype="bfloat16"))
    assert fused.note.rpartition(" ")[2] in FUSED
    _, other = prepared(TORCH_AUTO, Problem(seqlen_q=512, seqlen_k=512, heads=2))
    assert other.note.rpartition(" ")[2] in {"efficient", "math"}


@each_peer
def test_a_run_waits_for_what_cupys_stream_did_before_it(cp: Any, spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=512, seqlen_k=512, heads=4, dtype="float16")
    inputs, launch = prepared(spec, problem)
    stream = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with stream:
        busy = cp.ones((4096, 4096), cp.float32)
        for _ in range(20):
            busy = busy @ busy * 1e-4
        inputs.v.fill(2)  # after all of that, on the same stream
        launch.run()
        largest = abs(launch.output.astype(cp.float32) - 2).max()
    stream.synchronize()
    assert float(largest) < 1e-2


def measured(heard: Heard, *names: str) -> dict[str, Measurement]:
    plan = Plan(backend="cuda", kernels=names, problems=(WIDE,), protocol=QUICK)
    return {name: done(end) for name, end in zip(names, heard.sweep(plan), strict=True)}


def assert_the_ledger_holds(name: str, found: Measurement) -> None:
    held, peak = found.held_bytes, found.figures["peak_bytes"]
    assert held is not None
    assert peak.value is not None, name
    assert 0 <= peak.value - held <= 5 * 512


def test_every_peer_of_pytorch_is_measured_by_the_engine_with_an_honest_ledger(heard: Heard) -> None:
    ends = measured(heard, "flash2", *(spec.name for spec in TORCH))
    for name, found in ends.items():
        assert_the_ledger_holds(name, found)
        if name != "flash2":
            assert "torch.cuda.max_memory_allocated" in found.figures["peak_bytes"].source
            assert found.value("output_bytes") == WIDE.output_bytes - WIDE.rows * 4  # O alone
    assert heard.all(PlanStarted)
    workspace = {name: found.value("workspace_bytes") or 0 for name, found in ends.items()}
    scores = WIDE.score_elements * 4
    assert workspace["torch-math"] > scores
    assert workspace["torch-flash"] < scores / 8


@each_of_flash_attention
def test_flash_attention_is_measured_with_its_lse_and_says_its_version(
    heard: Heard, spec: KernelSpec
) -> None:
    found = measured(heard, spec.name)[spec.name]
    assert_the_ledger_holds(spec.name, found)
    assert found.value("output_bytes") == WIDE.output_bytes
    assert found.note.startswith(f"{spec.extra} {spec.name[-1]}.")
    assert found.correctness is not None
    assert {one.output for one in found.correctness.outputs} >= {"O", "LSE", "LSE of a row"}


@each_of_flash_attention
@pytest.mark.parametrize(
    "shape",
    [
        {"seqlen_q": 500, "seqlen_k": 500, "window": (100, 0)},
        {"seqlen_q": 500, "seqlen_k": 500, "window": (100, 30)},
        {"seqlen_q": 300, "seqlen_k": 500, "window": (64, -1)},
        {"seqlen_q": 300, "seqlen_k": 500, "window": (90, 40), "causal": True},
        {"seqlen_q": 200, "seqlen_k": 500, "heads": 8, "kv_heads": 2, "causal": True},
        {"seqlen_q": 300, "seqlen_k": 200, "causal": True},
        {"seqlen_q": 1, "seqlen_k": 1000, "head_dim": 256},
        {"seqlen_q": 128, "seqlen_k": 128, "head_dim": 8},
        {"seqlen_q": 200, "seqlen_k": 200, "head_dim": 136},
    ],
    ids=str,
)
def test_flash_attention_passes_with_every_mask_that_the_spec_claims(
    spec: KernelSpec, shape: dict[str, Any]
) -> None:
    problem = Problem(dtype="bfloat16", **{"heads": 2, **shape})
    inputs, launch = prepared(spec, problem)
    launch.run()
    verdict = verify(problem, inputs, launch.output, launch.lse)
    assert verdict.passed, verdict


@each_other
def test_another_peer_is_measured_with_its_lse_and_says_its_version(heard: Heard, spec: KernelSpec) -> None:
    found = measured(heard, spec.name)[spec.name]
    assert_the_ledger_holds(spec.name, found)
    assert found.value("output_bytes") == WIDE.output_bytes
    assert found.note.startswith(NAMED[spec.name])
    assert found.correctness is not None
    assert {one.output for one in found.correctness.outputs} >= {"O", "LSE", "LSE of a row"}


def assert_right(spec: KernelSpec, problem: Problem) -> None:
    inputs, launch = prepared(spec, problem)
    launch.run()
    verdict = verify(problem, inputs, launch.output, launch.lse)
    assert verdict.passed, verdict


@pytest.mark.cudnn_frontend
@pytest.mark.parametrize(
    "shape",
    [
        {"seqlen_q": 500, "seqlen_k": 500, "window": (100, 0)},
        {"seqlen_q": 300, "seqlen_k": 500, "window": (90, 40), "causal": True},
        {"seqlen_q": 200, "seqlen_k": 500, "heads": 8, "kv_heads": 2, "causal": True},
        {"seqlen_q": 1, "seqlen_k": 1000, "heads": 8, "kv_heads": 2, "head_dim": 128},
        {"seqlen_q": 200, "seqlen_k": 200, "head_dim": 96, "scale": 0.2},
        {"seqlen_q": 256, "seqlen_k": 256, "head_dim": 256},
    ],
    ids=str,
)
def test_cudnn_passes_with_every_mask_that_the_spec_claims(shape: dict[str, Any]) -> None:
    assert_right(CUDNN_FRONTEND, Problem(dtype="bfloat16", **{"heads": 2, **shape}))


@pytest.mark.cudnn_frontend
@pytest.mark.parametrize("deterministic", [False, True], ids=("any order", "deterministic"))
@pytest.mark.parametrize(
    "shape",
    [
        {"seqlen_q": 512, "seqlen_k": 512, "causal": True},
        {"seqlen_q": 256, "seqlen_k": 384, "heads": 4, "kv_heads": 2, "head_dim": 128},
    ],
    ids=str,
)
def test_cudnns_gradients_pass_our_criterion(
    heard: Heard, shape: dict[str, Any], *, deterministic: bool
) -> None:
    problem = Problem(
        dtype="bfloat16", passes="backward", deterministic=deterministic, **{"heads": 2, **shape}
    )
    plan = Plan(backend="cuda", kernels=("cudnn-frontend",), problems=(problem,), protocol=QUICK)
    (found,) = map(done, heard.sweep(plan))
    assert found.correctness is not None
    assert found.correctness.passed, found.correctness


@pytest.mark.flashinfer
@pytest.mark.parametrize(
    "shape",
    [
        {"seqlen_q": 300, "seqlen_k": 500, "window": (64, 0)},
        {"seqlen_q": 300, "seqlen_k": 500, "causal": True, "batch": 2, "heads": 4, "kv_heads": 2},
        {"seqlen_q": 16, "seqlen_k": 1000, "batch": 2, "heads": 8, "kv_heads": 2},
        {"seqlen_q": 1, "seqlen_k": 1000, "batch": 3, "heads": 8, "kv_heads": 2},
        {"seqlen_q": 1, "seqlen_k": 1001, "batch": 3, "heads": 4},
        {"seqlen_q": 1, "seqlen_k": 512, "batch": 3, "heads": 4, "window": (100, -1)},
        {"seqlen_q": 1, "seqlen_k": 512, "batch": 3, "heads": 8, "kv_heads": 2, "page_size": 16},
        {
            "seqlen_q": 1,
            "seqlen_k": 512,
            "batch": 3,
            "heads": 8,
            "page_size": 64,
            "key_lengths": (512, 77, 1),
        },
        {"seqlen_q": 1, "seqlen_k": 500, "batch": 2, "heads": 2, "key_lengths": (300, 500)},
        {"seqlen_q": 100, "seqlen_k": 512, "heads": 8, "kv_heads": 2, "page_size": 32, "causal": True},
        {"seqlen_q": 16, "seqlen_k": 512, "heads": 8, "kv_heads": 2, "page_size": 32, "causal": True},
    ],
    ids=str,
)
def test_flashinfer_passes_with_every_mask_and_layout_that_the_spec_claims(shape: dict[str, Any]) -> None:
    assert_right(FLASHINFER, Problem(dtype="bfloat16", head_dim=128, **{"heads": 2, **shape}))


@pytest.mark.triton
@pytest.mark.parametrize(
    "shape",
    [
        {"seqlen_q": 300, "seqlen_k": 200, "causal": True},
        {"seqlen_q": 200, "seqlen_k": 500, "heads": 8, "kv_heads": 2, "causal": True, "head_dim": 128},
        {"seqlen_q": 1, "seqlen_k": 1000, "head_dim": 256},
        {"seqlen_q": 130, "seqlen_k": 1, "head_dim": 16},
        {"seqlen_q": 200, "seqlen_k": 200, "head_dim": 80, "scale": -0.3},
        {"seqlen_q": 200, "seqlen_k": 200, "head_dim": 192, "scale": 0.0, "causal": True},
    ],
    ids=str,
)
def test_triton_passes_with_every_mask_that_the_spec_claims(shape: dict[str, Any]) -> None:
    assert_right(TRITON_FLASH, Problem(dtype="float16", **{"heads": 2, **shape}))
