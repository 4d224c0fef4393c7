"""Every CUDA kernel compiles for every architecture, on a machine without a GPU."""

import re
from collections import defaultdict
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec import structs

from kernels.block_mask import BlockMask
from kernels.cuda import compile as cuda_compile
from kernels.cuda import flash1, flash2, simt, standard
from kernels.cuda.compile import compile_offline, options
from kernels.cuda.instrument import instrumented
from kernels.cuda.program import SHARED_MEMORY_LIMITS, Program, ProgramOf, Target
from kernels.errors import CompileError
from kernels.problem import DTYPES, Dtype, Problem
from kernels.spec import HEAD_DIMS
from kernels.trace import LoopOrder, TraceRequest
from tests.matrix import chosen, matrix

PROGRAMS: dict[str, ProgramOf] = {
    "standard": standard.program,
    "standard-fp32s": partial(standard.program, float_scores=True),
    "simt": simt.program,
    "flash1": flash1.program,
    "flash2": flash2.program,
}
SIXTEEN_BIT: tuple[Dtype, ...] = ("float16", "bfloat16")
HOPPER = Target((9, 0), SHARED_MEMORY_LIMITS[9, 0])
TARGETS = [Target(capability, limit) for capability, limit in SHARED_MEMORY_LIMITS.items()]
MASKS: tuple[dict[str, Any], ...] = (
    {},
    {"causal": True},
    {"window": (256, 0)},
    {"causal": True, "window": (256, 0)},
)
CUT = ("WARPS", "SUBTILES", "BLOCK_K")  # the defines that cut a block's work into tiles
REPORT = re.compile(r"Compiling entry function '(\w+)'(.*?)(?=Compiling entry function|\Z)", re.DOTALL)


class Resources(NamedTuple):
    registers: int
    spilled: int
    shared: int


def resources(log: str) -> dict[str, Resources]:
    """What the compiler reports for each kernel of a source."""

    def number(pattern: str, text: str) -> int:
        found = re.search(pattern, text)
        return int(found.group(1)) if found else 0

    return {
        entry: Resources(
            number(r"Used (\d+) registers", text),
            number(r"(\d+) bytes spill stores", text),
            number(r"(\d+) bytes smem", text),
        )
        for entry, text in REPORT.findall(log)
    }


def problem(dtype: Dtype, head_dim: int, *, causal: bool = False) -> Problem:
    return Problem(seqlen_q=2048, seqlen_k=2048, heads=2, head_dim=head_dim, dtype=dtype, causal=causal)


def blocked(head_dim: int, block_q: int, block_k: int, **masks: Any) -> Problem:
    """With a mask of blocks of that many queries and keys."""
    blocks = BlockMask.random(2048, 2048, block_q=block_q, block_k=block_k, kept_share=0.5)
    return structs.replace(problem("float16", head_dim), block_mask=blocks, **masks)


SPILLED_WITH_PAGES = 16  # bytes of a thread, of simt at d = 128 with a window; never measured


def check(name: str, workload: Problem, target: Target) -> None:
    """Compile, print the resources, and hold them against the target's limits."""
    program = PROGRAMS[name](workload, target)
    cubin, log = compile_offline(program, target)
    assert cubin.startswith(b"\x7fELF")
    found = resources(log)
    for stage in program.stages:
        used = found[stage.entry]
        print(  # noqa: T201 - the table that -s shows
            f"{target.arch:>6} {workload.dtype:>8} d={workload.head_dim:<3} {stage.entry:<22} "
            f"{used.registers:3} registers {used.shared + stage.shared_bytes:6} B {used.spilled:2} spilled"
        )
        assert 0 < used.registers * stage.threads <= 65536
        assert used.shared <= 48 * 1024
        assert used.shared + stage.shared_bytes <= target.shared_memory
        allowed = SPILLED_WITH_PAGES if workload.page_size and stage.entry == "simt" else 0
        assert used.spilled <= allowed or stage.entry not in {"flash2", "simt"}


