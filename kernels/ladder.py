"""Our own kernels, from materialised scores to Hopper's: what each is, takes and needs."""

from dataclasses import replace

from kernels import fused, workspace, workspace_backward
from kernels.fp8 import Rounding, cut
from kernels.problem import Backend, Dtype, Feature, Problem
from kernels.spec import (
    DTYPES_BY_BACKEND,
    EVERY_FEATURE,
    EVERY_MASK,
    ON_A_GPU,
    SIXTEEN_BIT,
    Backward,
    KernelSpec,
)

EVERYWHERE: dict[Backend, frozenset[Feature]] = {"cuda": EVERY_MASK, "cpu": EVERY_FEATURE}
BACKWARD_EVERYWHERE: dict[Backend, frozenset[Feature]] = dict.fromkeys(("cuda", "cpu"), EVERY_MASK)
ON_TENSOR_CORES: dict[Backend, tuple[Dtype, ...]] = {"cpu": DTYPES_BY_BACKEND["cpu"], "cuda": SIXTEEN_BIT}

STANDARD = KernelSpec(
    name="standard",
    family="standard",
    idea="S = QKᵀ, softmax, PV: three launches with S and P in HBM",
    dtypes=DTYPES_BY_BACKEND,
    workspace=workspace.standard,
    io="standard",
    implementation={"cuda": "kernels.cuda.standard", "cpu": "kernels.cpu.standard"},
    features=EVERYWHERE,
    backward=Backward(
        idea="P kept since the forward pass: dS in HBM beside it, and no score computed twice",
        dtypes=ON_TENSOR_CORES,
        workspace=workspace_backward.standard,
        kept=workspace_backward.kept_weights,
        implementation={"cpu": "kernels.cpu.standard_backward", "cuda": "kernels.cuda.standard_backward"},
        features=BACKWARD_EVERYWHERE,
        recomputes=False,
    ),
)

STANDARD_FP32S = KernelSpec(
    name="standard-fp32s",
    family="standard",
    idea="standard with S in float32: scores are never rounded to 16 bits, for 6 bytes a score instead of 4",
    dtypes=ON_A_GPU,
    workspace=workspace.standard_fp32s,
    io="standard-fp32s",
    implementation={"cuda": "kernels.cuda.standard"},
    features=EVERYWHERE,
)

FUSED = KernelSpec(
    name="fused",
    family="tiled",
    idea="one launch without tiling: whole rows of scores in shared memory, up to the N whose row fits",
    dtypes=DTYPES_BY_BACKEND,
    workspace=workspace.fused,
    io="fused",
    products="float32",
    implementation={"cuda": "kernels.cuda.fused", "cpu": "kernels.cpu.fused"},
    features={"cuda": EVERY_MASK - {"block_mask"}, "cpu": EVERY_FEATURE},
    limit=fused.too_long,
)

SIMT = KernelSpec(
    name="simt",
    family="tiled",
    idea="flash2's order without tensor cores, float32 arithmetic on any GPU: the accuracy baseline",
    dtypes=ON_A_GPU,
    workspace=workspace.flash2,
    io="flash2",
    products="float32",
    implementation={"cuda": "kernels.cuda.simt"},
    features={"cuda": EVERY_FEATURE},
)

FLASH1 = KernelSpec(
    name="flash1",
    family="tiled",
    idea="K/V outer, Q inner: S stays on chip, but O, l and m go through HBM for every key block",
    dtypes=DTYPES_BY_BACKEND,
    workspace=workspace.flash1,
    io="flash1",
    implementation={"cuda": "kernels.cuda.flash1", "cpu": "kernels.cpu.flash1"},
    features=EVERYWHERE,
    backward=Backward(
        idea="S and P computed again from LSE, key tiles outside, delta = rowsum(dO O) anew in every tile",
        dtypes=ON_TENSOR_CORES,
        workspace=workspace_backward.flash1,
        kept=workspace_backward.kept_rows,
        implementation={"cpu": "kernels.cpu.flash1_backward", "cuda": "kernels.cuda.flash1_backward"},
        features=BACKWARD_EVERYWHERE,
    ),
)

