"""Softcaps, sinks and ALiBi's bias in the programs of the CUDA sources: what they define, take and spill."""

from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.flash2_cut import MIDDLE_HEAD, NARROW_HEAD
from flashscope.kernels.catalogue.ladder import FLASH2, FLASH3
from flashscope.kernels.cuda import flash2, flash2_backward, flash3, flash3_backward
from flashscope.kernels.cuda.program import HOPPER, KernelLaunch, Target
from flashscope.kernels.cuda.scoring import scoring_arguments, scoring_defines
from flashscope.kernels.workload.problem import SCORING, Passes, Problem
from tests.kernels.cases import in_mode
from tests.kernels.cuda.builds import MASKS, ON_HOPPER, SCORED, TARGETS
from tests.kernels.cuda.compiled import check
from tests.kernels.cuda.test_compile import SOFTCAP_SPILLED
from tests.kernels.cuda.test_scoring import GPU, NARROW_VALUES, of_kind, of_widths
from tests.matrix import covered, matrix

FLOAT32_ALONE = "on cuda in 16 bits alone, not in float32"
TURING_SPILLED = 16  # bytes: of a softcap under a window at head dim 128, before Ampere
BIAS_SPILLED = 12  # bytes: of a bias in a causal batch of uneven lengths at the widest heads
ALL_SPILLED = 24  # bytes: a softcap and a bias together leave few registers to the widest heads


@pytest.mark.matrix
@matrix(
    "widths mask deterministic",
    covered(
        "widths mask deterministic",
        product(NARROW_VALUES, MASKS, (False, True)),
        *("widths mask", "widths deterministic", "mask deterministic"),
    ),
    few=1,
    ids=str,
)
def test_builds_of_flash3_gradients_beside_narrower_values_spill_nothing(
    widths: tuple[int, int], mask: str, deterministic: bool
) -> None:
    problem = in_mode(of_widths(widths, "full", "float16"), deterministic)
    check(flash3_backward.program(replace(problem, **MASKS[mask]), ON_HOPPER), ON_HOPPER)


BUILDS = "scores head_dim kind target"
SHORT_OF_REGISTERS = 256  # the head dim
TIGHT = ("softcap", MIDDLE_HEAD, "window", TARGETS[0])


BUILT = (SCORED, (64, 128, 256), ("full", "causal", "window"))


@matrix(
    BUILDS,
    [
        *product(*BUILT, [ON_HOPPER]),
        *covered(
            BUILDS,
            product(*BUILT, [target for target in TARGETS if target != ON_HOPPER]),
            *("scores head_dim kind", "scores head_dim target", "kind target"),
        ),
        TIGHT,
    ],
    ids=lambda value: value.arch if isinstance(value, Target) else str(value),
    few=1,
)
def test_builds_fit_their_architecture_and_spill_nothing(
    scores: str, head_dim: int, kind: str, target: Target
) -> None:
    problem = of_kind(kind, scores, head_dim, "float16")
    tight = (scores, head_dim, kind, target) == TIGHT
    check(flash2.program(problem, target), target, TURING_SPILLED if tight else 0)
    if target.compute_capability >= (8, 0):
        check(flash2_backward.program(in_mode(problem, deterministic=False), target), target)
    if target.compute_capability == HOPPER:
        check(flash3.program(problem, target), target)
        spilled = SOFTCAP_SPILLED if head_dim == NARROW_HEAD and problem.softcap is not None else 0
        check(flash3_backward.program(in_mode(problem, deterministic=False), target), target, spilled)


LAYOUTS: dict[str, dict[str, Any]] = {
    "even": {},
    "ragged": {"key_lengths": (5, 8192)},
    "pages": {"page_size": 64},
    "window": {"window": (500, 0)},
}
MANY = "layout scores head_dim causal"


@pytest.mark.matrix
@matrix(
    MANY,
    [
        *product(LAYOUTS, SCORED, (SHORT_OF_REGISTERS,), (False, True)),
        *covered(
            MANY,
            product(LAYOUTS, SCORED, (64, 96, 128, 192), (False, True)),
            *("scores head_dim causal", "layout scores", "layout head_dim", "layout causal"),
        ),
    ],
)
def test_builds_of_flash3_spill_little_if_anything_where_tiles_are_many(
    layout: str, scores: str, head_dim: int, causal: bool
) -> None:
    problem = Problem(
        batch=2,
        heads=16,
        seqlen_q=8192,
        seqlen_k=8192,
        head_dim=head_dim,
        dtype="bfloat16",
        causal=causal,
        **SCORED[scores],
        **LAYOUTS[layout],
    )
    widest = head_dim == SHORT_OF_REGISTERS
    spilled = ALL_SPILLED if scores == "all of scores" and widest else 0
    if scores == "alibi" and layout == "ragged" and widest and causal:
        spilled = BIAS_SPILLED
    check(flash3.program(problem, ON_HOPPER), ON_HOPPER, spilled)


def test_a_problem_without_any_has_no_define_and_no_argument_of_them() -> None:
    plain = Problem(seqlen_q=64, seqlen_k=64, head_dim=64, dtype="float16")
    assert scoring_defines(plain) == {}
    assert scoring_arguments(plain) == ()
    (launch,) = flash2.program(plain, ON_HOPPER).launches
    (scored,) = flash2.program(replace(plain, sinks=True), ON_HOPPER).launches
    assert isinstance(launch, KernelLaunch)
    assert scored.arguments[:-1] == launch.arguments
    backward_of_sinks = flash2_backward.program(in_mode(replace(plain, sinks=True)), ON_HOPPER)
    assert backward_of_sinks.defines == flash2_backward.program(in_mode(plain), ON_HOPPER).defines


@pytest.mark.parametrize("passes", ["forward", "both"])
def test_flash3_takes_all_of_them_at_once(passes: Passes) -> None:
    problem = Problem(seqlen_q=64, seqlen_k=64, dtype="float16", passes=passes, **SCORED["all of scores"])
    assert FLASH3.unsupported(problem, GPU) is None


@pytest.mark.parametrize("feature", sorted(SCORING))
def test_flash2_takes_each_in_16_bits_alone(feature: str) -> None:
    problem = Problem(seqlen_q=64, seqlen_k=64, dtype="float16", **SCORED[feature])
    assert FLASH2.unsupported(replace(problem, passes="both"), GPU) is None
    assert FLOAT32_ALONE in (FLASH2.unsupported(replace(problem, dtype="float32"), GPU) or "")
