"""flash3 and the steps to it against the float64 oracle, on a Hopper GPU.

A barrier that never completes would hang the GPU, so correctness runs the build that traps instead
(MAX_POLLS), with the same code between its waits; the timed build then repeats one shape a thousand times.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from kernels.cuda import flash3
from kernels.cuda.device import describe
from kernels.cuda.launch import CudaLaunch, bind
from kernels.cuda.program import Program, Target
from kernels.launch import Inputs, make_inputs
from kernels.problem import Dtype, Problem
from kernels.registry import FLASH3, STEPS
from kernels.spec import KernelSpec
from kernels.verify import Verdict, storage_dtype, verify
from kernels.workspace import TILE_COUNTER
from tests.kernels.cases import LENGTHS, PROBES, Case
from tests.kernels.cuda.test_kernels import poison
from tests.kernels.cuda.test_masks import LENGTHS as WINDOW_LENGTHS
from tests.kernels.cuda.test_masks import WINDOWS

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("hopper"), pytest.mark.timeout(300)]

MAX_POLLS = 20_000_000  # seconds; what a wait takes is microseconds
DTYPES: tuple[Dtype, ...] = FLASH3.dtypes["cuda"]
HEAD_DIMS = FLASH3.head_dims["cuda"]
MORE_LENGTHS = ((1, 239), (3, 799), (128, 217), (257, 257), (700, 180), (1500, 1400), (2048, 2048))
both_masks = pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
both_dtypes = pytest.mark.parametrize("dtype", DTYPES)
every_step = pytest.mark.parametrize("spec", [*STEPS, FLASH3], ids=lambda spec: spec.name)


@pytest.fixture
def hopper() -> None:
    """Skip on every other GPU: flash3's code runs on compute capability 9.0 alone."""
    found = describe().compute_capability
    if found != (9, 0):
        pytest.skip(f"needs compute capability 9.0, this GPU has {found}")


def guarded(problem: Problem, target: Target, step: str) -> Program:
    """The program of a step that traps instead of waiting for ever."""
    program = flash3.program(problem, target, step)
    return replace(program, defines={**program.defines, "MAX_POLLS": MAX_POLLS})


def run(problem: Problem, spec: KernelSpec = FLASH3, inputs: Inputs | None = None) -> Verdict:
    inputs = make_inputs(problem, "cuda") if inputs is None else inputs
    launch = bind(spec, problem, inputs, partial(guarded, step=spec.name))
    poison(launch)
    launch.run()
    return verify(problem, inputs, launch.output, launch.lse)


@both_masks
@both_dtypes
@pytest.mark.parametrize("lengths", [*LENGTHS, *MORE_LENGTHS], ids=str)
def test_every_length_agrees_with_the_oracle(lengths: tuple[int, int], dtype: Dtype, causal: bool) -> None:
    seqlen_q, seqlen_k = lengths
    for head_dim in (64, 128, 256):
        problem = Problem(
            batch=2,
            heads=3,
            seqlen_q=seqlen_q,
            seqlen_k=seqlen_k,
            head_dim=head_dim,
            dtype=dtype,
            causal=causal,
        )
        verdict = run(problem)
        assert verdict.passed, (head_dim, verdict)


@both_masks
@every_step
def test_every_step_agrees_with_the_oracle(spec: KernelSpec, causal: bool) -> None:
    for head_dim in HEAD_DIMS:
        problem = Problem(
            heads=24, seqlen_q=1023, seqlen_k=1400, head_dim=head_dim, dtype="bfloat16", causal=causal
        )
        verdict = run(problem, spec)
        assert verdict.passed, (head_dim, verdict)


@both_dtypes
@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_every_head_dim_agrees_with_the_oracle(head_dim: int, dtype: Dtype) -> None:
    for seqlen_q, seqlen_k, causal in ((150, 170, True), (700, 180, True), (300, 500, False)):
        problem = Problem(
            batch=2,
            heads=3,
            seqlen_q=seqlen_q,
            seqlen_k=seqlen_k,
            head_dim=head_dim,
            dtype=dtype,
            causal=causal,
        )
        verdict = run(problem)
        assert verdict.passed, (problem, verdict)


@both_masks
@both_dtypes
@pytest.mark.parametrize("scale", [0.0, -0.3, 0.3, 2.5])
def test_any_finite_scale_agrees_with_the_oracle(scale: float, dtype: Dtype, causal: bool) -> None:
    for head_dim in (64, 128, 256):
        problem = Problem(
            seqlen_q=300, seqlen_k=500, head_dim=head_dim, dtype=dtype, causal=causal, scale=scale
        )
        verdict = run(problem)
        assert verdict.passed, (head_dim, verdict)


