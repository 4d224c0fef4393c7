"""Every backward pass compiles for every architecture that it claims, and spills no registers."""

from importlib import import_module
from itertools import product
from typing import Any

import pytest
from msgspec import structs

from kernels.block_mask import BlockMask
from kernels.cuda import flash1_backward, flash2_backward, standard_backward
from kernels.cuda.compile import compile_offline
from kernels.cuda.program import ProgramOf, Target
from kernels.device import Device
from kernels.errors import InputError
from kernels.ladder import FLASH2, LADDER, STANDARD
from kernels.problem import Problem
from kernels.spec import HEAD_DIMS, KernelSpec
from tests.kernels.cases import in_mode
from tests.kernels.cuda.sanitized import problems
from tests.kernels.cuda.test_compile import (
    HOPPER,
    MASKS,
    SIXTEEN_BIT,
    TARGETS,
    problem,
    resources,
    spelled,
)
from tests.matrix import matrix

PROGRAMS: dict[str, ProgramOf] = {
    "standard": standard_backward.program,
    "flash1": flash1_backward.program,
    "flash2": flash2_backward.program,
    "flash2-deterministic": lambda problem, target: flash2_backward.program(in_mode(problem), target),
}
AMPERE_AND_NEWER = [target for target in TARGETS if target.compute_capability >= (8, 0)]


# Bytes of a thread at d = 128 with causal; never measured there.
SPILLED = {("flash1", "sm_100"): 4, ("flash1", "sm_120"): 24}


def check(name: str, workload: Problem, target: Target) -> None:
    """Compile, and hold the resources against the target's limits."""
    program = PROGRAMS[name](workload, target)
    cubin, log = compile_offline(program, target)
    assert cubin.startswith(b"\x7fELF")
    found = resources(log)
    for stage in program.stages:
        used = found[stage.entry]
        assert 0 < used.registers * stage.threads <= 65536
        assert used.shared + stage.shared_bytes <= target.shared_memory
        assert used.spilled <= SPILLED.get((name, target.arch), 0), (stage.entry, used)


@matrix(
    "name target head_dim masks dtype",
    product(PROGRAMS, AMPERE_AND_NEWER, (64, 128, 256), MASKS, SIXTEEN_BIT),
    "name head_dim",
    ids=spelled,
    few=1,
)
def test_every_backward_pass_fits_every_architecture(
    name: str, target: Target, head_dim: int, masks: dict[str, Any], dtype: Any
) -> None:
    check(name, structs.replace(problem(dtype, head_dim), **masks), target)


@matrix(
    "name panels octets",
    [(name, -(-d // 64), d // 8 % 8) for name in PROGRAMS for d in HEAD_DIMS if d % 64],
    few=1,
)
def test_every_head_dim_compiles(name: str, panels: int, octets: int) -> None:
    """A pass is cut by the panels of 64 columns that its heads take; the last holds so many of 8."""
    head_dim = 64 * (panels - 1) + 8 * octets
    check(name, problem(SIXTEEN_BIT[octets % 2], head_dim, causal=head_dim % 16 == 0), HOPPER)


@matrix(
    "name blocks masks",
    product(PROGRAMS, ((16, 16), (16, 64), (64, 32), (128, 128), (256, 192)), MASKS),
    ids=spelled,
    few=1,
)
def test_every_block_mask_compiles(name: str, blocks: tuple[int, int], masks: dict[str, Any]) -> None:
    mask = BlockMask.random(2048, 2048, block_q=blocks[0], block_k=blocks[1], kept_share=0.5)
    check(name, structs.replace(problem("bfloat16", 128), block_mask=mask, **masks), HOPPER)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_block_mask_that_no_tile_divides_is_refused(name: str) -> None:
    mask = BlockMask.random(100, 100, block_q=10, block_k=64, kept_share=0.5)
    with pytest.raises(
        InputError, match=r"backward pass takes block masks .* multiples of 16 .* not 10 x 64"
    ):
        PROGRAMS[name](
            structs.replace(problem("bfloat16", 64), seqlen_q=100, seqlen_k=100, block_mask=mask), HOPPER
        )


@pytest.mark.parametrize(
    ("spec", "changed", "capability", "says"),
    [
        (FLASH2, {"dtype": "float32"}, (9, 0), "takes float16, bfloat16 on cuda, not float32"),
        (FLASH2, {"head_dim": 264}, (9, 0), "takes head dims 16 to 256 in steps of 8 on cuda, not 264"),
        (STANDARD, {}, (7, 5), "needs compute capability 8.0 or newer, this GPU has 7.5"),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_what_a_backward_pass_cannot_take_is_told_before_it_is_asked(
    spec: Any, changed: dict[str, Any], capability: tuple[int, int], says: str
) -> None:
    gpu = Device(backend="cuda", name="a GPU", memory_bytes=2**34, compute_capability=capability)
    workload = structs.replace(problem("float16", 64), **changed)
    assert spec.unsupported_backward(workload, gpu) == f"{spec.name}'s backward pass {says}"


@pytest.mark.parametrize("spec", [spec for spec in LADDER if spec.backward], ids=lambda spec: spec.name)
def test_every_buffer_that_is_declared_is_taken_by_a_launch(spec: KernelSpec) -> None:
    assert spec.backward is not None
    program_of = import_module(spec.backward.implementation["cuda"]).program
    gpu = Device(backend="cuda", name="a GPU", memory_bytes=2**36, compute_capability=(9, 0))
    for one in problems(spec):
        if one.runs_backward and spec.unsupported(one, gpu) is None:
            taken = {argument for stage in program_of(one, HOPPER).stages for argument in stage.arguments}
            assert {buffer.name for buffer in spec.backward.workspace(one, "cuda")} <= taken
