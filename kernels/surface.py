"""Attention on arrays: check them, find the kernel, run it once."""

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from importlib import import_module
from operator import index
from typing import Any

from kernels.arrays import array_module, backend_of
from kernels.block_mask import BlockMask
from kernels.errors import InputError, UnsupportedError
from kernels.launch import Inputs, prepare
from kernels.problem import DTYPES, Backend, Problem
from kernels.registry import AUTO, KERNELS, choose_kernel, find_kernel
from kernels.spec import KernelSpec

AXES = "(batch, heads, seqlen, head_dim)"
RANK = 4


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    kernel: str,
    causal: bool = False,
    scale: float | None = None,
    window: tuple[int, int] | None = None,
    block_mask: BlockMask | None = None,
    return_lse: bool = False,
) -> Any:
    """softmax(scale Q K^T) V on the CPU (NumPy arrays) or the GPU that holds them (CuPy arrays).

    On a GPU the work is enqueued on the current stream; the result is an ordinary CuPy array.

    Args:
        q: (batch, heads, Nq, head_dim), contiguous; float32, on a GPU also float16 or bfloat16.
        k: (batch, kv_heads, Nk, head_dim), of the same kind and dtype. kv_heads divides heads; query head h
            attends to K/V head h // (heads // kv_heads).
        v: Like `k`.
        kernel: Name of one of `kernels.KERNELS`; "auto" is the one that `kernels.choose_kernel` names for the
            same Problem and Device.
        causal: Keep only keys k <= q + Nk - Nq (aligned to the bottom right).
        scale: Factor on the scores; None means 1/sqrt(head_dim).
        window: (left, right): keep only keys q + Nk - Nq - left <= k <= q + Nk - Nq + right; -1 is unbounded.
            With `causal` the right side is 0.
        block_mask: Keep only these blocks of the scores, in every head; tiled kernels skip the others.
        return_lse: Also return the log-sum-exp.

    Returns:
        O, shape and dtype of `q`; with `return_lse` the pair (O, LSE), LSE being the natural log-sum-exp of
        the scaled scores, float32 (batch, heads, Nq). A row that keeps no key has O = 0 and LSE = -inf.

    Raises:
        InputError: The arrays or options are not what is accepted; the text says what is.
        UnsupportedError: The kernel does not take this dtype or head dim on this device.
        CompileError: The CUDA compiler refused the kernel.
        MemoryError: The outputs or the workspace do not fit.
    """
    named = None if kernel == AUTO else _find(kernel)
    backend = _check_kind(Inputs(q, k, v))
    problem = _problem(Inputs(q, k, v), causal=causal, scale=scale, window=window, block_mask=block_mask)
    with _on_device_of(q, backend):
        device = import_module(f"kernels.{backend}.device").describe()
        spec = named or choose_kernel(problem, device)
        reason = spec.unsupported(problem, device)
        if reason is not None:
            raise UnsupportedError(f"{reason[0].upper()}{reason[1:]}.")
        launch = prepare(spec, problem, Inputs(q, k, v), backend)
        launch.run()
    if return_lse and launch.lse is None:
        raise InputError(f"{kernel} returns no LSE; leave return_lse out or choose another kernel.")
    return (launch.output, launch.lse) if return_lse else launch.output


def _find(kernel: str) -> KernelSpec:
    try:
        return find_kernel(kernel)
    except KeyError:
        names = ", ".join((AUTO, *(spec.name for spec in KERNELS)))
        raise InputError(f"kernel must be one of {names}, not {kernel!r}.") from None


def _check_kind(inputs: Inputs) -> Backend:
    """The one backend whose memory holds all three arrays."""
    backends = [backend_of(array) for array in inputs]
    for name, array, backend in zip(Inputs._fields, inputs, backends, strict=True):
        if backend is None:
            kind = f"{type(array).__module__}.{type(array).__qualname__}".removeprefix("builtins.")
            raise InputError(
                f"{name} must be a NumPy array (CPU) or a CuPy array (GPU), not {kind}; "
                "numpy.asarray or cupy.from_dlpack converts it."
            )
    if len(set(backends)) > 1:
        raise InputError("q, k and v must all be NumPy arrays or all be CuPy arrays, not a mixture.")
    if backends[0] == "cuda" and len({array.device.id for array in inputs}) > 1:
        where = ", ".join(f"{n} on {a.device.id}" for n, a in zip(Inputs._fields, inputs, strict=True))
        raise InputError(f"q, k and v must be on the same GPU, not {where}.")
    return "cuda" if backends[0] == "cuda" else "cpu"


