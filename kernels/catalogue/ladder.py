"""Our own kernels, from materialised scores to Hopper's: what each is, takes and needs."""

from dataclasses import replace

from flashscope.kernels.catalogue import fused, shared_traffic, traffic, workspace, workspace_backward
from flashscope.kernels.catalogue.fp8 import Rounding, fp8_tiling
from flashscope.kernels.catalogue.marks import MarkSpec
from flashscope.kernels.catalogue.spec import (
    DTYPES_BY_BACKEND,
    EVERY_FEATURE,
    EVERY_LAYOUT,
    EVERY_MASK,
    HEAD_DIMS,
    ON_A_CPU,
    ON_A_GPU,
    SIXTEEN_BIT,
    Backward,
    KernelSpec,
    listed,
)
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import NOT_TRACED, SCORING, Backend, Dtype, Feature, Problem

FLASH3_HEADS = range(64, 257, 32)
EVERYWHERE: dict[Backend, frozenset[Feature]] = {"cuda": EVERY_MASK, "cpu": EVERY_FEATURE}
BACKWARD_OF_ALL_TERMS: dict[Backend, frozenset[Feature]] = {
    "cuda": EVERY_MASK | NOT_TRACED,
    "cpu": EVERY_MASK | NOT_TRACED,
}
BACKWARD_EVERYWHERE: dict[Backend, frozenset[Feature]] = {"cuda": EVERY_MASK, "cpu": EVERY_MASK | NOT_TRACED}
ON_TENSOR_CORES: dict[Backend, tuple[Dtype, ...]] = {"cpu": DTYPES_BY_BACKEND["cpu"], "cuda": SIXTEEN_BIT}


def _on_both(module: str) -> dict[Backend, str]:
    """The modules of that name, a backend each."""
    return {"cuda": f"flashscope.kernels.cuda.{module}", "cpu": f"flashscope.kernels.cpu.{module}"}


STANDARD = KernelSpec(
    name="standard",
    family="standard",
    idea="S = QKᵀ, softmax, PV: three launches with S and P in memory",
    rank=40,
    mark=MarkSpec("vermilion", "circle"),
    dtypes=DTYPES_BY_BACKEND,
    strided=ON_A_CPU,
    workspace=workspace.standard,
    traffic=traffic.STANDARD,
    implementation=_on_both("standard"),
    features=EVERYWHERE,
    backward=Backward(
        idea="P kept since the forward pass: dS in HBM beside it, and no score computed twice",
        dtypes=ON_TENSOR_CORES,
        workspace=workspace_backward.standard,
        kept=workspace_backward.kept_weights,
        implementation=_on_both("standard_backward"),
        features=BACKWARD_EVERYWHERE,
        recomputes=False,
    ),
)

STANDARD_FP32S = KernelSpec(
    name="standard-fp32s",
    family="standard",
    idea="standard with S in float32: scores are never rounded to 16 bits, for 6 bytes a score instead of 4",
    predecessor="standard",
    mark=MarkSpec("vermilion", "ring", "medium"),
    dtypes=ON_A_GPU,
    workspace=workspace.standard_fp32s,
    traffic=traffic.STANDARD_FP32S,
    implementation={"cuda": "flashscope.kernels.cuda.standard"},
    features=EVERYWHERE,
)

FUSED = KernelSpec(
    name="fused",
    family="tiled",
    idea="one launch without tiling: whole rows of scores in shared memory, up to the N whose row fits",
    predecessor="standard",
    rank=60,
    mark=MarkSpec("vermilion", "rows", "dash-dot"),
    dtypes=DTYPES_BY_BACKEND,
    strided=ON_A_CPU,
    workspace=workspace.fused,
    traffic=traffic.FUSED,
    products="float32",
    implementation=_on_both("fused"),
    features={"cuda": EVERY_MASK - {"block_mask"}, "cpu": EVERY_FEATURE},
    limit=fused.too_long,
)

