"""Libraries' kernels that stand beside our own as peers."""

from dataclasses import replace

from flashscope.kernels.catalogue import peer_limits, workspace, workspace_backward
from flashscope.kernels.catalogue.marks import MarkSpec
from flashscope.kernels.catalogue.spec import (
    CAUSAL_ONLY,
    DTYPES_BY_BACKEND,
    EVERY_LAYOUT,
    EVERY_MASK,
    ON_A_GPU,
    SIXTEEN_BIT,
    Backward,
    KernelSpec,
)
from flashscope.kernels.workload.problem import Backend, Dtype, Feature

LIBRARY_FEATURES: dict[Backend, frozenset[Feature]] = dict.fromkeys(("cuda", "cpu"), CAUSAL_ONLY | {"gqa"})
WITH_OWN_V: dict[Backend, frozenset[Feature]] = dict.fromkeys(
    ("cuda", "cpu"), CAUSAL_ONLY | {"gqa", "head_dim_v"}
)
LIBRARY_HEAD_DIMS: dict[Backend, range] = {"cuda": range(8, 257, 8), "cpu": range(8, 257, 8)}
WRAPPED: dict[Backend, str] = {
    "cuda": "flashscope.kernels.library.torch_attention",
    "cpu": "flashscope.kernels.library.torch_attention",
}


def _through_autograd(
    dtypes: dict[Backend, tuple[Dtype, ...]],
    implementation: str = "flashscope.kernels.library.torch_backward",
) -> Backward:
    """A library's backward pass; the same bits in every run are not asked of it on a GPU."""
    return Backward(
        idea="its own backward pass through PyTorch's autograd, from what its own forward pass left",
        dtypes=dtypes,
        workspace=workspace_backward.library_fused,
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
    mark=MarkSpec("green", "pentagon", "dash-dot"),
    dtypes=DTYPES_BY_BACKEND,
    workspace=workspace.torch_math,
    products="float32",
    implementation=WRAPPED,
    head_dims=LIBRARY_HEAD_DIMS,
    features=WITH_OWN_V,
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
    mark=MarkSpec("green", "hexagon", "short"),
    dtypes=ON_A_GPU,
    workspace=workspace.library_fused,
    implementation={"cuda": WRAPPED["cuda"]},
    head_dims=LIBRARY_HEAD_DIMS,
    features=WITH_OWN_V,
    extra="torch",
    backward=_through_autograd(ON_A_GPU),
)

TORCH_FLASH = KernelSpec(
    name="torch-flash",
    family="library",
    idea="PyTorch's FlashAttention: FlashAttention-2 on a GPU, its own tiled kernel on the CPU",
    mark=MarkSpec("green", "star"),
    dtypes={"cuda": SIXTEEN_BIT, "cpu": ("float32",)},
    workspace=workspace.library_fused,
    implementation=WRAPPED,
    head_dims=LIBRARY_HEAD_DIMS,
    features=LIBRARY_FEATURES,
    min_compute_capability=(8, 0),
    extra="torch",
    backward=replace(
        _through_autograd({"cuda": SIXTEEN_BIT, "cpu": ("float32",)}),
        workspace=workspace_backward.torch_flash,
    ),
)

TORCH_CUDNN = KernelSpec(
    name="torch-cudnn",
    family="library",
    idea="cuDNN's fused attention through PyTorch, generated for the GPU it runs on",
    mark=MarkSpec("green", "triangle-down", "long"),
    dtypes={"cuda": SIXTEEN_BIT},
    workspace=workspace.library_fused,
    implementation={"cuda": WRAPPED["cuda"]},
    head_dims=LIBRARY_HEAD_DIMS,
    features=WITH_OWN_V,
    min_compute_capability=(8, 0),
    extra="torch",
    backward=_through_autograd({"cuda": SIXTEEN_BIT}),
)

TORCH_AUTO = KernelSpec(
    name="torch-auto",
    family="library",
    idea="PyTorch's dispatcher left to itself; the note of a point names what it chose",
    mark=MarkSpec("green", "plus", "medium"),
    dtypes=DTYPES_BY_BACKEND,
    workspace=workspace.library_fused,
    implementation=WRAPPED,
    head_dims=LIBRARY_HEAD_DIMS,
    features=WITH_OWN_V,
    extra="torch",
    backward=_through_autograd(DTYPES_BY_BACKEND),
)

