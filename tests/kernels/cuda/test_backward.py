"""Every backward pass on a GPU against the float64 oracle."""

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import pytest
from msgspec import structs

from kernels import attention, attention_backward
from kernels.block_mask import BlockMask
from kernels.cuda.device import describe
from kernels.errors import UnsupportedError
from kernels.launch import Gradients, Inputs, Saved, make_inputs, prepare_backward
from kernels.problem import Dtype, Problem
from kernels.reference import attention_reference
from kernels.registry import LADDER, LIBRARY, find_kernel
from kernels.spec import HEAD_DIMS
from kernels.verify import Verdict, storage_dtype
from kernels.verify_gradients import verify_gradients
from tests.kernels.cases import LENGTHS, PROBES, Case
from tests.kernels.cuda.running import both_masks, widened
from tests.kernels.cuda.test_masks import BLOCKS, WINDOWS, drawn
from tests.kernels.report import note

pytestmark = pytest.mark.gpu


class Mode(NamedTuple):
    """A kernel's backward pass, and whether every run is to give the same bits."""

    name: str
    deterministic: bool = False


OURS = [
    Mode(spec.name, deterministic)
    for spec in LADDER
    if spec.backward is not None and "cuda" in spec.backward.implementation
    for deterministic in ((False, True) if spec.name == "flash2" else (False,))
]
each_mode = pytest.mark.parametrize(
    "mode", OURS, ids=[f"{mode.name}{'-deterministic' * mode.deterministic}" for mode in OURS]
)
DTYPES: tuple[Dtype, ...] = ("float16", "bfloat16")
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
MASK_LENGTHS = ((113, 203), (203, 113), (1023, 1024), (300, 1500))


def given(cp: Any, problem: Problem, inputs: Inputs | None = None) -> Saved:
    """Inputs drawn unless they are given, O and LSE as a right forward pass leaves them, and a dO."""
    inputs = make_inputs(problem, "cuda") if inputs is None else inputs
    output, lse = attention_reference(
        *inputs,
        causal=problem.causal,
        window=problem.window,
        block_mask=problem.block_mask,
        scale=problem.softmax_scale,
    )
    dtype = storage_dtype(problem.dtype)
    grad_output = cp.random.default_rng(problem.seed + 1).standard_normal(problem.q_shape, dtype=cp.float32)
    return Saved(*inputs, output.astype(dtype), lse.astype(cp.float32), grad_output.astype(dtype))


def prepared(mode: Mode, problem: Problem, saved: Saved) -> Any:
    """The pass bound to its arrays, what it writes poisoned; skips what this GPU cannot run."""
    spec = find_kernel(mode.name)
    reason = spec.unsupported_backward(problem, describe(), deterministic=mode.deterministic)
    if reason is not None:
        pytest.skip(reason)
    launch = prepare_backward(spec, problem, saved, "cuda", deterministic=mode.deterministic)
    poison(launch)
    return launch


def poison(launch: Any) -> None:
    """Fill with NaN what a run is to write: all but P, which it reads."""
    written = {
        key: array for key, array in launch.workspace.items() if key != "P" and array.dtype.kind != "i"
    }
    for array in (*launch.gradients, *written.values()):
        array.fill(float("nan"))


def judged(cp: Any, mode: Mode, problem: Problem, inputs: Inputs | None = None) -> Verdict:
    saved = given(cp, problem, inputs)
    launch = prepared(mode, problem, saved)
    launch.run()
    verdict = verify_gradients(problem, saved.inputs, saved.grad_output, launch.gradients)
    return note(f"{mode.name} backward", verdict)


@both_masks
@each_dtype
@each_mode
@pytest.mark.parametrize("lengths", [*LENGTHS[:-1], (128, 64), (700, 180), (1300, 2050)], ids=str)
def test_every_length_agrees_with_the_oracle(
    cp: Any, mode: Mode, lengths: tuple[int, int], dtype: Dtype, causal: bool
) -> None:
    for head_dim in (64, 128, 256):
        problem = Problem(
            batch=2,
            heads=3,
            seqlen_q=lengths[0],
            seqlen_k=lengths[1],
            head_dim=head_dim,
            dtype=dtype,
            causal=causal,
        )
        verdict = judged(cp, mode, problem)
        assert verdict.passed, (head_dim, verdict)


