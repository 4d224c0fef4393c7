"""What the peers refuse, in words, without their libraries and without a GPU."""

from typing import Any

import pytest

from flashscope.kernels.catalogue.peers import CUDNN_FRONTEND, FLASHINFER, TRITON_FLASH
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem

HOPPER = Device(backend="cuda", name="H100", memory_bytes=1 << 36, compute_capability=(9, 0))
TURING = Device(backend="cuda", name="T4", memory_bytes=1 << 34, compute_capability=(7, 5))
CPU = Device(backend="cpu", name="a CPU", memory_bytes=1 << 34)
PEERS = (CUDNN_FRONTEND, FLASHINFER, TRITON_FLASH)


@pytest.fixture(autouse=True)
def libraries_are_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KernelSpec, "library_is_here", lambda _spec: True)


def asked(**shape: Any) -> Problem:
    return Problem(
        **{"seqlen_q": 64, "seqlen_k": 64, "heads": 4, "head_dim": 64, "dtype": "bfloat16", **shape}
    )


@pytest.mark.parametrize(
    ("spec", "problem", "why"),
    [
        (FLASHINFER, asked(head_dim=192), "flashinfer takes head dims 64, 128 and 256, not 192"),
        (
            FLASHINFER,
            asked(head_dim=96),
            "flashinfer takes head dims 64 to 256 in steps of 64 on cuda, not 96",
        ),
        (
            FLASHINFER,
            asked(window=(5, 3)),
            "flashinfer takes no window that ends to the right of a query",
        ),
        (
            FLASHINFER,
            asked(batch=2, query_lengths=(64, 3)),
            "flashinfer takes sequences of one number of query rows alone",
        ),
        (
            FLASHINFER,
            asked(batch=2, key_lengths=(64, 3)),
            "flashinfer takes pages and lengths with one query row a sequence: more it wants packed",
        ),
        (FLASHINFER, asked(passes="backward"), "flashinfer has no backward pass"),
        (
            CUDNN_FRONTEND,
            asked(seqlen_q=65, causal=True),
            "cudnn-frontend takes a causal mask where there are at least as many keys as queries",
        ),
        (
            CUDNN_FRONTEND,
            asked(seqlen_q=65, window=(3, 3)),
            "cudnn-frontend takes a sliding window where there are at least as many keys as queries",
        ),
        (
            CUDNN_FRONTEND,
            asked(scale=-0.1),
            "cudnn-frontend takes no scale below 0: cuDNN 9.19 answered NaN to one",
        ),
        (CUDNN_FRONTEND, asked(page_size=16), "cudnn-frontend does not take a paged K/V cache on cuda"),
        (TRITON_FLASH, asked(window=(3, 0)), "triton-flash does not take a sliding window on cuda"),
        (TRITON_FLASH, asked(dtype="float32"), "triton-flash takes float16, bfloat16 on cuda, not float32"),
    ],
)
def test_what_a_peer_does_not_take_is_refused_with_the_reason(
    spec: KernelSpec, problem: Problem, why: str
) -> None:
    assert spec.unsupported(problem, HOPPER) == why


@pytest.mark.parametrize("spec", PEERS, ids=lambda spec: spec.name)
def test_no_peer_runs_on_a_gpu_before_ampere_or_on_the_cpu(spec: KernelSpec) -> None:
    assert spec.unsupported(asked(dtype="float16"), HOPPER) is None
    assert "needs compute capability 8.0" in (spec.unsupported(asked(dtype="float16"), TURING) or "")
    assert "not implemented on the cpu" in (spec.unsupported(asked(dtype="float32"), CPU) or "")


@pytest.mark.parametrize(
    "problem",
    [
        asked(causal=True, window=(5, 3)),  # causal ends it at the query
        asked(window=(5, 0)),
        asked(seqlen_q=1, window=(5, 3)),
        asked(seqlen_q=1, batch=2, page_size=16, key_lengths=(64, 3), kv_heads=1),
        asked(page_size=16),
    ],
    ids=str,
)
def test_what_flashinfer_can_be_told_is_not_refused(problem: Problem) -> None:
    assert FLASHINFER.unsupported(problem, HOPPER) is None


@pytest.mark.parametrize("spec", PEERS, ids=lambda spec: spec.name)
def test_a_missing_library_is_told_with_the_command(
    spec: KernelSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KernelSpec, "library_is_here", lambda _spec: False)
    reason = spec.unsupported(asked(), HOPPER)
    assert reason is not None
    assert reason.startswith(f"{spec.name} needs {spec.extra}: ")
    assert reason.endswith(f'[{spec.extra}]"')
