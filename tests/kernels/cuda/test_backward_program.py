"""What the backward passes refuse, and which buffers their launches are given."""

from importlib import import_module
from typing import Any

import pytest
from msgspec import structs

from flashscope.kernels.catalogue.ladder import FLASH2, LADDER, STANDARD
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda.program import ProgramOf
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError
from tests.kernels.cases import in_mode
from tests.kernels.cuda.builds import BACKWARD, ON_HOPPER
from tests.kernels.cuda.compiled import workload
from tests.kernels.cuda.sanitized import problems

PROGRAMS: dict[str, ProgramOf] = {
    **{name: BACKWARD[name] for name in ("standard", "flash1", "flash2")},
    "flash2-deterministic": lambda problem, target: BACKWARD["flash2"](in_mode(problem), target),
}
WITH_GRADIENTS = [spec for spec in LADDER if spec.backward and "cuda" in spec.backward.implementation]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_block_mask_that_no_tile_divides_is_refused(name: str) -> None:
    mask = BlockMask.random(100, 100, block_q=10, block_k=64, kept_share=0.5)
    with pytest.raises(
        InputError, match=r"backward pass takes block masks .* multiples of 16 .* not 10 x 64"
    ):
        PROGRAMS[name](structs.replace(workload(64), seqlen_q=100, seqlen_k=100, block_mask=mask), ON_HOPPER)


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
    problem = structs.replace(workload(64, "float16"), **changed)
    assert spec.unsupported_backward(problem, gpu) == f"{spec.name}'s backward pass {says}"


@pytest.mark.parametrize("spec", WITH_GRADIENTS, ids=lambda spec: spec.name)
def test_every_buffer_that_is_declared_is_taken_by_a_launch(spec: KernelSpec) -> None:
    assert spec.backward is not None
    program_of = import_module(spec.backward.implementation["cuda"]).program
    gpu = Device(backend="cuda", name="a GPU", memory_bytes=2**36, compute_capability=(9, 0))
    for one in problems(spec):
        if one.runs_backward and spec.unsupported(one, gpu) is None:
            taken = {argument for launch in program_of(one, ON_HOPPER).launches for argument in launch.given}
            assert {buffer.name for buffer in spec.backward.workspace(one, "cuda")} <= taken