FLASH_ATTN_3 = KernelSpec(
    name="flash-attn-3",
    family="library",
    idea="FlashAttention-3 as its authors build it in C++ for Hopper; forward alone",
    mark=MarkSpec("purple", "hourglass", "medium"),
    dtypes={"cuda": SIXTEEN_BIT},
    workspace=workspace.library_fused,
    implementation={"cuda": "flashscope.kernels.library.flash_attention_3"},
    head_dims=LIBRARY_HEAD_DIMS,
    features={"cuda": EVERY_MASK - {"block_mask"}},
    min_compute_capability=(9, 0),
    max_compute_capability=(9, 0),
    extra="tokenspeed-fa3",
    module="flash_attn_interface",
)

FLASH_ATTN_4 = KernelSpec(
    name="flash-attn-4",
    family="library",
    idea="FlashAttention's own package for Hopper and newer, written in CuTe's Python dialect",
    mark=MarkSpec("purple", "triangle-left"),
    dtypes={"cuda": SIXTEEN_BIT},
    workspace=workspace.library_fused,
    implementation={"cuda": "flashscope.kernels.library.flash_attention_4"},
    head_dims=LIBRARY_HEAD_DIMS,
    features={"cuda": EVERY_MASK - {"block_mask"}},
    min_compute_capability=(8, 0),
    extra="flash-attn-4",
    module="flash_attn.cute",
    backward=replace(
        _through_autograd({"cuda": SIXTEEN_BIT}, "flashscope.kernels.library.flash_attention_4_backward"),
        workspace=workspace_backward.flash_attn_4,
    ),
)

CUDNN_FRONTEND = KernelSpec(
    name="cudnn-frontend",
    family="library",
    idea="cuDNN's fused attention through its own frontend, which is newer than the one in PyTorch",
    mark=MarkSpec("purple", "square-ring", "dash-dot"),
    dtypes={"cuda": SIXTEEN_BIT},
    workspace=workspace.library_fused,
    implementation={"cuda": "flashscope.kernels.library.cudnn_graph"},
    head_dims=LIBRARY_HEAD_DIMS,
    features={"cuda": EVERY_MASK - {"block_mask"}},
    min_compute_capability=(8, 0),
    extra="nvidia-cudnn-frontend",
    module="cudnn",
    backward=Backward(
        idea="its own backward pass, described as a graph like the forward pass, from O and LSE",
        dtypes={"cuda": SIXTEEN_BIT},
        workspace=workspace_backward.library_fused,
        kept=workspace_backward.kept_rows,
        implementation={"cuda": "flashscope.kernels.library.cudnn_graph_backward"},
    ),
    limit=peer_limits.of_cudnn,
)

FLASHINFER = KernelSpec(
    name="flashinfer",
    family="library",
    idea="FlashInfer, which serves language models: kernels for prompts, for decoding and for paged caches",
    mark=MarkSpec("purple", "bow-tie", "long"),
    dtypes={"cuda": SIXTEEN_BIT},
    workspace=workspace.library_fused,
    implementation={"cuda": "flashscope.kernels.library.flash_infer"},
    head_dims={"cuda": range(64, 257, 64)},
    features={"cuda": EVERY_LAYOUT - {"block_mask"}},
    min_compute_capability=(8, 0),
    extra="flashinfer-python",
    module="flashinfer",
    compile_s=600.0,
    limit=peer_limits.of_flashinfer,
)

TRITON_FLASH = KernelSpec(
    name="triton-flash",
    family="library",
    idea="FlashAttention-2's loops in a page of Triton, whose compiler chooses layouts and instructions",
    mark=MarkSpec("purple", "columns", "short"),
    dtypes={"cuda": SIXTEEN_BIT},
    workspace=workspace.library_fused,
    implementation={"cuda": "flashscope.kernels.library.triton_flash"},
    head_dims={"cuda": range(16, 257, 8)},
    features={"cuda": CAUSAL_ONLY | {"gqa"}},
    min_compute_capability=(8, 0),
    extra="triton",
    written_here=True,
)

TORCH: tuple[KernelSpec, ...] = (TORCH_MATH, TORCH_EFFICIENT, TORCH_FLASH, TORCH_CUDNN, TORCH_AUTO)
LIBRARY: tuple[KernelSpec, ...] = (
    *TORCH,
    CUDNN_FRONTEND,
    FLASH_ATTN_3,
    FLASH_ATTN_4,
    FLASHINFER,
    TRITON_FLASH,
)
