"""Every build of the CUDA sources compiles and fits its architecture, on a machine without a GPU."""

import re
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope import kernels
from flashscope.kernels.catalogue.flash2_cut import SHORT_TILE
from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.workspace_backward import NARROW_HEAD
from flashscope.kernels.cuda import compile as cuda_compile
from flashscope.kernels.cuda import flash1, simt, standard
from flashscope.kernels.cuda.compile import options
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import CompileError
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda import builds
from tests.kernels.cuda.builds import BACKWARD, FORWARD, ON_HOPPER, Build, covering, every_build, named
from tests.kernels.cuda.compiled import check, cubin_of, workload
from tests.kernels.cuda.cubin import code_of
from tests.kernels.cuda.emulator.build import digest_of, made_once
from tests.kernels.cuda.nvrtc_apart import KEPT, compile_apart
from tests.matrix import chosen

PROBLEM = replace(workload(128, causal=True), seqlen_q=1024, seqlen_k=1024)
PARTS = 32  # of the table, each a test
SPILLED = {"standard.cu": 32, "simt_standard.cu": 16, "flash1.cu": 52, "fused.cu": 4}
"""Bytes of a thread at most, by source: at odd head dims, or on GPUs other than Hopper."""
SPILLED_BY_FLASH1_BACKWARD = {"sm_100": 4, "sm_120": 24}  # never measured there
SPILLED_WITH_PAGES = 16  # of simt; never measured
SOFTCAP_SPILLED = 32  # of flash3's backward pass at head dim 64: tiles of 128 queries take all registers


@cache
def table(*, pairs: bool) -> list[Build]:
    """One of each value of a define, and of each pair of those with few values if asked.

    To find them takes a minute and a half: they are kept for the other workers of pytest.
    """
    asking = digest_of([Path(builds.__file__), *Path(kernels.__file__).parent.rglob("*.py")])
    kept = made_once(
        KEPT / f"{'pairs' if pairs else 'values'}-{asking}",
        lambda fresh: fresh.write_text(
            "\n".join(build.name for build in covering(every_build(), pairs=pairs))
        ),
    )
    return sorted(named({*kept.read_text().splitlines()}), key=lambda build: build.name)


def spilled(build: Build) -> int:
    """Bytes that a thread of a build may spill."""
    match build.program.source:
        case "flash1_backward.cu":
            return SPILLED_BY_FLASH1_BACKWARD.get(build.arch, 0)
        case "flash3_backward.cu":
            narrow = build.program.defines["HEAD_DIM"] == NARROW_HEAD
            return SOFTCAP_SPILLED if narrow and build.program.defines.get("SOFTCAP") else 0
        case "simt.cu":
            return SPILLED_WITH_PAGES if build.program.defines.get("PAGE_SIZE") else 0
        case source:
            return SPILLED.get(source, 0)


def why_not(build: Build) -> str:
    """Why a build does not fit; empty: it does."""
    try:
        check(build.program, build.target, spilled(build))
    except (AssertionError, CompileError) as error:
        return str(error)
    return ""


def misfits(asked: list[Build]) -> dict[str, str]:
    """Those that do not fit, and why."""
    return {build.name: fault for build in asked if (fault := why_not(build))}


def test_every_cuda_kernel_of_the_ladder_is_among_what_is_compiled_and_emulated() -> None:
    assert FORWARD.keys() == {spec.name for spec in LADDER if "cuda" in spec.implementation}


@pytest.mark.matrix  # it draws up the table
def test_flash2s_tiles_of_half_the_rows_are_among_what_is_compiled() -> None:
    halved = {"WARPS": SHORT_TILE.warps, "SUBTILES": 1}
    found = [one.program for one in table(pairs=False) if one.arch == ON_HOPPER.arch]
    assert any(one.defines.items() >= halved.items() for one in found if one.source == "flash2.cu")


@pytest.mark.matrix  # it takes minutes
@pytest.mark.parametrize("part", range(PARTS))
def test_builds_with_every_value_of_every_define_fit_their_architectures(part: int) -> None:
    assert misfits(table(pairs=False)[part::PARTS]) == {}


@pytest.mark.long  # it takes many minutes
@pytest.mark.parametrize("part", range(PARTS))
def test_builds_with_every_pair_of_defines_fit_their_architectures(part: int) -> None:
    assert misfits(table(pairs=True)[part::PARTS]) == {}


@chosen("name", FORWARD, {"fused"})
def test_every_forward_pass_fits_hopper(name: str) -> None:
    assert why_not(Build(name, FORWARD[name](PROBLEM, ON_HOPPER), ON_HOPPER)) == ""


@chosen("name", BACKWARD, {"flash2"})
def test_every_backward_pass_fits_hopper(name: str) -> None:
    assert why_not(Build(name, BACKWARD[name](PROBLEM, ON_HOPPER), ON_HOPPER)) == ""


def test_a_build_that_takes_more_than_there_is_is_told_with_what_it_takes() -> None:
    program = flash1.program(PROBLEM, ON_HOPPER)
    small = ON_HOPPER._replace(shared_memory=1024)
    assert "Resources(registers=" in why_not(Build("flash1", program, small))


@pytest.mark.parametrize("float_scores", [False, True])
@pytest.mark.parametrize("head_dim", standard.WGMMA_CUTS)
@pytest.mark.parametrize(("block_k", "suffix"), [(128, "a"), (64, "")])
def test_both_products_of_standard_take_wgmma_or_neither_does(
    float_scores: bool, head_dim: int, block_k: int, suffix: str
) -> None:
    """At head dim 256 PV alone could take it under blocks of 64 keys."""
    blocks = BlockMask.random(2048, 2048, block_q=128, block_k=block_k, kept_share=0.5)
    problem = Problem(seqlen_q=2048, seqlen_k=2048, head_dim=head_dim, dtype="float16", block_mask=blocks)
    assert standard.program(problem, ON_HOPPER, float_scores=float_scores).arch_suffix == suffix


@pytest.mark.matrix
@chosen("name", ["flash1", "simt"], {"simt"})
def test_the_timed_machine_code_does_not_know_of_the_recording(name: str) -> None:
    """Taking the recording out of the source altogether changes not one byte of the timed kernel."""
    program = FORWARD[name](workload(64, "float32"), ON_HOPPER)
    source = cuda_compile.read_source(program)
    bare = re.sub(r"recorder\.turned\((\w+), \w+\)", r"\1", source)
    bare = re.sub(r"^.*(?:Recorder |\b)recorder\b.*;\n", "", bare, flags=re.MULTILINE)
    assert "recorder" in source
    assert "recorder" not in bare
    timed, without = (code_of(cubin_of(program, ON_HOPPER, text)) for text in (source, bare))
    assert timed == without


def test_a_source_the_compiler_refuses_is_an_error_with_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_compile, "read_source", lambda _: "__global__ void broken() { unknown(); }")
    with pytest.raises(CompileError, match=r"refused simt\.cu.*unknown") as caught:
        compile_apart(simt.program(workload(64, "float32"), ON_HOPPER), ON_HOPPER)
    assert "1 error detected" in caught.value.log


def test_an_edited_include_changes_the_options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """CuPy's cache reads no #include, so it must see the edit in the options."""
    program = simt.program(workload(64, "float32"), ON_HOPPER)
    before = options(program)
    cuda_compile.includes_hash.cache_clear()
    monkeypatch.setattr(cuda_compile, "INCLUDES", tmp_path)
    after = options(program)
    cuda_compile.includes_hash.cache_clear()
    assert before[-1] != after[-1]
