"""Inputs change in every run, and the answer with them: but for known signs it is that to those drawn."""

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import KERNELS, find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.launching.passes import PassOutputs, after_forward, draw_given, prepare_passes
from flashscope.kernels.launching.signs import ChangingSigns
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.arrays import flip_signs, on_host
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import PASSES, Backend, Passes, Problem

SMALL = Problem(seqlen_q=40, seqlen_k=50, heads=4, kv_heads=2, batch=2, head_dim=16, causal=True)
PROBLEMS = {
    "grouped heads": SMALL,
    "one head": Problem(seqlen_q=33, seqlen_k=33, head_dim=16),
    "a window": replace(SMALL, causal=False, window=(5, 3)),
    "pages": replace(SMALL, seqlen_k=64, page_size=16, key_lengths=(64, 30), causal=False),
}
TURNS = 5


def runs_on(device: Device, problem: Problem) -> list[KernelSpec]:
    """The kernels that take a problem and need nothing that may be missing."""
    found = [spec for spec in KERNELS if device.backend in spec.implementation and not spec.extra]
    return [spec for spec in found if spec.unsupported(problem, device) is None]


def copied(answer: PassOutputs) -> list[Any]:
    return [on_host(array).copy() for array in answer.arrays]


@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("name", PROBLEMS)
def test_an_answer_changes_with_the_inputs_and_brought_back_it_is_the_first(
    name: str, passes: Passes
) -> None:
    if name == "pages" and passes != "forward":
        pytest.skip("pages have no backward pass")
    problem = replace(PROBLEMS[name], passes=passes)
    kernels = runs_on(describe(), problem)
    assert len(kernels) > 1
    for spec in kernels:
        drawn = draw_given(problem, "cpu")
        launch = prepare_passes(spec, problem, after_forward(spec, problem, drawn, "cpu"), "cpu")
        signs = ChangingSigns(problem, drawn)
        launch.run()
        first = copied(launch.answer())
        for _ in range(TURNS):
            signs.change()
            launch.run()
            changed = copied(launch.answer())
            assert not all(np.array_equal(a, b) for a, b in zip(first, changed, strict=True)), spec.name
            back = copied(signs.brought_back(launch.answer()))
            assert all(np.array_equal(a, b) for a, b in zip(first, back, strict=True)), spec.name


def test_inputs_are_never_those_that_were_drawn_nor_those_of_the_run_before() -> None:
    drawn = draw_given(SMALL, "cpu")
    signs, seen = ChangingSigns(SMALL, drawn), [drawn.inputs.v.copy()]
    for _ in range(300):
        signs.change()
        assert not np.array_equal(drawn.inputs.v, seen[0])
        assert not np.array_equal(drawn.inputs.v, seen[-1])
        seen.append(drawn.inputs.v.copy())


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_sign_is_flipped_in_place_and_exactly_in_every_dtype(dtype: str) -> None:
    import ml_dtypes  # noqa: PLC0415 - NumPy knows bfloat16 by it

    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    numbers = np.random.default_rng(0).standard_normal((3, 2, 4)).astype(kind)
    strided, before = numbers.transpose(1, 0, 2), numbers.copy()
    flip_signs(strided, np.array([True, False, True, False]))
    assert (numbers[..., 0::2] == -before[..., 0::2]).all()
    assert (numbers[..., 1::2] == before[..., 1::2]).all()


@pytest.mark.gpu
@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_on_a_gpu_an_answer_that_was_brought_back_is_right(dtype: Any, passes: Passes) -> None:
    from flashscope.kernels.cuda.device import describe as describe_gpu  # noqa: PLC0415 - imports CuPy

    problem = replace(SMALL, seqlen_q=200, seqlen_k=300, head_dim=64, dtype=dtype, passes=passes)
    kernels = runs_on(describe_gpu(), problem)
    assert len(kernels) > 1
    for spec in kernels:
        passed(spec, problem, "cuda")


@pytest.mark.gpu
def test_on_a_gpu_an_answer_in_float32_that_was_brought_back_is_right() -> None:
    from flashscope.kernels.cuda.device import describe as describe_gpu  # noqa: PLC0415 - imports CuPy

    problem = replace(SMALL, seqlen_q=200, seqlen_k=300, head_dim=64, dtype="float32")
    kernels = runs_on(describe_gpu(), problem)
    assert len(kernels) > 1
    for spec in kernels:
        passed(spec, problem, "cuda")


@pytest.mark.gpu
@pytest.mark.torch
@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("name", ["torch-flash", "torch-efficient", "torch-math", "torch-cudnn"])
def test_a_librarys_answer_that_was_brought_back_is_right(name: str, passes: Passes) -> None:
    problem = Problem(
        seqlen_q=200, seqlen_k=200, heads=4, head_dim=64, causal=True, dtype="float16", passes=passes
    )
    passed(find_kernel(name), problem, "cuda")


def passed(spec: KernelSpec, problem: Problem, backend: Backend) -> None:
    """Change the inputs twice after all is prepared, run, and judge by what was drawn."""
    drawn, rounding = draw_given(problem, backend), spec.rounding and spec.rounding(problem)
    given = after_forward(spec, problem, drawn, backend)
    launch = prepare_passes(spec, problem, given, backend)
    signs, expected = ChangingSigns(problem, drawn), draw_given(problem, backend)
    signs.change()
    signs.change()
    launch.spoil()
    launch.run()
    answer = signs.brought_back(launch.answer())
    if problem.runs_forward:
        verdict = verify(problem, expected.inputs, answer.output, answer.lse, rounding=rounding)
        assert verdict.passed, (spec.name, verdict)
    if problem.runs_backward:
        criterion = gradient_criterion(problem, expected.inputs, expected.grad_output)
        verdict = criterion.judge(answer.gradients)
        assert verdict.passed, (spec.name, verdict)
    launch.release()