SIMT = KernelSpec(
    name="simt",
    family="tiled",
    idea="flash2's order without tensor cores, float32 arithmetic on any GPU: the accuracy baseline",
    rank=50,
    mark=MarkSpec("grey", "triangle-right"),
    dtypes=ON_A_GPU,
    workspace=workspace.flash2,
    traffic=traffic.FLASH2,
    products="float32",
    implementation={"cuda": "flashscope.kernels.cuda.simt"},
    features={"cuda": EVERY_LAYOUT},
)

FLASH1 = KernelSpec(
    name="flash1",
    family="tiled",
    idea="K/V outer, Q inner: S stays on chip, but m, ℓ and O go through memory for every key block",
    predecessor="standard",
    rank=30,
    mark=MarkSpec("amber", "square"),
    dtypes=DTYPES_BY_BACKEND,
    strided=ON_A_CPU,
    workspace=workspace.flash1,
    traffic=traffic.FLASH1,
    implementation=_on_both("flash1"),
    features=EVERYWHERE,
    backward=Backward(
        idea="S and P computed again from LSE, key tiles outside, delta = rowsum(dO O) anew in every tile",
        dtypes=ON_TENSOR_CORES,
        workspace=workspace_backward.flash1,
        kept=workspace_backward.kept_rows,
        implementation=_on_both("flash1_backward"),
        features=BACKWARD_EVERYWHERE,
    ),
)


def _on_cuda(problem: Problem, device: Device) -> str | None:
    terms = problem.features & NOT_TRACED
    if device.backend == "cpu" or not terms:
        return None
    if problem.dtype == "float32":
        return f"flash2 takes {listed(terms)} on {device.backend} in 16 bits alone, not in float32"
    if "head_dim_v" in terms and "paged" in problem.features:
        return "flash2 takes values of another head dim as arrays alone, not in pages"
    if problem.value_dim not in HEAD_DIMS:
        return f"flash2 takes a head dim of V as of Q, from {HEAD_DIMS[0]} on in steps of {HEAD_DIMS.step}"
    return None


FLASH2 = KernelSpec(
    name="flash2",
    family="tiled",
    idea="Q outer, K/V inner: m, ℓ and O never leave the chip either, normalised once at the end",
    predecessor="flash1",
    rank=20,
    mark=MarkSpec("blue", "triangle-up"),
    dtypes=DTYPES_BY_BACKEND,
    strided=ON_A_CPU,
    workspace=workspace.flash2,
    traffic=traffic.FLASH2,
    shared_traffic=shared_traffic.flash2_shared,
    implementation=_on_both("flash2"),
    features={"cuda": EVERY_FEATURE, "cpu": EVERY_FEATURE},
    limit=_on_cuda,
    backward=Backward(
        idea="S and P computed again from LSE, key tiles outside, delta = rowsum(dO O) once for every row",
        dtypes=ON_TENSOR_CORES,
        workspace=workspace_backward.flash2,
        kept=workspace_backward.kept_rows,
        implementation=_on_both("flash2_backward"),
        features=BACKWARD_OF_ALL_TERMS,
    ),
)


def _hopper(name: str, idea: str, predecessor: str, mark: MarkSpec) -> KernelSpec:
    """A step of flash3: wgmma and setmaxnreg exist on compute capability 9.0 alone."""
    return KernelSpec(
        name=name,
        family="tiled",
        idea=idea,
        predecessor=predecessor,
        mark=mark,
        dtypes={"cuda": SIXTEEN_BIT},
        workspace=workspace.flash3_step,
        traffic=traffic.FLASH2,
        shared_traffic=shared_traffic.flash3_step_shared,
        implementation={"cuda": "flashscope.kernels.cuda.flash3"},
        head_dims={"cuda": FLASH3_HEADS},
        features={"cuda": EVERY_MASK},
        min_compute_capability=(9, 0),
        max_compute_capability=(9, 0),
    )


