"""What `kernels.attention` and `kernels.attention_backward` are given: checked, and told as a Problem."""

from collections.abc import Mapping
from functools import lru_cache
from operator import index
from typing import Any

from kernels.arrays import array_module, backend_of
from kernels.block_mask import BlockMask
from kernels.errors import InputError
from kernels.launch import Inputs, Saved
from kernels.problem import DTYPES, Backend, Problem

AXES = "(batch, heads, seqlen, head_dim)"
RANK = 4
LIKE_Q = ("output", "grad_output")


def backend_of_all(arrays: Mapping[str, Any]) -> Backend:
    """The one backend whose memory holds all the arrays.

    Raises:
        InputError: They are of another kind, or not in one memory.
    """
    backends = [backend_of(array) for array in arrays.values()]
    for (name, array), backend in zip(arrays.items(), backends, strict=True):
        if backend is None:
            kind = f"{type(array).__module__}.{type(array).__qualname__}".removeprefix("builtins.")
            raise InputError(
                f"{name} must be a NumPy array (CPU) or a CuPy array (GPU), not {kind}; "
                "numpy.asarray or cupy.from_dlpack converts it."
            )
    if len(set(backends)) > 1:
        raise InputError(f"{_listed(arrays)} must all be NumPy arrays or all be CuPy arrays, not a mixture.")
    if backends[0] == "cuda" and len({array.device.id for array in arrays.values()}) > 1:
        where = ", ".join(f"{name} on {array.device.id}" for name, array in arrays.items())
        raise InputError(f"{_listed(arrays)} must be on the same GPU, not {where}.")
    return "cuda" if backends[0] == "cuda" else "cpu"


def _listed(names: Mapping[str, Any]) -> str:
    """`q, k and v`."""
    *first, last = names
    return f"{', '.join(first)} and {last}"


def problem_of(
    inputs: Inputs,
    *,
    causal: bool,
    scale: float | None,
    window: tuple[int, int] | None,
    block_mask: BlockMask | None,
) -> Problem:
    """The workload the arrays describe.

    Raises:
        InputError: The arrays or options are not what is accepted; the text says what is.
    """
    _check_layout(inputs._asdict())
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


def check_saved(saved: Saved, *, needs_lse: bool) -> None:
    """Whether O, LSE and dO belong to the Q, K and V of a problem.

    Raises:
        InputError: They do not; the text says what is accepted.
    """
    _check_layout({"q": saved.q, **{name: getattr(saved, name) for name in LIKE_Q}})
    for name in LIKE_Q:
        shape = getattr(saved, name).shape
        if shape != saved.q.shape:
            raise InputError(f"{name} must have the shape of q, {saved.q.shape}, not {shape}.")
    if saved.lse is None:
        if needs_lse:
            raise InputError("lse must be given: this kernel computes P again from it.")
        return
    lse, rows = saved.lse, saved.q.shape[:3]
    if lse.dtype != "float32" or lse.shape != rows or not lse.flags.c_contiguous:
        raise InputError(
            f"lse must be contiguous float32 of shape (batch, heads, Nq) = {rows}, not {lse.dtype.name} "
            f"{lse.shape}."
        )


def _check_layout(arrays: Mapping[str, Any]) -> None:
    """Rank, emptiness, dtype and contiguity of each array."""
    for name, array in arrays.items():
        if array.ndim != RANK:
            raise InputError(f"{name} must have {RANK} axes {AXES}, not shape {array.shape}.")
        if array.size == 0:
            raise InputError(f"{name} is empty, shape {array.shape}; every axis must be at least 1 long.")
        if not _accepted(array.dtype):
            raise InputError(
                f"{name} must be {', '.join(DTYPES)} in native byte order, not {array.dtype.str} "
                f"({array.dtype.name})."
            )
        if array.dtype != arrays["q"].dtype:
            raise InputError(
                f"{_listed(arrays)} must share one dtype, not {arrays['q'].dtype} and {array.dtype}."
            )
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
