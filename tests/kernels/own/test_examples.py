"""The examples of kernels of one's own give the answers of float64 attention."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.kernels.launching.passes import after_forward, draw_given, prepare_passes
from flashscope.kernels.own.references import declared
from flashscope.kernels.own.spec import spec_of
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.worker.judging import Criteria

EXAMPLES = Path(__file__).parent / "examples"
PROBLEM = Problem(seqlen_q=70, seqlen_k=130, batch=2, heads=4, kv_heads=2, head_dim=32, causal=True)


def judge(name: str, problem: Problem, backend: Backend) -> None:
    spec = spec_of(declared(str(EXAMPLES / name)))
    drawn = draw_given(problem, backend)
    launch = prepare_passes(spec, problem, after_forward(spec, problem, drawn, backend), backend)
    launch.spoil()
    launch.run()
    assert Criteria().of_kernel(spec, problem, drawn).judge(launch.answer()).passed


@pytest.mark.parametrize("passes", ["forward", "backward", "both"])
def test_the_function_in_numpy_is_right_in_every_pass(passes: str) -> None:
    judge("plain_numpy.py", replace(PROBLEM, passes=passes), "cpu")


@pytest.mark.torch
@pytest.mark.parametrize("passes", ["forward", "backward", "both"])
def test_the_torch_callable_is_right_on_a_cpu_in_every_pass(passes: str) -> None:
    judge("torch_callable.py", replace(PROBLEM, passes=passes), "cpu")


@pytest.mark.gpu
def test_the_raw_cuda_kernel_is_right() -> None:
    judge("rows.cu", PROBLEM, "cuda")


@pytest.mark.gpu
@pytest.mark.torch
def test_the_torch_callable_is_right_on_a_gpu() -> None:
    judge("torch_callable.py", replace(PROBLEM, dtype="bfloat16"), "cuda")


@pytest.mark.gpu
@pytest.mark.triton
def test_the_kernel_in_triton_is_right() -> None:
    judge("triton_rows.py", replace(PROBLEM, dtype="float16", kv_heads=None), "cuda")


@pytest.mark.torch
def test_what_a_torch_callable_holds_on_a_cpu_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "whole.py"
    body = "    s = (q @ k.mT * scale).softmax(-1)\n    return s @ v\n"
    file.write_text(f"import torch\ndef attend(q, k, v, *, scale):\n{body}", encoding="utf-8")
    problem = Problem(seqlen_q=96, seqlen_k=160, heads=2, head_dim=16)
    spec = spec_of(declared(str(file)))
    drawn = draw_given(problem, "cpu")
    launch = prepare_passes(spec, problem, after_forward(spec, problem, drawn, "cpu"), "cpu")
    matrix = 4 * 2 * 96 * 160
    assert matrix <= launch.workspace_bytes <= 3 * matrix  # S and P, whole


def test_a_function_that_declares_it_takes_values_of_another_head_dim(tmp_path: Path) -> None:
    body = "    s = np.exp(scale * q @ k.swapaxes(2, 3))\n    return s / s.sum(-1, keepdims=True) @ v\n"
    declared_features = 'FLASHSCOPE = {"features": ("head_dim_v",), "function": "narrow"}\n'
    file = tmp_path / "narrow.py"
    file.write_text(f"import numpy as np\n{declared_features}def narrow(q, k, v, *, scale):\n{body}", "utf-8")
    problem = replace(PROBLEM, kv_heads=None, causal=False, head_dim_v=16)
    spec = spec_of(declared(str(file)))
    drawn = draw_given(problem, "cpu")
    launch = prepare_passes(spec, problem, after_forward(spec, problem, drawn, "cpu"), "cpu")
    launch.run()
    assert Criteria().of_kernel(spec, problem, drawn).judge(launch.answer()).passed