FLASH2 = KernelSpec(
    name="flash2",
    family="tiled",
    idea="Q outer, K/V inner: O, l and m never leave the chip either, normalised once at the end",
    dtypes=DTYPES_BY_BACKEND,
    workspace=workspace.flash2,
    io="flash2",
    implementation={"cuda": "kernels.cuda.flash2", "cpu": "kernels.cpu.flash2"},
    features=dict.fromkeys(("cuda", "cpu"), EVERY_FEATURE),
    backward=Backward(
        idea="S and P computed again from LSE, key tiles outside, delta = rowsum(dO O) once for every row",
        dtypes=ON_TENSOR_CORES,
        workspace=workspace_backward.flash2,
        kept=workspace_backward.kept_rows,
        implementation={"cpu": "kernels.cpu.flash2_backward", "cuda": "kernels.cuda.flash2_backward"},
        features=BACKWARD_EVERYWHERE,
    ),
)


def _hopper(name: str, idea: str) -> KernelSpec:
    """A step of flash3: wgmma and setmaxnreg exist on compute capability 9.0 alone."""
    return KernelSpec(
        name=name,
        family="tiled",
        idea=idea,
        dtypes={"cuda": SIXTEEN_BIT},
        workspace=workspace.flash3_step,
        io="flash2",
        implementation={"cuda": "kernels.cuda.flash3"},
        head_dims={"cuda": range(64, 257, 32)},
        features={"cuda": EVERY_MASK},
        min_compute_capability=(9, 0),
        max_compute_capability=(9, 0),
    )


def _of_wide_heads(problem: Problem) -> str | None:
    if problem.head_dim <= workspace_backward.WIDE_HEAD:
        return None
    if problem.block_mask is not None:
        return f"takes no block mask at head dims over {workspace_backward.WIDE_HEAD}"
    if problem.deterministic:
        return f"is not deterministic at head dims over {workspace_backward.WIDE_HEAD}"
    return None


FLASH3_A = _hopper("flash3-a", "TMA loads, wgmma from shared memory, a warpgroup that only copies")
FLASH3_B = _hopper("flash3-b", "the softmax under the next product, warpgroups in turns at the tensor cores")
FLASH3_C = _hopper("flash3-c", "blocks that stay and draw tiles, longest first, in sections that fit the L2")
FLASH3 = replace(
    _hopper("flash3", "Hopper's asynchronous units kept busy from the first tile to the last"),
    features={"cuda": EVERY_FEATURE},
    workspace=workspace.flash3,
    io="flash3",
    backward=Backward(
        idea="flash2's order on Hopper's asynchronous units: dS passes shared memory, dQ is added to in HBM",
        dtypes={"cuda": SIXTEEN_BIT},
        workspace=workspace_backward.flash3,
        kept=workspace_backward.kept_rows,
        implementation={"cuda": "kernels.cuda.flash3_backward"},
        head_dims={"cuda": range(64, 257, 64)},
        features={"cuda": EVERY_MASK},
        deterministic=frozenset({"cuda"}),
        limit=_of_wide_heads,
    ),
)

FLASH3_FP8 = KernelSpec(
    name="flash3-fp8",
    family="tiled",
    idea="flash3 in 8 bits (e4m3), not exact: Q, K, V and P keep 3 bits of mantissa, for faster products",
    dtypes={"cuda": SIXTEEN_BIT},
    workspace=workspace.flash3_fp8,
    io="flash3-fp8",
    implementation={"cuda": "kernels.cuda.flash3_fp8"},
    head_dims={"cuda": range(64, 257, 32)},
    features={"cuda": EVERY_MASK - {"block_mask", "window"}},
    min_compute_capability=(9, 0),
    max_compute_capability=(9, 0),
    products="float8",
    rounding=lambda problem: Rounding(cut(problem.head_dim).key_block),
)

STEPS: tuple[KernelSpec, ...] = (FLASH3_A, FLASH3_B, FLASH3_C)
"""What leads from flash2 to flash3, each a lesson: run when chosen."""
LADDER: tuple[KernelSpec, ...] = (
    *(STANDARD, STANDARD_FP32S, FUSED, SIMT, FLASH1, FLASH2),
    *(*STEPS, FLASH3, FLASH3_FP8),
)
