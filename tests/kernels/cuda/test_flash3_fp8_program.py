"""How flash3-fp8 is cut and launched for a problem, and that its products are in 8 bits."""

import pytest

from flashscope.kernels.catalogue import fp8
from flashscope.kernels.catalogue.ladder import FLASH3_FP8
from flashscope.kernels.catalogue.workspace import K_E4M3, Q_E4M3, V_E4M3
from flashscope.kernels.cuda import flash3_fp8
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.compiled import check, workload
from tests.kernels.cuda.cubin import disassembled

HEAD_DIMS = FLASH3_FP8.head_dims["cuda"]


@pytest.mark.matrix
def test_the_products_are_in_8_bits_and_the_copies_the_tma_s() -> None:
    code = disassembled(check(flash3_fp8.program(workload(128), ON_HOPPER), ON_HOPPER))
    columns = fp8.fp8_tiling(128).key_block // 2
    for instruction in (f"QGMMA.64x{columns}x32.F32.E4M3.E4M3", "UBLKCP"):
        assert instruction in code
    assert "HGMMA" not in code


@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_what_the_copies_read_is_what_the_workspace_holds(head_dim: int) -> None:
    """Blocks of flash3_fp8_layout.cuh in words: rows of bytes, and 128 bytes behind them."""
    problem = Problem(
        batch=2, heads=6, kv_heads=3, seqlen_q=1000, seqlen_k=777, head_dim=head_dim, dtype="bfloat16"
    )
    groups, keys = fp8.fp8_tiling(head_dim)
    q_tiles, k_tiles = -(-1000 // (64 * groups)), -(-777 // keys)
    held = {buffer.name: buffer.nbytes for buffer in FLASH3_FP8.workspace(problem, "cuda")}
    assert held[Q_E4M3] == 12 * q_tiles * groups * (64 * head_dim + 128)
    assert held[K_E4M3] == 6 * k_tiles * (keys * head_dim + 128)
    assert held[V_E4M3] == held[K_E4M3]
    assert flash3_fp8.program(problem, ON_HOPPER).launches[0].grid == 12 * q_tiles * groups + 2 * 6 * k_tiles


@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_keys_of_a_tile_are_whole_products(head_dim: int) -> None:
    assert fp8.fp8_tiling(head_dim).key_block % 32 == 0


@pytest.mark.parametrize(("capability", "runs"), [((8, 9), False), ((9, 0), True), ((10, 0), False)])
def test_flash3_fp8_runs_on_hopper_alone(capability: tuple[int, int], runs: bool) -> None:
    device = Device(backend="cuda", name="a GPU", memory_bytes=2**36, compute_capability=capability)
    assert (FLASH3_FP8.unsupported(workload(128), device) is None) == runs


def test_the_list_of_kernels_says_that_it_is_not_exact() -> None:
    assert "8 bits" in FLASH3_FP8.idea
    assert "not exact" in FLASH3_FP8.idea