def _of_flash3_gradients(problem: Problem) -> str | None:
    if problem.value_dim > problem.head_dim:
        return f"takes a head dim of V up to Q's, not {problem.value_dim} beside {problem.head_dim}"
    if problem.head_dim <= workspace_backward.WIDE_HEAD:
        return None
    if problem.block_mask is not None:
        return f"takes no block mask at head dims over {workspace_backward.WIDE_HEAD}"
    return None


def _of_other_values(problem: Problem, device: Device) -> str | None:
    del device
    if problem.value_dim in FLASH3_HEADS:
        return None
    return f"flash3 takes head dims {', '.join(map(str, FLASH3_HEADS))} of V, not {problem.value_dim}"


FLASH3_A = replace(
    _hopper(
        "flash3-a",
        "TMA loads, wgmma from shared memory, a warpgroup that only copies",
        "flash2",
        MarkSpec("cyan", "diamond-ring", "short"),
    ),
    shared_traffic=shared_traffic.flash3_first_shared,
)
FLASH3_B = _hopper(
    "flash3-b",
    "the softmax under the next product, warpgroups in turns at the tensor cores",
    "flash3-a",
    MarkSpec("cyan", "diamond-half", "medium"),
)
FLASH3_C = _hopper(
    "flash3-c",
    "blocks that stay and draw tiles, longest first, in sections that fit the L2",
    "flash3-b",
    MarkSpec("cyan", "diamond-slit", "long"),
)
FLASH3 = replace(
    _hopper(
        "flash3",
        "Hopper's asynchronous units kept busy from the first tile to the last",
        "flash3-c",
        MarkSpec("cyan", "diamond"),
    ),
    rank=10,
    features={"cuda": EVERY_LAYOUT | SCORING | {"head_dim_v"}},
    limit=_of_other_values,
    workspace=workspace.flash3,
    traffic=traffic.FLASH3,
    shared_traffic=shared_traffic.flash3_shared,
    backward=Backward(
        idea="flash2's order on Hopper's asynchronous units: dS passes shared memory, dQ is added to in HBM",
        dtypes={"cuda": SIXTEEN_BIT},
        workspace=workspace_backward.flash3,
        kept=workspace_backward.kept_rows,
        implementation={"cuda": "flashscope.kernels.cuda.flash3_backward"},
        head_dims={"cuda": range(64, 257, 64)},
        features={"cuda": EVERY_MASK | SCORING | {"head_dim_v"}},
        deterministic=frozenset({"cuda"}),
        limit=_of_flash3_gradients,
    ),
)

FLASH3_FP8 = KernelSpec(
    name="flash3-fp8",
    family="tiled",
    idea="flash3 in 8 bits (e4m3), not exact: Q, K, V and P keep 3 bits of mantissa, for faster products",
    predecessor="flash3",
    mark=MarkSpec("cyan", "diamonds", "dash-dot"),
    dtypes={"cuda": SIXTEEN_BIT},
    workspace=workspace.flash3_fp8,
    traffic=traffic.FLASH3_FP8,
    implementation={"cuda": "flashscope.kernels.cuda.flash3_fp8"},
    head_dims={"cuda": range(64, 257, 32)},
    features={"cuda": EVERY_MASK - {"block_mask", "window"}},
    min_compute_capability=(9, 0),
    max_compute_capability=(9, 0),
    products="float8",
    rounding=lambda problem: Rounding(fp8_tiling(problem.head_dim).key_block),
)

STEPS: tuple[KernelSpec, ...] = (FLASH3_A, FLASH3_B, FLASH3_C)
"""What leads from flash2 to flash3, each a lesson: run when chosen."""
LADDER: tuple[KernelSpec, ...] = (
    *(STANDARD, STANDARD_FP32S, FUSED, SIMT, FLASH1, FLASH2),
    *(*STEPS, FLASH3, FLASH3_FP8),
)
