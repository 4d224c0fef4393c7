"""The kernels there are: our own ladder, and a library's kernels beside it as peers.

Forms, tables, tests and documents iterate over these tuples.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches

from kernels import fused, workspace, workspace_backward
from kernels.device import Device
from kernels.errors import UnsupportedError
from kernels.fp8 import Rounding, cut
from kernels.problem import Backend, Dtype, Feature, Problem
from kernels.spec import CAUSAL_ONLY, EVERY_FEATURE, Backward, KernelSpec

DTYPES_BY_BACKEND: dict[Backend, tuple[Dtype, ...]] = {
    "cuda": ("float32", "float16", "bfloat16"),
    "cpu": ("float32",),
}
EVERYWHERE: dict[Backend, frozenset[Feature]] = dict.fromkeys(("cuda", "cpu"), EVERY_FEATURE)
LIBRARY_FEATURES: dict[Backend, frozenset[Feature]] = dict.fromkeys(("cuda", "cpu"), CAUSAL_ONLY | {"gqa"})

ON_A_GPU: dict[Backend, tuple[Dtype, ...]] = {"cuda": DTYPES_BY_BACKEND["cuda"]}

LIBRARY_HEAD_DIMS: dict[Backend, range] = {"cuda": range(8, 257, 8), "cpu": range(8, 257, 8)}

ONLY_ON_THE_CPU: dict[Backend, tuple[Dtype, ...]] = {"cpu": DTYPES_BY_BACKEND["cpu"]}
ON_TENSOR_CORES: dict[Backend, tuple[Dtype, ...]] = {**ONLY_ON_THE_CPU, "cuda": ("float16", "bfloat16")}

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
    features={"cuda": EVERY_FEATURE - {"block_mask"}, "cpu": EVERY_FEATURE},
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
    features=EVERYWHERE,
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
        dtypes=ONLY_ON_THE_CPU,
        workspace=workspace_backward.flash1,
        kept=workspace_backward.kept_rows,
        implementation={"cpu": "kernels.cpu.flash1_backward"},
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
    features=EVERYWHERE,
    backward=Backward(
        idea="S and P computed again from LSE, key tiles outside, delta = rowsum(dO O) once for every row",
        dtypes=ON_TENSOR_CORES,
        workspace=workspace_backward.flash2,
        kept=workspace_backward.kept_rows,
        implementation={"cpu": "kernels.cpu.flash2_backward", "cuda": "kernels.cuda.flash2_backward"},
    ),
)

SIXTEEN_BIT: tuple[Dtype, ...] = ("float16", "bfloat16")


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
        features={"cuda": EVERY_FEATURE},
        min_compute_capability=(9, 0),
        max_compute_capability=(9, 0),
    )


FLASH3_A = _hopper("flash3-a", "TMA loads, wgmma from shared memory, a warpgroup that only copies")
FLASH3_B = _hopper("flash3-b", "the softmax under the next product, warpgroups in turns at the tensor cores")
FLASH3_C = _hopper("flash3-c", "blocks that stay and draw tiles, longest first, in sections that fit the L2")
FLASH3 = replace(
    _hopper("flash3", "Hopper's asynchronous units kept busy from the first tile to the last"),
    workspace=workspace.flash3,
    io="flash3",
    backward=Backward(
        idea="flash2's order on Hopper's asynchronous units: dS passes shared memory, dQ is added to in HBM",
        dtypes={"cuda": SIXTEEN_BIT},
        workspace=workspace_backward.flash3,
        kept=workspace_backward.kept_rows,
        implementation={"cuda": "kernels.cuda.flash3_backward"},
        head_dims={"cuda": range(64, 129, 64)},
        features={"cuda": EVERY_FEATURE - {"block_mask"}},
        deterministic=frozenset(),
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
    features={"cuda": EVERY_FEATURE - {"block_mask", "window"}},
    min_compute_capability=(9, 0),
    max_compute_capability=(9, 0),
    products="float8",
    rounding=lambda problem: Rounding(cut(problem.head_dim).key_block),
)

WRAPPED: dict[Backend, str] = {
    "cuda": "kernels.library.torch_attention",
    "cpu": "kernels.library.torch_attention",
}


def _through_autograd(
    dtypes: dict[Backend, tuple[Dtype, ...]], implementation: str = "kernels.library.torch_backward"
) -> Backward:
    """A library's backward pass; the same bits in every run are not asked of it on a GPU."""
    return Backward(
        idea="its own backward pass through PyTorch's autograd, from what its own forward pass left",
        dtypes=dtypes,
        workspace=workspace.library_fused,
        kept=workspace_backward.kept_rows,
        implementation=dict.fromkeys(dtypes, implementation),
        min_compute_capability=(7, 5),
        needs_lse=False,
        deterministic=frozenset({"cpu"}),
    )