@both_masks
@both_dtypes
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.__name__)
def test_every_probe_agrees_with_the_oracle(
    cp: Any, probe: Callable[[], Case], dtype: Dtype, causal: bool
) -> None:
    case = probe()
    if case.problem.head_dim not in HEAD_DIMS:
        case = widened(case)
    problem = structs.replace(case.problem, dtype=dtype, causal=causal or case.problem.causal)
    inputs = Inputs(*(cp.asarray(array).astype(storage_dtype(dtype)) for array in case.inputs))
    verdict = run(problem, inputs=inputs)
    assert verdict.passed, verdict


def widened(case: Case) -> Case:
    """The same scores with heads of 64: the columns beyond are zero in Q, K and V."""
    room = ((0, 0), (0, 0), (0, 0), (0, 64 - case.problem.head_dim))
    return Case(
        structs.replace(case.problem, head_dim=64, scale=case.problem.softmax_scale),
        Inputs(*(np.pad(array, room) for array in case.inputs)),
    )


@both_masks
@both_dtypes
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_every_window_agrees_with_the_oracle(window: tuple[int, int], dtype: Dtype, causal: bool) -> None:
    for head_dim in (64, 128, 256):
        for seqlen_q, seqlen_k in (*WINDOW_LENGTHS, (2000, 300)):
            problem = Problem(
                heads=2,
                seqlen_q=seqlen_q,
                seqlen_k=seqlen_k,
                head_dim=head_dim,
                dtype=dtype,
                causal=causal,
                window=window,
            )
            verdict = run(problem)
            assert verdict.passed, (problem, verdict)


@both_dtypes
@pytest.mark.parametrize("kv_heads", [1, 2, 3])
def test_grouped_heads_agree_with_the_oracle(kv_heads: int, dtype: Dtype) -> None:
    for head_dim in (64, 128, 256):
        problem = Problem(
            batch=2,
            heads=6,
            kv_heads=kv_heads,
            seqlen_q=150,
            seqlen_k=333,
            head_dim=head_dim,
            dtype=dtype,
            causal=True,
        )
        verdict = run(problem)
        assert verdict.passed, (problem, verdict)


@both_masks
@pytest.mark.parametrize("head_dim", [64, 128, 256])
def test_a_thousand_runs_agree_to_the_bit(cp: Any, head_dim: int, causal: bool) -> None:
    """Of the build that is timed, through `prepare`: tiles go to other blocks in every run."""
    problem = Problem(
        heads=48, seqlen_q=1500, seqlen_k=1400, head_dim=head_dim, dtype="bfloat16", causal=causal
    )
    inputs = make_inputs(problem, "cuda")
    assert run(problem, inputs=inputs).passed
    launch: Any = flash3.prepare(FLASH3, problem, inputs)
    launch.run()
    assert verify(problem, inputs, launch.output, launch.lse).passed
    first, first_lse = launch.output.copy(), launch.lse.copy()
    differing = cp.zeros((), cp.int64)
    for _ in range(1000):
        poison(launch)
        launch.run()
        differing += (launch.output.view(cp.uint8) != first.view(cp.uint8)).sum()
        differing += (launch.lse.view(cp.uint8) != first_lse.view(cp.uint8)).sum()
    assert int(differing) == 0


@every_step
def test_every_run_leaves_the_tile_counter_at_zero(cp: Any, spec: KernelSpec) -> None:
    problem = Problem(heads=24, seqlen_q=900, seqlen_k=900, dtype="bfloat16", causal=True)
    launch = flash3.prepare(spec, problem, make_inputs(problem, "cuda"))
    assert isinstance(launch, CudaLaunch)
    for _ in range(3):
        launch.run()
        assert int(cp.abs(launch.workspace[TILE_COUNTER]).sum()) == 0


def test_offsets_pass_two_to_the_31_score_elements() -> None:
    problem = Problem(heads=2, seqlen_q=33000, seqlen_k=33008, dtype="bfloat16")
    assert problem.score_elements > 2**31
    verdict = run(problem)
    assert verdict.passed, verdict


def test_a_run_can_be_captured_in_a_graph(cp: Any) -> None:
    """It neither allocates nor waits: capture refuses both."""
    problem = Problem(heads=2, seqlen_q=300, seqlen_k=300, dtype="bfloat16")
    launch = flash3.prepare(FLASH3, problem, make_inputs(problem, "cuda"))
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


def test_workspace_is_what_the_spec_predicts() -> None:
    problem = Problem(heads=2, seqlen_q=90, seqlen_k=120, dtype="bfloat16")
    launch = flash3.prepare(FLASH3, problem, make_inputs(problem, "cuda"))
    assert launch.workspace_bytes == FLASH3.workspace_bytes(problem, "cuda")
