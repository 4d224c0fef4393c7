"""flash3-fp8 compiles for Hopper, keeps its registers and uses 8-bit products, on a machine without a GPU."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from kernels import fp8
from kernels.cuda import flash3_fp8
from kernels.cuda.compile import compile_offline
from kernels.cuda.program import Program
from kernels.device import Device
from kernels.ladder import FLASH3_FP8
from kernels.problem import Problem
from kernels.workspace import K_E4M3, Q_E4M3, V_E4M3
from tests.kernels.cuda.test_compile_flash3 import HOPPER, MEASURED, disassembled, workload
from tests.matrix import chosen, matrix

HEAD_DIMS = FLASH3_FP8.head_dims["cuda"]
KINDS: tuple[dict[str, Any], ...] = ({}, {"causal": True}, {"causal": True, "scale": -0.3})


def check(program: Program) -> bytes:
    """Compile, and hold the compiler's report on both launches against what they need."""
    cubin, log = compile_offline(program, HOPPER)
    assert re.search(r"C75\d\d|C76\d\d", log) is None, log  # what ptxas says of products it puts in series
    assert set(re.findall(r"(\d+) bytes spill stores", log)) == {"0"}, log
    assert set(re.findall(r"(\d+) bytes stack frame", log)) == {"0"}, log
    for stage in program.stages:
        report = log[log.index(f"entry function '{stage.entry}'") :]
        used = re.search(r"Used (\d+) registers", report)
        assert used is not None
        assert int(used.group(1)) * stage.threads <= 65536
        assert stage.shared_bytes <= HOPPER.shared_memory
    return cubin


@matrix("head_dim kind", itertools.product(MEASURED, KINDS), ids=str, few=1)
def test_flash3_fp8_compiles_without_spills_or_serialised_products(
    head_dim: int, kind: dict[str, Any]
) -> None:
    check(flash3_fp8.program(structs.replace(workload(head_dim), **kind), HOPPER))


@chosen("head_dim", HEAD_DIMS, {160})
def test_every_head_dim_compiles_in_float16(head_dim: int) -> None:
    """One of the head dims that the test above does not take; `.ci/run` takes the rest."""
    check(flash3_fp8.program(workload(head_dim, "float16", causal=True), HOPPER))


def test_the_products_are_in_8_bits_and_the_copies_the_tma_s(tmp_path: Path) -> None:
    code = disassembled(check(flash3_fp8.program(workload(128), HOPPER)), tmp_path)
    columns = fp8.cut(128).key_block // 2
    for instruction in (f"QGMMA.64x{columns}x32.F32.E4M3.E4M3", "UBLKCP"):
        assert instruction in code
    assert "HGMMA" not in code


@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_what_the_copies_read_is_what_the_workspace_holds(head_dim: int) -> None:
    """Blocks of flash3_fp8_layout.cuh in words: rows of bytes, and 128 bytes behind them."""
    problem = Problem(
        batch=2, heads=6, kv_heads=3, seqlen_q=1000, seqlen_k=777, head_dim=head_dim, dtype="bfloat16"
    )
    groups, keys = fp8.cut(head_dim)
    q_tiles, k_tiles = -(-1000 // (64 * groups)), -(-777 // keys)
    held = {buffer.name: buffer.nbytes for buffer in FLASH3_FP8.workspace(problem, "cuda")}
    assert held[Q_E4M3] == 12 * q_tiles * groups * (64 * head_dim + 128)
    assert held[K_E4M3] == 6 * k_tiles * (keys * head_dim + 128)
    assert held[V_E4M3] == held[K_E4M3]
    assert flash3_fp8.program(problem, HOPPER).stages[0].grid == 12 * q_tiles * groups + 2 * 6 * k_tiles


@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_keys_of_a_tile_are_whole_products(head_dim: int) -> None:
    assert fp8.cut(head_dim).key_block % 32 == 0


@pytest.mark.parametrize(("capability", "runs"), [((8, 9), False), ((9, 0), True), ((10, 0), False)])
def test_flash3_fp8_runs_on_hopper_alone(capability: tuple[int, int], runs: bool) -> None:
    device = Device(backend="cuda", name="a GPU", memory_bytes=2**36, compute_capability=capability)
    assert (FLASH3_FP8.unsupported(workload(128), device) is None) == runs


def test_the_list_of_kernels_says_that_it_is_not_exact() -> None:
    assert "8 bits" in FLASH3_FP8.idea
    assert "not exact" in FLASH3_FP8.idea