TORCH_MATH = KernelSpec(
    name="torch-math",
    family="library",
    idea="PyTorch's plain attention: matmul, softmax, matmul in float32, S and P in memory",
    dtypes=DTYPES_BY_BACKEND,
    workspace=workspace.torch_math,
    products="float32",
    implementation=WRAPPED,
    head_dims=LIBRARY_HEAD_DIMS,
    features=LIBRARY_FEATURES,
    extra="torch",
    backward=replace(
        _through_autograd(DTYPES_BY_BACKEND),
        workspace=workspace_backward.torch_math,
        kept=workspace_backward.kept_by_torch_math,
        recomputes=False,
    ),
)

TORCH_EFFICIENT = KernelSpec(
    name="torch-efficient",
    family="library",
    idea="PyTorch's memory-efficient attention: tiled, from xFormers and CUTLASS",
    dtypes=ON_A_GPU,
    workspace=workspace.library_fused,
    implementation={"cuda": WRAPPED["cuda"]},
    head_dims=LIBRARY_HEAD_DIMS,
    features=LIBRARY_FEATURES,
    extra="torch",
    backward=_through_autograd(ON_A_GPU),
)

TORCH_FLASH = KernelSpec(
    name="torch-flash",
    family="library",
    idea="PyTorch's FlashAttention: FlashAttention-2 on a GPU, its own tiled kernel on the CPU",
    dtypes={"cuda": SIXTEEN_BIT, "cpu": ("float32",)},
    workspace=workspace.library_fused,
    implementation=WRAPPED,
    head_dims=LIBRARY_HEAD_DIMS,
    features=LIBRARY_FEATURES,
    min_compute_capability=(8, 0),
    extra="torch",
    backward=_through_autograd({"cuda": SIXTEEN_BIT, "cpu": ("float32",)}),
)

TORCH_CUDNN = KernelSpec(
    name="torch-cudnn",
    family="library",
    idea="cuDNN's fused attention through PyTorch, generated for the GPU it runs on",
    dtypes={"cuda": SIXTEEN_BIT},
    workspace=workspace.library_fused,
    implementation={"cuda": WRAPPED["cuda"]},
    head_dims=LIBRARY_HEAD_DIMS,
    features=LIBRARY_FEATURES,
    min_compute_capability=(8, 0),
    extra="torch",
    backward=_through_autograd({"cuda": SIXTEEN_BIT}),
)

TORCH_AUTO = KernelSpec(
    name="torch-auto",
    family="library",
    idea="PyTorch's dispatcher left to itself; the note of a point names what it chose",
    dtypes=DTYPES_BY_BACKEND,
    workspace=workspace.library_fused,
    implementation=WRAPPED,
    head_dims=LIBRARY_HEAD_DIMS,
    features=LIBRARY_FEATURES,
    extra="torch",
    backward=_through_autograd(DTYPES_BY_BACKEND),
)

FLASH_ATTN_4 = KernelSpec(
    name="flash-attn-4",
    family="library",
    idea="FlashAttention's own package for Hopper and newer, written in CuTe's Python dialect",
    dtypes={"cuda": SIXTEEN_BIT},
    workspace=workspace.library_fused,
    implementation={"cuda": "kernels.library.flash_attention_4"},
    head_dims=LIBRARY_HEAD_DIMS,
    features={"cuda": EVERY_FEATURE - {"block_mask"}},
    min_compute_capability=(8, 0),
    extra="flash-attn-4",
    module="flash_attn.cute",
    backward=_through_autograd({"cuda": SIXTEEN_BIT}, "kernels.library.flash_attention_4_backward"),
)

