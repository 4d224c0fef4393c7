"""Sweeps with a name: what the command line runs without being told every choice."""

from itertools import product

from kernels.problem import Backend, Dtype, Passes, Problem
from kernels.registry import KERNELS
from kernels.spec import KernelSpec
from profiles.plan.plan import Plan, Protocol

PEERS = "peers"
PRESETS = (PEERS,)
CHOICES = ("backend", "kernels", "passes", "seed")  # of a request, that a preset takes beside its protocol

# Shapes of FlashAttention's own benchmark: the tokens of a batch and the width of all heads stay the same.
GPU_SEQLENS, CPU_SEQLENS = (1024, 2048, 4096, 8192, 16384), (128, 256, 512)
GPU_TOKENS, CPU_TOKENS = 16384, 512
GPU_WIDTH, CPU_WIDTH = 2048, 256
HEAD_DIMS = (64, 128, 256)


def peers_plan(
    backend: Backend,
    protocol: Protocol,
    seed: int = 0,
    kernels: tuple[str, ...] | None = None,
    passes: Passes = "forward",
) -> Plan:
    """Our ladder and the library's kernels side by side.

    Head dim 64, 128 and 256, causal or not, N doubling with batch x N and heads x head dim constant: 16k
    tokens of width 2048 in bfloat16 on a GPU, 512 of width 256 in float32 on the CPU. Kernels take turns
    within each problem.

    Args:
        backend: Where to run.
        protocol: How to measure.
        seed: Seed of the inputs.
        kernels: Kernels to run; None: all that exist on the backend and have these passes.
        passes: What a run computes.
    """
    on_gpu = backend == "cuda"
    tokens, width = (GPU_TOKENS, GPU_WIDTH) if on_gpu else (CPU_TOKENS, CPU_WIDTH)
    dtype: Dtype = "bfloat16" if on_gpu else "float32"
    problems = tuple(
        Problem(
            seqlen_q=seqlen,
            seqlen_k=seqlen,
            batch=tokens // seqlen,
            heads=width // head_dim,
            head_dim=head_dim,
            dtype=dtype,
            causal=causal,
            seed=seed,
            passes=passes,
        )
        for head_dim, causal, seqlen in product(
            HEAD_DIMS, (False, True), GPU_SEQLENS if on_gpu else CPU_SEQLENS
        )
    )
    return Plan(
        backend=backend,
        kernels=kernels or tuple(spec.name for spec in KERNELS if _runs(spec, backend, passes)),
        problems=problems,
        protocol=protocol,
        seed=seed,
    )


def _runs(spec: KernelSpec, backend: Backend, passes: Passes) -> bool:
    """Whether a kernel exists on the backend, and has these passes there."""
    if passes == "forward":
        return backend in spec.dtypes
    return spec.backward is not None and backend in spec.backward.dtypes