@each_mode
def test_every_head_dim_agrees_with_the_oracle(cp: Any, mode: Mode) -> None:
    for head_dim in HEAD_DIMS:
        problem = Problem(
            heads=2,
            seqlen_q=150,
            seqlen_k=170,
            head_dim=head_dim,
            dtype=DTYPES[head_dim // 8 % 2],
            causal=True,
            seed=head_dim,
        )
        verdict = judged(cp, mode, problem)
        assert verdict.passed, (head_dim, verdict)


@each_dtype
@each_mode
@pytest.mark.parametrize("kv_heads", [1, 2, 3])
def test_grouped_heads_agree_with_the_oracle(cp: Any, mode: Mode, kv_heads: int, dtype: Dtype) -> None:
    for head_dim, causal in product((64, 128, 256), (False, True)):
        problem = Problem(
            batch=2,
            heads=6,
            kv_heads=kv_heads,
            seqlen_q=150,
            seqlen_k=333,
            head_dim=head_dim,
            dtype=dtype,
            causal=causal,
        )
        verdict = judged(cp, mode, problem)
        assert verdict.passed, (problem, verdict)


@both_masks
@each_mode
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_every_window_agrees_with_the_oracle(
    cp: Any, mode: Mode, window: tuple[int, int], causal: bool
) -> None:
    for head_dim, (seqlen_q, seqlen_k) in product((64, 128, 256), MASK_LENGTHS):
        problem = Problem(
            heads=2,
            seqlen_q=seqlen_q,
            seqlen_k=seqlen_k,
            head_dim=head_dim,
            dtype="bfloat16",
            causal=causal,
            window=window,
        )
        verdict = judged(cp, mode, problem)
        assert verdict.passed, (problem, verdict)


@each_mode
@pytest.mark.parametrize("blocks", BLOCKS, ids=str)
def test_every_block_mask_agrees_with_the_oracle(cp: Any, mode: Mode, blocks: tuple[int, int]) -> None:
    for causal, window in ((False, None), (True, None), (False, (150, 90))):
        for head_dim, (seqlen_q, seqlen_k) in product((64, 128), MASK_LENGTHS):
            problem = Problem(
                heads=4,
                kv_heads=2,
                seqlen_q=seqlen_q,
                seqlen_k=seqlen_k,
                head_dim=head_dim,
                dtype="float16",
                causal=causal,
                window=window,
                block_mask=drawn(seqlen_q, seqlen_k, blocks),
            )
            verdict = judged(cp, mode, problem)
            assert verdict.passed, (problem, verdict)


@both_masks
@each_dtype
@each_mode
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.__name__)
def test_every_probe_agrees_with_the_oracle(
    cp: Any, mode: Mode, probe: Callable[[], Case], dtype: Dtype, causal: bool
) -> None:
    case = widened(probe(), max(probe().problem.head_dim, 64))
    problem = structs.replace(case.problem, dtype=dtype, causal=causal or case.problem.causal)
    inputs = Inputs(*(cp.asarray(array).astype(storage_dtype(dtype)) for array in case.inputs))
    verdict = judged(cp, mode, problem, inputs)
    assert verdict.passed, verdict


@each_dtype
@each_mode
@pytest.mark.parametrize("scale", [0.0, -0.3, 2.5, 250.0])
def test_any_finite_scale_agrees_with_the_oracle(cp: Any, mode: Mode, dtype: Dtype, scale: float) -> None:
    problem = Problem(heads=2, seqlen_q=130, seqlen_k=260, dtype=dtype, causal=True, scale=scale)
    verdict = judged(cp, mode, problem)
    assert verdict.passed, verdict


@each_mode
def test_rows_without_keys_and_keys_without_rows_get_exactly_nothing(cp: Any, mode: Mode) -> None:
    problem = Problem(heads=2, seqlen_q=300, seqlen_k=100, dtype="bfloat16", causal=True)
    launch = prepared(mode, problem, given(cp, problem))
    launch.run()
    assert bool((launch.gradients.dq[:, :, :200].astype(cp.float32) == 0).all())
    mask = BlockMask.random(512, 512, block_q=128, block_k=128, kept_share=0.0)
    problem = Problem(heads=2, seqlen_q=512, seqlen_k=512, dtype="bfloat16", block_mask=mask)
    launch = prepared(mode, problem, given(cp, problem))
    launch.run()
    assert all(bool((gradient.astype(cp.float32) == 0).all()) for gradient in launch.gradients)