STEPS: tuple[KernelSpec, ...] = (FLASH3_A, FLASH3_B, FLASH3_C)
"""What leads from flash2 to flash3, each a lesson: run when chosen."""
LADDER: tuple[KernelSpec, ...] = (
    *(STANDARD, STANDARD_FP32S, FUSED, SIMT, FLASH1, FLASH2),
    *(*STEPS, FLASH3, FLASH3_FP8),
)
TORCH: tuple[KernelSpec, ...] = (TORCH_MATH, TORCH_EFFICIENT, TORCH_FLASH, TORCH_CUDNN, TORCH_AUTO)
LIBRARY: tuple[KernelSpec, ...] = (*TORCH, FLASH_ATTN_4)
KERNELS: tuple[KernelSpec, ...] = (*LADDER, *LIBRARY)


LESSON: tuple[str, ...] = ("standard", "flash1", "flash2", "flash3")
"""One kernel for each step of the argument for tiling: what runs when nothing else is chosen."""


def lesson_on(backend: Backend) -> tuple[str, ...]:
    """Names of the `LESSON`'s kernels that exist on a backend."""
    return tuple(spec.name for spec in LADDER if spec.name in LESSON and backend in spec.dtypes)


def runnable(names: Sequence[str], problems: Sequence[Problem], device: Device) -> tuple[str, ...]:
    """Those of these kernels that take at least one of the problems on the device."""
    specs = [find_kernel(name) for name in names]
    return tuple(s.name for s in specs if any(s.unsupported(p, device) is None for p in problems))


def base_of(name: str) -> str | None:
    """The kernel of the ladder that this one is a step to or a variant of, as flash3 of flash3-fp8."""
    base, dash, _ = name.partition("-")
    return base if dash and any(spec.name == base for spec in LADDER) else None


def find_kernel(name: str, kernels: tuple[KernelSpec, ...] = KERNELS) -> KernelSpec:
    """The spec of that name.

    Raises:
        KeyError: No kernel has it; the text lists those that exist.
    """
    for spec in kernels:
        if spec.name == name:
            return spec
    names = [spec.name for spec in kernels]
    meant = "".join(f" (did you mean {near}?)" for near in get_close_matches(str(name), names, n=1))
    raise KeyError(f"no kernel is called {name!r}{meant}; there are {', '.join(names)}")


AUTO = "auto"  # in place of a kernel's name: the one `choose_kernel` names
FASTEST_FIRST: tuple[str, ...] = ("flash3", "flash2", "flash1", "standard", "simt", "fused")
"""The order in which `choose_kernel` tries our own kernels, on either backend."""


def choose_kernel(problem: Problem, device: Device) -> KernelSpec:
    """The kernel that "auto" stands for: the first of `FASTEST_FIRST` that supports the problem there.

    Raises:
        UnsupportedError: None does; the text has each one's reason.
    """
    return _first_without(lambda spec: spec.unsupported(problem, device))


def choose_backward(problem: Problem, device: Device, *, deterministic: bool = False) -> KernelSpec:
    """The kernel that "auto" stands for in a backward pass, likewise.

    Raises:
        UnsupportedError: None does; the text has each one's reason.
    """
    return _first_without(
        lambda spec: spec.unsupported_backward(problem, device, deterministic=deterministic)
    )


def _first_without(reason_of: Callable[[KernelSpec], str | None]) -> KernelSpec:
    """The first of `FASTEST_FIRST` that there is no reason against."""
    reasons: dict[str, None] = {}  # in order, each once
    for name in FASTEST_FIRST:
        spec = find_kernel(name)
        reason = reason_of(spec)
        if reason is None:
            return spec
        reasons[reason] = None
    raise UnsupportedError(f"No kernel can run this: {'; '.join(reasons)}.")
