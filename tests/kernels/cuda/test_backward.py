"""Every backward pass on a GPU against the float64 oracle."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from msgspec import structs

from flashscope.kernels import attention, attention_backward
from flashscope.kernels.catalogue.ladder import FLASH3
from flashscope.kernels.catalogue.peers import LIBRARY
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import HEAD_DIMS
from flashscope.kernels.launching.launch import make_inputs, prepare_backward
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs
from tests.kernels.cases import LENGTHS, PROBES, Case, in_mode
from tests.kernels.cuda.running import both_masks, widened
from tests.kernels.cuda.running_backward import (
    DTYPES,
    Mode,
    differing_bits,
    each_dtype,
    each_mode,
    given,
    judged,
    prepared,
    taken,
    unsupported,
)
from tests.kernels.cuda.test_masks import BLOCKS, WINDOWS, drawn
from tests.kernels.report import note

MASK_LENGTHS = ((113, 203), (203, 113), (1023, 1024), (300, 1500))
pytestmark = pytest.mark.gpu


@both_masks
@each_dtype
@each_mode
@pytest.mark.parametrize("lengths", [*LENGTHS[:-1], (128, 64), (700, 180), (1300, 2050)], ids=str)
def test_every_length_agrees_with_the_oracle(
    cp: Any, mode: Mode, lengths: tuple[int, int], dtype: Dtype, causal: bool
) -> None:
    problems = [
        Problem(
            batch=2,
            heads=3,
            seqlen_q=lengths[0],
            seqlen_k=lengths[1],
            head_dim=head_dim,
            dtype=dtype,
            causal=causal,
        )
        for head_dim in (64, 128, 256)
    ]
    for problem in taken(mode, problems):
        verdict = judged(cp, mode, problem)
        assert verdict.passed, (problem, verdict)


@each_mode
def test_every_head_dim_agrees_with_the_oracle(cp: Any, mode: Mode) -> None:
    problems = [
        Problem(
            heads=2,
            seqlen_q=150,
            seqlen_k=170,
            head_dim=head_dim,
            dtype=DTYPES[head_dim // 8 % 2],
            causal=True,
            seed=head_dim,
        )
        for head_dim in HEAD_DIMS
    ]
    for problem in taken(mode, problems):
        verdict = judged(cp, mode, problem)
        assert verdict.passed, (problem, verdict)


@each_dtype
@each_mode
@pytest.mark.parametrize("kv_heads", [1, 2, 3])
def test_grouped_heads_agree_with_the_oracle(cp: Any, mode: Mode, kv_heads: int, dtype: Dtype) -> None:
    problems = [
        Problem(
            batch=2,
            heads=6,
            kv_heads=kv_heads,
            seqlen_q=150,
            seqlen_k=333,
            head_dim=head_dim,
            dtype=dtype,
            causal=causal,
        )
        for head_dim, causal in product((64, 128, 256), (False, True))
    ]
    for problem in taken(mode, problems):
        verdict = judged(cp, mode, problem)
        assert verdict.passed, (problem, verdict)


@both_masks
@each_mode
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_every_window_agrees_with_the_oracle(
    cp: Any, mode: Mode, window: tuple[int, int], causal: bool
) -> None:
    problems = [
        Problem(
            heads=2,
            seqlen_q=seqlen_q,
            seqlen_k=seqlen_k,
            head_dim=head_dim,
            dtype="bfloat16",
            causal=causal,
            window=window,
        )
        for head_dim, (seqlen_q, seqlen_k) in product((64, 128, 256), MASK_LENGTHS)
    ]
    for problem in taken(mode, problems):
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
    inputs = Inputs(*(cp.asarray(array).astype(storage_dtype(dtype)) for array in case.inputs.qkv))
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
def test_rows_without_keys_get_exactly_nothing(cp: Any, mode: Mode) -> None:
    problem = Problem(heads=2, seqlen_q=300, seqlen_k=100, dtype="bfloat16", causal=True)
    launch = prepared(mode, problem, given(cp, problem))
    launch.run()
    assert bool((launch.gradients.dq[:, :, :200].astype(cp.float32) == 0).all())


@each_mode
def test_keys_without_rows_get_exactly_nothing(cp: Any, mode: Mode) -> None:
    problem = Problem(heads=2, seqlen_q=100, seqlen_k=900, dtype="bfloat16", window=(20, 0))
    launch = prepared(mode, problem, given(cp, problem))
    launch.run()
    for gradient in (launch.gradients.dk, launch.gradients.dv):
        assert bool((gradient[:, :, :780].astype(cp.float32) == 0).all())


@pytest.mark.parametrize("deterministic", [False, True], ids=["any order", "deterministic"])
def test_blocks_that_stay_pass_keys_without_rows(cp: Any, deterministic: bool) -> None:
    problem = Problem(
        batch=64, heads=8, seqlen_q=100, seqlen_k=1024, head_dim=64, dtype="bfloat16", window=(300, 0)
    )
    verdict = judged(cp, Mode(FLASH3.name, deterministic), problem)
    assert verdict.passed, verdict


@each_mode
def test_under_a_mask_of_dropped_blocks_all_gradients_are_nothing(cp: Any, mode: Mode) -> None:
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
    assert differing_bits(cp, prepared(mode, problem, given(cp, problem)), 1000) == 0


MANY_KEY_TILES: dict[str, dict[str, Any]] = {
    "a block a tile": {"heads": 16, "kv_heads": 4, "seqlen_q": 1300, "seqlen_k": 4444},
    "blocks that stay": {"heads": 132, "seqlen_q": 515, "seqlen_k": 1930},
    "window": {"heads": 8, "seqlen_q": 3000, "seqlen_k": 3100, "window": (400, 70)},
    "block mask": {
        "heads": 8,
        "kv_heads": 4,
        "seqlen_q": 3000,
        "seqlen_k": 3100,
        "block_mask": drawn(3000, 3100, (64, 32)),
    },
}


@both_masks
@pytest.mark.parametrize("head_dim", [64, 128, 256])
@pytest.mark.parametrize("shape", MANY_KEY_TILES.values(), ids=MANY_KEY_TILES)
def test_a_thousand_deterministic_runs_of_flash3_s_timed_build_agree_to_the_bit(
    cp: Any, shape: dict[str, Any], head_dim: int, causal: bool
) -> None:
    problem = Problem(head_dim=head_dim, dtype="bfloat16", causal=causal, **shape)
    taken(Mode(FLASH3.name, deterministic=True), [problem])
    saved = given(cp, problem)
    launch = prepare_backward(FLASH3, in_mode(problem), saved, "cuda")
    assert differing_bits(cp, launch, 1000) == 0
    verdict = gradient_criterion(problem, saved.inputs, saved.grad_output).judge(launch.gradients)
    assert note("flash3 backward", verdict).passed, verdict


@each_dtype
@pytest.mark.parametrize("head_dim", [64, 128, 192, 256])
def test_the_timed_build_of_flash3_repeats_dk_and_dv_to_the_bit(cp: Any, head_dim: int, dtype: Dtype) -> None:
    """The other tests run the build that traps where it would wait for ever; dQ is added to in any order."""
    problem = Problem(
        heads=40, kv_heads=20, seqlen_q=1300, seqlen_k=1111, head_dim=head_dim, dtype=dtype, causal=True
    )
    taken(Mode(FLASH3.name), [problem])
    saved = given(cp, problem)
    launch = prepare_backward(FLASH3, problem, saved, "cuda")
    assert differing_bits(cp, launch, 100, names=("dk", "dv")) == 0
    verdict = gradient_criterion(problem, saved.inputs, saved.grad_output).judge(launch.gradients)
    assert note("flash3 backward", verdict).passed, verdict


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
    output, lse = attention(*inputs.qkv, kernel="flash2", causal=True, return_lse=True)
    exact = attention_backward(*inputs.qkv, output, lse, output, kernel="standard", causal=True)
    for name in (one for one in ("flash2", "flash3") if unsupported(Mode(one), problem) is None):
        found = attention_backward(*inputs.qkv, output, lse, output, kernel=name, causal=True)
        for one, other in zip(found, exact, strict=True):
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
    assert gradient_criterion(problem, saved.inputs, saved.grad_output).judge(launch.gradients).passed


@each_mode
@pytest.mark.parametrize("blocks", [None, (128, 64)], ids=str)
def test_workspace_is_what_the_spec_predicts(cp: Any, mode: Mode, blocks: tuple[int, int] | None) -> None:
    mask = blocks and drawn(600, 900, blocks)
    problem = Problem(seqlen_q=600, seqlen_k=900, dtype="bfloat16", block_mask=mask)
    launch = prepared(mode, problem, given(cp, problem))
    backward = find_kernel(mode.name).backward
    assert backward is not None
    assert launch.workspace_bytes == backward.workspace_bytes(mode.of(problem), "cuda")


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
        verdict = gradient_criterion(problem, saved.inputs, saved.grad_output).judge(Gradients(*gradients))
        assert note(f"{name} backward", verdict).passed, (problem, verdict)