@each_dtype
@pytest.mark.parametrize(
    "mode", [Mode("standard", deterministic=True), Mode("flash2", deterministic=True)], ids=str
)
def test_a_thousand_deterministic_runs_agree_to_the_bit(cp: Any, mode: Mode, dtype: Dtype) -> None:
    problem = Problem(heads=4, kv_heads=2, seqlen_q=515, seqlen_k=771, dtype=dtype, causal=True)
    launch = prepared(mode, problem, given(cp, problem))
    launch.run()
    first, differing = [gradient.copy() for gradient in launch.gradients], cp.zeros((), cp.int64)
    for _ in range(1000):
        poison(launch)
        launch.run()
        for gradient, one in zip(launch.gradients, first, strict=True):
            differing += (gradient.view(cp.uint8) != one.view(cp.uint8)).sum()
    assert int(differing) == 0


def test_both_modes_of_flash2_share_the_bits_of_dk_and_dv(cp: Any) -> None:
    problem = Problem(heads=4, seqlen_q=515, seqlen_k=771, dtype="bfloat16", causal=True)
    saved = given(cp, problem)
    launches = [prepared(Mode("flash2", deterministic=alone), problem, saved) for alone in (False, True)]
    for launch in launches:
        launch.run()
    atomic, alone = (launch.gradients for launch in launches)
    assert bool((atomic.dk.view(cp.uint8) == alone.dk.view(cp.uint8)).all())
    assert bool((atomic.dv.view(cp.uint8) == alone.dv.view(cp.uint8)).all())


def test_offsets_pass_two_to_the_31_score_elements(cp: Any) -> None:
    problem = Problem(heads=2, seqlen_q=33000, seqlen_k=33008, head_dim=64, dtype="bfloat16", causal=True)
    assert problem.score_elements > 2**31
    inputs = make_inputs(problem, "cuda")
    output, lse = attention(*inputs, kernel="flash2", causal=True, return_lse=True)
    found = [
        attention_backward(*inputs, output, lse, output, kernel=name, causal=True)
        for name in ("standard", "flash2")
    ]
    for one, other in zip(*found, strict=True):
        difference = one.astype(cp.float32) - other.astype(cp.float32)
        assert float(cp.linalg.norm(difference)) < 2e-2 * float(cp.linalg.norm(other.astype(cp.float32)))


@each_mode
def test_a_run_can_be_captured_in_a_graph(cp: Any, mode: Mode) -> None:
    """It neither allocates nor waits: capture refuses both."""
    problem = Problem(heads=2, seqlen_q=300, seqlen_k=300, dtype="bfloat16")
    saved = given(cp, problem)
    launch = prepared(mode, problem, saved)
    stream = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        launch.run()
        graph = stream.end_capture()
        graph.launch(stream)
    stream.synchronize()
    assert verify_gradients(problem, saved.inputs, saved.grad_output, launch.gradients).passed


@each_mode
def test_workspace_is_what_the_spec_predicts(cp: Any, mode: Mode) -> None:
    mask = drawn(600, 900, (128, 64))
    problem = Problem(seqlen_q=600, seqlen_k=900, dtype="bfloat16", block_mask=mask)
    launch = prepared(mode, problem, given(cp, problem))
    backward = find_kernel(mode.name).backward
    assert backward is not None
    not_taken = problem.rows * problem.head_dim * 4 if mode.deterministic else 0  # sums of dQ
    assert launch.workspace_bytes == backward.workspace_bytes(problem, "cuda") - not_taken


@each_dtype
@pytest.mark.parametrize("lengths", [(300, 300), (256, 512)], ids=str)
@pytest.mark.parametrize("name", [spec.name for spec in LIBRARY])
def test_a_peers_gradients_pass_the_criterion_of_our_own(
    cp: Any, name: str, lengths: tuple[int, int], dtype: Dtype
) -> None:
    for head_dim, causal, kv_heads in product((64, 128), (False, True), (4, 2)):
        problem = Problem(
            batch=2,
            heads=4,
            kv_heads=kv_heads,
            seqlen_q=lengths[0],
            seqlen_k=lengths[1],
            head_dim=head_dim,
            causal=causal,
            dtype=dtype,
        )
        saved = given(cp, problem)
        try:
            gradients = attention_backward(*saved._replace(lse=None), kernel=name, causal=causal)
        except UnsupportedError as error:
            pytest.skip(str(error))
        verdict = verify_gradients(problem, saved.inputs, saved.grad_output, Gradients(*gradients))
        assert note(f"{name} backward", verdict).passed, (problem, verdict)
