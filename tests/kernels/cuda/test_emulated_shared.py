"""The formulas of what kernels move in shared memory, beside what the emulator counts."""

from functools import partial
from typing import Any

import pytest

from flashscope.kernels.catalogue.flash2_cut import SHORT_TILE
from flashscope.kernels.catalogue.flash3_share import Share, share, usual_shape
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.shared_traffic import flash2_shared_as, flash3_shared_as
from flashscope.kernels.cuda import flash2, flash3
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.builds import FORWARD
from tests.kernels.cuda.emulator.launch import moved_bytes
from tests.kernels.cuda.emulator.running import forward, needs_compiler
from tests.matrix import chosen

pytestmark = needs_compiler
SHAPES: dict[str, dict[str, Any]] = {
    "full": {"seqlen_q": 150, "seqlen_k": 133},
    "causal": {"seqlen_q": 200, "seqlen_k": 260, "causal": True},
    "window": {"seqlen_q": 256, "seqlen_k": 256, "window": (40, 30)},
    "wide window": {"seqlen_q": 300, "seqlen_k": 420, "window": (200, 10), "heads": 2},
    "few rows": {"seqlen_q": 60, "seqlen_k": 133},
    "grouped": {"seqlen_q": 5, "seqlen_k": 200, "heads": 4, "kv_heads": 1},
    "in parts": {"seqlen_q": 3, "seqlen_k": 700, "batch": 2},
}
CASES = [
    *((kernel, shape, 64) for kernel in ("flash2", "flash3") for shape in SHAPES),
    *(("flash2", "causal", head_dim) for head_dim in (32, 128, 192)),
    *((kernel, "causal", 128) for kernel in ("flash3", "flash3-a", "flash3-c")),
    ("flash3", "full", 96),
    *(
        (step, shape, 128)
        for step in ("flash3-a", "flash3-b")
        for shape in ("few rows", "window", "wide window")
    ),
]
IN_EVERY_RUN = [("flash2", "causal", 128), ("flash3", "grouped", 64)]


@chosen("kernel,shape,head_dim", CASES, IN_EVERY_RUN)
def test_products_read_and_copies_write_what_the_formula_says(kernel: str, shape: str, head_dim: int) -> None:
    problem = Problem(**{"heads": 1, **SHAPES[shape]}, head_dim=head_dim, dtype="float16")
    formula = find_kernel(kernel).shared_traffic
    assert formula is not None
    moved_bytes()
    assert forward(kernel, problem, FORWARD[kernel]).passed
    assert moved_bytes() == formula(problem)


USUAL: list[tuple[dict[str, Any], int]] = [
    ({"seqlen_q": 384, "seqlen_k": 384, "causal": True}, 128),
    ({"seqlen_q": 320, "seqlen_k": 383, "causal": True}, 64),
    ({"seqlen_q": 200, "seqlen_k": 260, "causal": True}, 128),
    ({"seqlen_q": 300, "seqlen_k": 120, "causal": True}, 64),
    ({"seqlen_q": 100, "seqlen_k": 190, "causal": True}, 128),
    ({"seqlen_q": 150, "seqlen_k": 180}, 128),
    ({"seqlen_q": 300, "seqlen_k": 420, "window": (200, 10)}, 128),
]


@chosen("shape,head_dim", USUAL, USUAL[:1])
def test_in_the_tiles_of_many_heads_some_warpgroups_multiply_half_of_their_first_key_tile(
    shape: dict[str, Any], head_dim: int
) -> None:
    problem = Problem(**shape, heads=1, head_dim=head_dim, dtype="float16")
    as_many = Share(usual_shape(problem))
    moved_bytes()
    assert forward("flash3", problem, partial(flash3.program, chosen=as_many)).passed
    assert moved_bytes() == flash3_shared_as(problem, as_many)


@chosen("shape,keys", [("causal", 64), ("full", 96), ("causal", 128), ("full", 128)], [])
def test_tiles_of_half_the_rows_answer_and_move_what_the_formula_says(shape: str, keys: int) -> None:
    problem = Problem(**{"heads": 1, **SHAPES[shape]}, head_dim=128, dtype="bfloat16")
    tile = SHORT_TILE._replace(keys=keys)
    halved = partial(flash2.program, variant=flash2.variant_of(tile))
    moved_bytes()
    assert forward("flash2", problem, halved).passed
    assert moved_bytes() == flash2_shared_as(problem, *tile)


def test_the_shapes_are_of_every_way_to_share_a_problem() -> None:
    found = [share(Problem(**{"heads": 1, **one}, head_dim=64, dtype="float16")) for one in SHAPES.values()]
    assert {one.pack_gqa > 1 for one in found} == {False, True}
    assert {one.splits > 1 for one in found} == {False, True}


@pytest.mark.parametrize("kernel", ["standard", "simt", "flash1", "flash3-fp8", "torch-flash"])
def test_a_kernel_whose_bytes_were_not_counted_has_no_formula(kernel: str) -> None:
    assert find_kernel(kernel).shared_traffic is None
