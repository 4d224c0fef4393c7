"""Softcaps, sinks and ALiBi's bias in the CUDA sources: emulated against the oracle, and on a GPU."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.ladder import FLASH3
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda import flash2, flash2_backward, flash3, flash3_backward
from flashscope.kernels.cuda.program import ProgramOf
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels import cases
from tests.kernels.cases import in_mode
from tests.kernels.cuda.builds import ON_HOPPER, SCORED
from tests.kernels.cuda.emulator.build import Edits
from tests.kernels.cuda.emulator.running import Setting, backward, drawn, fails, forward, needs_compiler
from tests.kernels.cuda.running import run
from tests.kernels.cuda.running_backward import Mode, judged
from tests.kernels.cuda.test_emulated import KINDS
from tests.matrix import chosen, covered, matrix

GPU = Device(backend="cuda", name="a GPU", memory_bytes=2**36, compute_capability=(9, 0))
UNEVEN = ("ragged", "pages", "ragged pages")
FORWARD: dict[str, ProgramOf] = {"flash2": flash2.program, "flash3": flash3.program}
MORE_MASKS = tuple(kind for kind in KINDS if kind not in UNEVEN)


def of_kind(kind: str, scores: str, head_dim: int, dtype: Dtype, **more: Any) -> Problem:
    """Heads are no power of two, so that slopes are of both kinds."""
    bound = {"softcap": 2.0} if "softcap" in SCORED[scores] else {}
    asked = {**KINDS[kind], **SCORED[scores], **bound, **more}
    return Problem(heads=6, kv_heads=3, head_dim=head_dim, dtype=dtype, **asked)


def cut_of(kind: str, scores: str) -> tuple[int, Dtype, int]:
    """Head dim, dtype and GPU, in turns."""
    turn = [*KINDS].index(kind) + 3 * [*SCORED].index(scores)
    return (64, 128, 96, 192)[turn % 4], ("float16", "bfloat16")[turn % 2], (800, 890, 900, 1200)[turn % 4]


@needs_compiler
@matrix("kind scores", product(KINDS, SCORED), few=1)
def test_outputs_agree_with_the_oracle(kind: str, scores: str) -> None:
    head_dim, dtype, arch = cut_of(kind, scores)
    problem = of_kind(kind, scores, head_dim, dtype)
    for seed in range(2):
        verdict = forward("flash2", problem, flash2.program, Setting(seed, arch))
        assert verdict.passed, (seed, verdict)


@needs_compiler
@matrix("kind scores", product(KINDS, SCORED), few=1)
def test_outputs_of_flash3_agree_with_the_oracle(kind: str, scores: str) -> None:
    head_dim, dtype, _ = cut_of(kind, scores)
    problem = of_kind(kind, scores, head_dim, dtype)
    for seed in range(2):
        verdict = forward("flash3", problem, flash3.program, Setting(seed))
        assert verdict.passed, (seed, verdict)


FEW_ROWS: dict[str, dict[str, Any]] = {
    "full": {},
    "ragged": {"batch": 2, "query_lengths": (2, 1), "key_lengths": (2500, 77)},
    "causal": {"causal": True},
}


def few_rows(kind: str, scores: str, head_dim: int) -> Problem:
    """Rows of packed heads over parts of the keys."""
    problem = of_kind("full", scores, head_dim, "bfloat16", seqlen_q=2, seqlen_k=2500, **FEW_ROWS[kind])
    problem = replace(problem, heads=4, kv_heads=1, scale=-0.4)
    defines = flash3.program(problem, ON_HOPPER).defines
    assert (defines["SPLIT"], defines["PACKED"]) == (1, 1)
    return problem


@needs_compiler
@matrix("kind scores head_dim", product(FEW_ROWS, SCORED, (64, 128, 256)), few=1)
def test_parts_of_keys_and_packed_heads_agree_with_the_oracle(kind: str, scores: str, head_dim: int) -> None:
    verdict = forward("flash3", few_rows(kind, scores, head_dim), flash3.program)
    assert verdict.passed, verdict


@needs_compiler
@matrix("scores head_dim causal", product(SCORED, (64, 96, 128), (False, True)), few=0)
def test_drawn_tiles_agree_with_the_oracle(scores: str, head_dim: int, causal: bool) -> None:
    problem = of_kind("full", scores, head_dim, "bfloat16", seqlen_q=330, seqlen_k=350, causal=causal)
    problem = replace(problem, batch=2, heads=40, kv_heads=20)
    assert flash3.program(problem, ON_HOPPER).defines["SCHEDULE"]
    verdict = forward("flash3", problem, flash3.program, Setting(1))
    assert verdict.passed, verdict


@pytest.mark.matrix  # it takes a second
@needs_compiler
@matrix("kind scores deterministic", product(MORE_MASKS, SCORED, (False, True)), few=1)
def test_gradients_agree_with_the_oracle(kind: str, scores: str, deterministic: bool) -> None:
    head_dim, dtype, arch = cut_of(kind, scores)
    problem = in_mode(of_kind(kind, scores, head_dim, dtype), deterministic)
    for seed in range(2):
        verdict = backward("flash2", problem, flash2_backward.program, Setting(seed, arch))
        assert verdict.passed, (seed, verdict)


@needs_compiler
@matrix(
    "kind scores head_dim",
    covered(
        "kind scores head_dim",
        product(MORE_MASKS, SCORED, (64, 128, 192, 256)),
        *("kind scores", "kind head_dim", "scores head_dim"),
    ),
    few=0,
)
def test_gradients_of_flash3_agree_with_the_oracle(kind: str, scores: str, head_dim: int) -> None:
    for deterministic in (False, True):
        problem = in_mode(of_kind(kind, scores, head_dim, "bfloat16"), deterministic)
        if FLASH3.unsupported(problem, GPU) is not None:
            pytest.skip("a block mask before wide heads")
        verdict = backward("flash3", problem, flash3_backward.program, Setting(int(deterministic)))
        assert verdict.passed, (deterministic, verdict)


WIDTHS = ((192, 128), (128, 64), (64, 128), (256, 64), (96, 256))


def of_widths(widths: tuple[int, int], kind: str, dtype: Dtype) -> Problem:
    """Values of another head dim, with all terms of the scores in every second kind."""
    terms = SCORED["all of scores"] if [*KINDS].index(kind) % 2 else {}
    head_dim, value_dim = widths
    kinds = {**KINDS[kind], **terms}
    return Problem(heads=6, kv_heads=3, head_dim=head_dim, head_dim_v=value_dim, dtype=dtype, **kinds)


@needs_compiler
@matrix("widths kind", product(WIDTHS, KINDS), few=1, ids=str)
def test_values_of_another_head_dim_agree_with_the_oracle(widths: tuple[int, int], kind: str) -> None:
    for kernel, program_of in FORWARD.items():
        problem = of_widths(widths, kind, "bfloat16")
        if find_kernel(kernel).unsupported(problem, GPU) is None:
            verdict = forward(kernel, problem, program_of, Setting(1))
            assert verdict.passed, (kernel, verdict)


@pytest.mark.matrix  # it takes a second
@needs_compiler
@matrix("widths kind", product(((40, 72), (72, 24), *WIDTHS), MORE_MASKS), few=1, ids=str)
def test_gradients_beside_values_of_another_head_dim_agree_with_the_oracle(
    widths: tuple[int, int], kind: str
) -> None:
    for deterministic in (False, True):
        problem = in_mode(of_widths(widths, kind, "float16"), deterministic)
        verdict = backward("flash2", problem, flash2_backward.program, Setting(int(deterministic), 890))
        assert verdict.passed, (deterministic, verdict)


NARROW_VALUES = ((192, 128), (128, 64), (128, 96), (256, 64), (256, 160))


@pytest.mark.matrix  # it takes a second
@needs_compiler
@matrix("widths kind", product(NARROW_VALUES, MORE_MASKS), few=1, ids=str)
def test_gradients_of_flash3_beside_narrower_values_agree_with_the_oracle(
    widths: tuple[int, int], kind: str
) -> None:
    for deterministic in (False, True):
        problem = in_mode(of_widths(widths, kind, "bfloat16"), deterministic)
        if FLASH3.unsupported(problem, GPU) is not None:
            pytest.skip("a block mask before wide heads")
        verdict = backward("flash3", problem, flash3_backward.program, Setting(int(deterministic)))
        assert verdict.passed, (deterministic, verdict)


def test_flash3_says_which_values_its_gradients_take() -> None:
    problem = Problem(seqlen_q=64, seqlen_k=64, head_dim=128, dtype="float16", passes="both")
    assert FLASH3.unsupported(replace(problem, head_dim_v=64), GPU) is None
    told = "flash3's backward pass takes a head dim of V up to Q's, not 192 beside 128"
    assert FLASH3.unsupported(replace(problem, head_dim_v=192), GPU) == told


def in_dtype(problem: Problem, case: Inputs) -> Inputs:
    dtype = storage_dtype(problem.dtype)
    return drawn(problem)._replace(**{name: getattr(case, name).astype(dtype) for name in ("q", "k", "v")})


@needs_compiler
@chosen("softcap", (0.001, 30.0, 1e6), ())
def test_scores_of_ten_thousand_are_capped(softcap: float) -> None:
    plain, inputs = cases.logits_are_huge()
    problem = replace(plain, softcap=softcap, dtype="bfloat16")
    for kernel, program_of in FORWARD.items():
        verdict = forward(kernel, problem, program_of, inputs=in_dtype(problem, inputs))
        assert verdict.passed, (kernel, verdict)


@needs_compiler
@matrix("kernel head_dim causal", product(FORWARD, (64, 128), (False, True)), few=0)
def test_a_bias_over_long_distances_agrees_with_the_oracle(kernel: str, head_dim: int, causal: bool) -> None:
    problem = of_kind("full", "alibi", head_dim, "float16", seqlen_q=300, seqlen_k=1300, causal=causal)
    verdict = forward(kernel, problem, FORWARD[kernel])
    assert verdict.passed, verdict


@needs_compiler
@chosen("sinks", ((-np.inf, -1e30, -100.0), (100.0, 1e4, 1e30)), ())
def test_sinks_far_beyond_all_scores_and_rows_without_keys(sinks: tuple[float, ...]) -> None:
    problem = Problem(
        seqlen_q=150, seqlen_k=37, heads=3, head_dim=64, dtype="float16", causal=True, sinks=True
    )
    inputs = drawn(problem)._replace(sinks=np.array(sinks, np.float32))
    for kernel, program_of in FORWARD.items():
        verdict = forward(kernel, problem, program_of, inputs=inputs)
        assert verdict.passed, (kernel, verdict)


MUTANTS: dict[str, tuple[str, Edits]] = {
    "no softcap": ("softcap", (("return fabsf(x) < 0.125f ? x * inner : outer;", "return x;"),)),
    "the sink in every lane": ("sinks", (("&& threadIdx.x % 4 == 0 ?", "?"),)),
    "another head's sink": ("sinks", (("head % sequence_heads)", "0)"),)),
    "aligned to the top left": ("alibi", (("keys - queries);\n", "0);\n"),)),
    "another head's slope": ("alibi", (("scoring.slopes[head]", "scoring.slopes[0]"),)),
}


@needs_compiler
@chosen("mutant", MUTANTS, ("aligned to the top left",))
def test_a_mutant_is_found(mutant: str) -> None:
    scores, edits = MUTANTS[mutant]
    problem = of_kind("causal", scores, 64, "float16")
    assert fails(partial(forward, "flash2", problem, flash2.program, Setting(edits=edits)))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("head_dim", [64, 128, 256])
@pytest.mark.parametrize("scores", SCORED)
def test_outputs_on_a_gpu_agree_with_the_oracle(scores: str, head_dim: int, dtype: Dtype) -> None:
    for kind in KINDS:
        verdict = run("flash2", of_kind(kind, scores, head_dim, dtype))
        assert verdict.passed, (kind, verdict)


@pytest.mark.gpu
@pytest.mark.parametrize("head_dim", [64, 96, 128, 192, 256])
@pytest.mark.parametrize("scores", SCORED)
def test_outputs_of_flash3_on_a_gpu_agree_with_the_oracle(scores: str, head_dim: int) -> None:
    for kind in KINDS:
        verdict = run("flash3", of_kind(kind, scores, head_dim, "bfloat16"))
        assert verdict.passed, (kind, verdict)


@pytest.mark.gpu
@pytest.mark.parametrize("head_dim", [64, 128, 256])
@pytest.mark.parametrize("scores", SCORED)
def test_parts_and_drawn_tiles_on_a_gpu_agree_with_the_oracle(scores: str, head_dim: int) -> None:
    for kind in FEW_ROWS:
        verdict = run("flash3", few_rows(kind, scores, head_dim))
        assert verdict.passed, (kind, verdict)
    for causal in (False, True):
        many = of_kind("full", scores, head_dim, "float16", seqlen_q=1500, seqlen_k=1701, causal=causal)
        verdict = run("flash3", replace(many, batch=4, heads=40, kv_heads=20))
        assert verdict.passed, (causal, verdict)


@pytest.mark.gpu
@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_values_of_another_head_dim_on_a_gpu_agree_with_the_oracle(cp: Any, widths: tuple[int, int]) -> None:
    for kind, kernel in product(KINDS, FORWARD):
        problem = of_widths(widths, kind, "bfloat16")
        if find_kernel(kernel).unsupported(problem, GPU) is None:
            verdict = run(kernel, problem)
            assert verdict.passed, (kind, kernel, verdict)
    for kind, kernel, deterministic in product(MORE_MASKS, FORWARD, (False, True)):
        problem = of_widths(widths, kind, "bfloat16")
        if find_kernel(kernel).unsupported(in_mode(problem, deterministic), GPU) is None:
            verdict = judged(cp, Mode(kernel, deterministic), problem)
            assert verdict.passed, (kind, kernel, deterministic, verdict)


@pytest.mark.gpu
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("head_dim", [64, 128, 192, 256])
@pytest.mark.parametrize("scores", SCORED)
@pytest.mark.parametrize("kernel", ["flash2", "flash3"])
def test_gradients_on_a_gpu_agree_with_the_oracle(
    cp: Any, kernel: str, scores: str, head_dim: int, deterministic: bool
) -> None:
    for kind in MORE_MASKS:
        problem = of_kind(kind, scores, head_dim, "bfloat16")
        if find_kernel(kernel).unsupported(in_mode(problem, deterministic), GPU) is None:
            verdict = judged(cp, Mode(kernel, deterministic), problem)
            assert verdict.passed, (kind, verdict)
