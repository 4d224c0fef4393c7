"""flash3's backward pass compiles for Hopper and keeps its registers, on a machine without a GPU."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from kernels.cuda import flash3_backward
from kernels.device import Device
from kernels.ladder import FLASH2, FLASH3
from kernels.problem import Dtype
from kernels.registry import choose_backward
from tests.kernels.cuda.test_compile_flash3 import DTYPES, HOPPER, check, disassembled, workload
from tests.matrix import matrix

assert FLASH3.backward is not None
HEAD_DIMS = FLASH3.backward.head_dims["cuda"]
GPU = Device(backend="cuda", name="a GPU", memory_bytes=2**36, compute_capability=(9, 0))


@matrix(
    "head_dim dtype causal window",
    itertools.product(HEAD_DIMS, DTYPES, (False, True), (None, (256, 64))),
    "head_dim causal window",
    few=2,
)
def test_flash3_backward_compiles_without_spills_or_serialised_products(
    head_dim: int, dtype: Dtype, causal: bool, window: tuple[int, int] | None
) -> None:
    problem = structs.replace(workload(head_dim, dtype, causal=causal), window=window)
    check(flash3_backward.program(problem, HOPPER))


def test_the_products_are_hopper_s_and_the_sums_of_dq_are_added_to_in_memory(tmp_path: Path) -> None:
    code = disassembled(check(flash3_backward.program(workload(128), HOPPER)), tmp_path)
    for instruction in ("HGMMA.64x64x16.F32.BF16", "HGMMA.64x128x16.F32.BF16", "UTMALDG.3D", "USETMAXREG"):
        assert instruction in code


@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_shared_memory_is_what_the_device_code_lays_out(head_dim: int) -> None:
    """K, V, Q, dO and dS twice, the states of two tiles, the barriers and two places for keys."""
    rows, keys = 8192 // head_dim, 128
    tiles = 2 * 2 * (2 * keys * head_dim + 2 * rows * head_dim + keys * rows)
    barriers = 8 * (4 * 2 + 4 * 2) + 16 * 2
    found = flash3_backward.shared_bytes(workload(head_dim))
    assert found == 1024 + tiles + 2 * 2 * rows * 4 + barriers


@pytest.mark.parametrize(
    ("head_dim", "batch", "seqlen", "grid"),
    [
        (64, 16, 4096, 132),
        (128, 64, 1024, 132),
        (128, 16, 4096, 16 * 4 * 32),
        (64, 2, 4096, 2 * 4 * 32),
    ],
)
def test_blocks_stay_where_tiles_are_many_and_short_or_heads_narrow(
    head_dim: int, batch: int, seqlen: int, grid: int
) -> None:
    problem = structs.replace(workload(head_dim), batch=batch, seqlen_q=seqlen, seqlen_k=seqlen)
    assert flash3_backward.program(problem, HOPPER).stages[1].grid == grid


@pytest.mark.parametrize(
    ("changed", "deterministic", "says"),
    [
        (
            {"head_dim": 256},
            False,
            "flash3's backward pass takes head dims 64 to 128 in steps of 64 on cuda, not 256",
        ),
        ({}, True, "flash3 offers no deterministic backward pass on cuda"),
    ],
    ids=["head dim", "deterministic"],
)
def test_what_it_does_not_take_goes_to_flash2(
    changed: dict[str, Any], deterministic: bool, says: str
) -> None:
    problem = structs.replace(workload(128), **changed)
    assert FLASH3.unsupported_backward(problem, GPU, deterministic=deterministic) == says
    assert choose_backward(problem, GPU, deterministic=deterministic) is FLASH2


def test_it_is_the_first_choice_where_it_runs() -> None:
    assert choose_backward(workload(64, causal=True), GPU) is FLASH3
