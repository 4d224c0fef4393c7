"""Run the backward pass of one kernel of the CPU backend on given inputs."""

from typing import Any

import numpy as np
import pytest

from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import BackwardLaunch, prepare_backward
from flashscope.kernels.oracle.reference import Scoring, attention_reference
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs, Saved

CPU_KERNELS = tuple(spec for spec in LADDER if spec.backward and "cpu" in spec.backward.implementation)
each_kernel = pytest.mark.parametrize("spec", CPU_KERNELS, ids=lambda spec: spec.name)


def grad_output_of(problem: Problem) -> Any:
    """Standard-normal dO in float32, drawn from another seed than the inputs."""
    return np.random.default_rng(problem.seed + 1).standard_normal(problem.o_shape, dtype=np.float32)


def saved(problem: Problem, inputs: Inputs, grad_output: Any = None) -> Saved:
    """What a right forward pass leaves, rounded to what a kernel returns, and dO."""
    output, lse = attention_reference(
        *inputs.qkv,
        causal=problem.causal,
        window=problem.window,
        block_mask=problem.block_mask,
        scale=problem.softmax_scale,
        scoring=Scoring.of(problem, inputs),
    )
    grad_output = grad_output_of(problem) if grad_output is None else grad_output
    dtype = storage_dtype(problem.dtype)
    return Saved(*inputs.qkv, output.astype(dtype), lse.astype("float32"), grad_output.astype(dtype))


def run(spec: KernelSpec, problem: Problem, given: Saved) -> BackwardLaunch:
    """Prepare, poison with NaN, run; floating-point accidents other than underflow raise."""
    with np.errstate(all="raise", under="ignore"):
        launch = prepare_backward(spec, problem, given, "cpu")
        for gradient in launch.gradients:
            gradient.fill(np.nan)
        launch.run()
    return launch


def judge(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Verdict:
    """Run and compare with the oracle."""
    given = saved(problem, inputs)
    launch = run(spec, problem, given)
    assert all(gradient.dtype == np.float32 for gradient in launch.gradients)
    return gradient_criterion(problem, inputs, given.grad_output).judge(launch.gradients)