def supported(dtype: Dtype, target: Target) -> bool:
    return dtype != "bfloat16" or target.compute_capability >= (8, 0)


def spelled(value: Any) -> str:
    """What a parameter is called in the name of its test."""
    match value:
        case Target():
            return value.arch
        case dict():
            return "-".join(value) or "unmasked"
        case tuple():
            return "x".join(map(str, value))
        case _:
            return str(value)


@matrix(
    "name target dtype head_dim",
    [c for c in product(PROGRAMS, TARGETS, DTYPES, (64, 128, 256)) if supported(c[2], c[1])],
    *("name dtype", "dtype head_dim"),
    ids=spelled,
    few=2,
)
def test_every_kernel_fits_every_architecture(name: str, target: Target, dtype: Dtype, head_dim: int) -> None:
    """Kernel, dtype, head dim choose the tiles; target and dtype the instructions and the room for them."""
    check(name, problem(dtype, head_dim), target)


@matrix(
    "name panels octets",
    [(name, -(-d // 64), d // 8 % 8) for name in PROGRAMS for d in HEAD_DIMS if d not in {64, 128, 256}],
    few=1,
)
def test_every_head_dim_compiles(name: str, panels: int, octets: int) -> None:
    """A kernel is cut by the panels of 64 columns that its heads take; the last holds so many of 8."""
    head_dim = 64 * panels - (64 - 8 * octets) % 64
    dtypes = DTYPES if name == "standard" else SIXTEEN_BIT  # in float32 flash2 is simt
    dtype = dtypes[head_dim // 8 % len(dtypes)]
    check(name, problem(dtype, head_dim, causal=head_dim % 16 == 0), HOPPER)


@matrix(
    "name head_dim block_k suffix",
    [
        (name, head_dim, *cut)
        for name in ("standard", "standard-fp32s")
        for head_dim in standard.WGMMA_CUTS
        for cut in ((128, "a"), (64, ""))
    ],
    *("name block_k", "head_dim block_k"),
    few=1,
)
def test_both_products_of_standard_take_wgmma_or_neither_does(
    name: str, head_dim: int, block_k: int, suffix: str
) -> None:
    """At head dim 256 PV alone could take it under blocks of 64 keys."""
    workload = blocked(head_dim, 128, block_k)
    assert PROGRAMS[name](workload, HOPPER).arch_suffix == suffix
    check(name, workload, HOPPER)


@matrix(
    "target head_dim masks",
    product(TARGETS, (64, 96, 112, 128, 192), MASKS[1:3]),
    "head_dim masks",
    ids=spelled,
    few=1,
)
def test_no_mask_makes_flash2_spill_on_any_architecture(
    target: Target, head_dim: int, masks: dict[str, Any]
) -> None:
    """A mask adds to what a tile takes."""
    check("flash2", structs.replace(problem("float16", head_dim), **masks), target)


@chosen("head_dim", (16, 64, 24, 56), {16})
def test_many_keys_a_tile_leave_registers_for_a_narrow_head(head_dim: int) -> None:
    check("flash2", structs.replace(problem("float16", head_dim), seqlen_k=flash2.LONG), HOPPER)


@matrix(
    "target head_dim blocks masks",
    [
        *product(TARGETS, [128], [(128, 32)], MASKS),
        *product([HOPPER], [128], [(128, 64), (128, 128)], MASKS),
        *product(TARGETS, (64, 96, 128, 256), [(256, 128)], MASKS[3:]),
    ],
    ids=spelled,
    few=1,
)
def test_no_block_mask_makes_flash2_spill_on_any_architecture(
    target: Target, head_dim: int, blocks: tuple[int, int], masks: dict[str, Any]
) -> None:
    """The largest tiles, where registers are short: alone in a block of keys, and several."""
    check("flash2", blocked(head_dim, *blocks, **masks), target)


@chosen("block_k", (192, 320, 384), {192})
def test_a_window_over_blocks_of_several_tiles_does_not_make_flash2_spill(block_k: int) -> None:
    check("flash2", blocked(128, 128, block_k, window=(256, 0)), HOPPER)


def tiles() -> dict[tuple[int, ...], tuple[Problem, Target]]:
    """Each tile that a block size selects, by head dim and cut, on one of the architectures that take it."""
    builds = defaultdict(list)
    sizes = (16, 32, 64, 128)
    for target, head_dim, block_q, block_k in product(TARGETS, (128, 256), sizes, sizes):
        workload = blocked(head_dim, block_q, block_k, causal=True, window=(256, 0))
        defines = flash2.program(workload, target).defines
        key = (head_dim, *(defines[name] for name in CUT))
        builds[key].append((workload, target))
    return {key: candidates[turn % len(candidates)] for turn, (key, candidates) in enumerate(builds.items())}


TILES = tiles()


@matrix("head_dim warps subtiles keys", TILES, "head_dim warps", "head_dim keys", few=1)
def test_no_tile_that_a_block_size_selects_makes_flash2_spill(
    head_dim: int, warps: int, subtiles: int, keys: int
) -> None:
    check("flash2", *TILES[head_dim, warps, subtiles, keys])


@matrix(
    "name target blocks dtype",
    product(PROGRAMS, (TARGETS[0], HOPPER), ((16, 32), (128, 64)), ("float16", "float32")),
    *("target dtype", "blocks dtype"),
    ids=spelled,
    few=1,
)
def test_every_kernel_compiles_with_a_block_mask(
    name: str, target: Target, blocks: tuple[int, int], dtype: Dtype
) -> None:
    mask = BlockMask.random(2048, 2048, block_q=blocks[0], block_k=blocks[1], kept_share=0.5)
    check(name, structs.replace(problem(dtype, 128, causal=True), block_mask=mask), target)


@pytest.mark.parametrize("order", ["flash1", "flash2"])
@chosen("block", [1, 16, 64], {16})
def test_the_instrumented_kernels_compile(order: LoopOrder, block: int) -> None:
    workload = Problem(seqlen_q=100, seqlen_k=100, head_dim=64)
    request = TraceRequest(problem=workload, backend="cuda", order=order, block_q=block, block_k=block)
    _, log = compile_offline(instrumented(request, workload), HOPPER)
    entry = {"flash1": "simt_flash1", "flash2": "simt"}[order]
    assert resources(log)[entry].registers > 0


@chosen("name", ["flash1", "simt"], {"simt"})
def test_the_timed_machine_code_does_not_know_of_the_recording(name: str) -> None:
    """Taking the recording out of the source altogether changes not one byte of the timed kernel."""
    program = PROGRAMS[name](problem("float32", 64), HOPPER)
    source = cuda_compile.read_source(program)
    bare = re.sub(r"#if TRACE\n.*?(?:#else\n(.*?))?#endif\n", r"\1", source, flags=re.DOTALL)
    assert "recorder" in source
    assert "recorder" not in bare
    assert code(program, source) == code(program, bare)


def code(program: Program, source: str) -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda_compile, "read_source", lambda _: source)
        cubin, _ = compile_offline(program, HOPPER)
    return cubin


def test_a_source_the_compiler_refuses_is_an_error_with_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_compile, "read_source", lambda _: "__global__ void broken() { unknown(); }")
    with pytest.raises(CompileError, match=r"refused simt\.cu.*unknown") as caught:
        compile_offline(simt.program(problem("float32", 64), HOPPER), HOPPER)
    assert "1 error detected" in caught.value.log


def test_an_edited_include_changes_the_options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """CuPy's cache reads no #include, so it must see the edit in the options."""
    program = simt.program(problem("float32", 64), HOPPER)
    before = options(program)
    cuda_compile.includes_hash.cache_clear()
    monkeypatch.setattr(cuda_compile, "INCLUDES", tmp_path)
    after = options(program)
    cuda_compile.includes_hash.cache_clear()
    assert before[-1] != after[-1]
