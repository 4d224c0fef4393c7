"""Problem and KernelSpec: exact counts, and reasons instead of failures."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.catalogue.ladder import FLASH1, FLASH2, SIMT, STANDARD
from flashscope.kernels.catalogue.registry import KERNELS, find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem

lengths = st.integers(1, 40)


@given(seqlen_q=lengths, seqlen_k=lengths, causal=st.booleans())
def test_kept_pairs_are_those_the_mask_keeps(seqlen_q: int, seqlen_k: int, causal: bool) -> None:
    problem = Problem(seqlen_q=seqlen_q, seqlen_k=seqlen_k, causal=causal)
    pairs = [(q, k) for q in range(seqlen_q) for k in range(seqlen_k)]
    kept = sum(not causal or k <= q + seqlen_k - seqlen_q for q, k in pairs)
    assert problem.kept_pairs == kept
    assert problem.flops == 4 * kept * 64


def test_bytes_are_those_of_the_arrays() -> None:
    problem = Problem(seqlen_q=3, seqlen_k=5, batch=2, heads=7, head_dim=16, dtype="bfloat16")
    assert problem.input_bytes == 2 * (2 * 7 * 3 * 16 + 2 * 2 * 7 * 5 * 16)
    assert problem.output_bytes == 2 * (2 * 7 * 3 * 16) + 4 * (2 * 7 * 3)
    assert problem.score_elements == 2 * 7 * 3 * 5


def test_a_seed_below_0_is_refused() -> None:
    with pytest.raises(InputError, match="seed must be at least 0"):
        Problem(seqlen_q=1, seqlen_k=1, seed=-1)


def test_the_scale_defaults_to_one_over_the_root_of_the_head_dim() -> None:
    assert Problem(seqlen_q=1, seqlen_k=1, head_dim=16).softmax_scale == 0.25
    assert Problem(seqlen_q=1, seqlen_k=1, scale=0.0).softmax_scale == 0.0


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"seqlen_q": 0}, "seqlen_q must be at least 1, not 0"),
        ({"heads": -1}, "heads must be at least 1"),
        ({"dtype": "int8"}, "dtype must be one of float32, float16, bfloat16, not 'int8'"),
        ({"scale": float("inf")}, "scale must be a finite number"),
        ({"scale": -1e300}, "scale must be a finite number in float32, not -1e[+]300"),
        ({"batch": 2**30, "heads": 2**30}, "Q would have 3.0e[+]20 elements; choose fewer"),
        ({"seqlen_q": 2**31, "seqlen_k": 2**31}, "The score matrix would have 4.6e[+]18 elements"),
    ],
)
def test_an_impossible_problem_is_refused(changed: dict[str, Any], says: str) -> None:
    fields: dict[str, Any] = {"seqlen_q": 4, "seqlen_k": 4} | changed
    with pytest.raises(InputError, match=says):
        Problem(**fields)


GPU = Device(backend="cuda", name="a GPU", memory_bytes=2**34, compute_capability=(7, 5))
PROBLEM = Problem(seqlen_q=4, seqlen_k=4, dtype="float16")


@pytest.mark.parametrize("spec", [STANDARD, SIMT, FLASH1, FLASH2], ids=lambda spec: spec.name)
def test_the_ladder_up_to_flash2_runs_on_the_oldest_gpu_and_on_the_cpu(spec: KernelSpec) -> None:
    assert spec.unsupported(PROBLEM, GPU) is None
    if "cpu" in spec.dtypes:
        assert spec.unsupported(Problem(seqlen_q=4, seqlen_k=4), describe()) is None


@pytest.mark.parametrize("spec", KERNELS, ids=lambda spec: spec.name)
def test_every_backend_with_dtypes_has_an_implementation(spec: KernelSpec) -> None:
    assert set(spec.implementation) == set(spec.dtypes)


@pytest.mark.parametrize(
    ("problem", "device", "says"),
    [
        ({"dtype": "bfloat16"}, {}, "bfloat16 needs compute capability 8.0 or newer"),
        ({}, {"compute_capability": (7, 0)}, "needs compute capability 7.5 or newer, this GPU has 7.0"),
        ({"head_dim": 12}, {}, "in steps of 8 on cuda, not 12"),
        ({}, {"backend": "cpu"}, "takes float32 on cpu, not float16"),
    ],
)
def test_what_cannot_run_says_why(problem: dict[str, Any], device: dict[str, Any], says: str) -> None:
    asked = msgspec.structs.replace(PROBLEM, **problem)
    reason = FLASH2.unsupported(asked, msgspec.structs.replace(GPU, **device))
    assert reason is not None
    assert says in reason


def test_an_unknown_kernel_is_answered_with_those_there_are() -> None:
    assert find_kernel("flash2") is FLASH2
    with pytest.raises(
        KeyError, match=r"did you mean flash3.*there are standard, standard-fp32s, fused, simt"
    ):
        find_kernel("flash7")


def test_the_cpu_describes_itself() -> None:
    device = describe()
    assert device.name
    assert device.memory_bytes > 2**28
    assert device.compute_capability is None