def _problem(
    inputs: Inputs,
    *,
    causal: bool,
    scale: float | None,
    window: tuple[int, int] | None,
    block_mask: BlockMask | None,
) -> Problem:
    """The workload the arrays describe."""
    _check_layout(inputs)
    _check_shapes(inputs)
    batch, heads, seqlen_q, head_dim = inputs.q.shape
    kv_heads = inputs.k.shape[1]
    if block_mask is not None and not isinstance(block_mask, BlockMask):
        raise InputError(
            f"block_mask must be a BlockMask or None, not {type(block_mask).__qualname__}; BlockMask.of "
            "makes one from a boolean array."
        )
    return Problem(
        batch=batch,
        heads=heads,
        seqlen_q=seqlen_q,
        seqlen_k=inputs.k.shape[2],
        head_dim=head_dim,
        dtype=inputs.q.dtype.name,
        causal=bool(causal),
        scale=_finite(scale),
        kv_heads=None if kv_heads == heads else kv_heads,
        window=_two_sides(window),
        block_mask=block_mask,
    )


def _finite(scale: float | None) -> float | None:
    """The scale as a plain float; Problem refuses one that is not finite."""
    try:
        return None if scale is None else float(scale)
    except (TypeError, ValueError):
        raise InputError(f"scale must be a finite number or None, not {scale!r}.") from None


def _two_sides(window: tuple[int, int] | None) -> tuple[int, int] | None:
    """The window as two plain integers; Problem refuses those below -1."""
    try:
        if window is None:
            return None
        left, right = map(index, window)
    except (TypeError, ValueError):
        raise InputError(f"window must be two whole numbers (left, right) or None, not {window!r}.") from None
    return left, right


def _check_layout(inputs: Inputs) -> None:
    """Rank, emptiness, dtype and contiguity of each array."""
    for name, array in zip(Inputs._fields, inputs, strict=True):
        if array.ndim != RANK:
            raise InputError(f"{name} must have {RANK} axes {AXES}, not shape {array.shape}.")
        if array.size == 0:
            raise InputError(f"{name} is empty, shape {array.shape}; every axis must be at least 1 long.")
        if not _accepted(array.dtype):
            raise InputError(
                f"{name} must be {', '.join(DTYPES)} in native byte order, not {array.dtype.str} "
                f"({array.dtype.name})."
            )
        if array.dtype != inputs.q.dtype:
            raise InputError(f"q, k and v must share one dtype, not {inputs.q.dtype} and {array.dtype}.")
        if not array.flags.c_contiguous:
            module = array_module(array).__name__
            raise InputError(
                f"{name} must be contiguous (row-major); {module}.ascontiguousarray makes it so."
            )


@lru_cache(maxsize=32)
def _accepted(dtype: Any) -> bool:
    """Whether arrays of this dtype are taken; kept, as NumPy takes microseconds to spell a name."""
    return dtype.name in DTYPES and bool(dtype.isnative)


def _check_shapes(inputs: Inputs) -> None:
    """Whether the three shapes belong together."""
    q, k, v = (array.shape for array in inputs)
    if k[1] != v[1] or q[1] % k[1]:
        raise InputError(
            f"k and v must have the same heads (axis 1 of {AXES}), a divisor of the {q[1]} heads of q, not "
            f"{k[1]} and {v[1]}."
        )
    for axis, name in ((0, "batch"), (3, "head_dim")):
        if not q[axis] == k[axis] == v[axis]:
            raise InputError(
                f"q, k and v must have the same {name} (axis {axis} of {AXES}), "
                f"not {q[axis]}, {k[axis]} and {v[axis]}."
            )
    if k[2] != v[2]:
        raise InputError(f"k and v must have the same seqlen (axis 2 of {AXES}), not {k[2]} and {v[2]}.")


def _on_device_of(array: Any, backend: Backend) -> AbstractContextManager[Any]:
    """Make the array's GPU the current one; on the CPU there is nothing to do."""
    device: AbstractContextManager[Any] = array.device if backend == "cuda" else nullcontext()
    return device
