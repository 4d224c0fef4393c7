"""What `kernels.attention` and `kernels.attention_backward` are given: checked, and told as a Problem."""

import reprlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import index
from typing import Any

from flashscope.kernels.workload.arrays import array_module, backend_of
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.lengths import pages_for
from flashscope.kernels.workload.problem import DTYPES, Backend, Problem
from flashscope.kernels.workload.tensors import Inputs, Saved

AXES = "(batch, heads, seqlen, head_dim)"
PAGE_AXES = "(pages, kv_heads, page_size, head_dim)"
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
    query_lengths: Sequence[int] | None = None,
    key_lengths: Sequence[int] | None = None,
) -> Problem:
    """The workload the arrays describe.

    Raises:
        InputError: The arrays or options are not what is accepted; the text says what is.
    """
    _check_layout(dict(zip("qkv", inputs.qkv, strict=True)))
    _check_shapes(inputs)
    batch, heads, seqlen_q, head_dim = inputs.q.shape
    kv_heads, table = inputs.k.shape[1], inputs.page_table
    if table is not None:
        _check_table_layout(table, batch)
    page_size = None if table is None else inputs.k.shape[2]
    if block_mask is not None and not isinstance(block_mask, BlockMask):
        raise InputError(
            f"block_mask must be a BlockMask or None, not {type(block_mask).__qualname__}; BlockMask.of "
            "makes one from a boolean array."
        )
    problem = Problem(
        batch=batch,
        heads=heads,
        seqlen_q=seqlen_q,
        seqlen_k=inputs.k.shape[2] * (1 if table is None else table.shape[1]),
        head_dim=head_dim,
        dtype=inputs.q.dtype.name,
        causal=yes_or_no("causal", causal),
        scale=_finite(scale),
        kv_heads=None if kv_heads == heads else kv_heads,
        window=_two_sides(window),
        block_mask=block_mask,
        query_lengths=_whole_numbers("query_lengths", query_lengths),
        key_lengths=_whole_numbers("key_lengths", key_lengths),
        page_size=page_size,
    )
    if table is not None:
        _check_table(table, problem, len(inputs.k))
    return problem


def _whole_numbers(name: str, lengths: Sequence[int] | None) -> tuple[int, ...] | None:
    """The lengths as plain integers; Problem refuses too few or too many, and those that do not fit."""
    if lengths is None:
        return None
    try:
        return tuple(map(_whole_number, _listed_lengths(lengths)))
    except TypeError:
        raise InputError(
            f"{name} must be a list, a tuple or a 1-d integer array of whole numbers, one for each sequence, "
            f"not {told(lengths)}."
        ) from None


def told(value: Any) -> str:
    """The dtype and shape of an array, or what else it is, cut short and printable."""
    if backend_of(value) is not None:
        return f"{value.dtype.name} of shape {value.shape}"
    text = reprlib.repr(value)
    return text if text.isprintable() else repr(text)[1:-1]


def _listed_lengths(lengths: Any) -> Sequence[Any]:
    """What a sequence or an array of one axis holds; a TypeError where lengths are something else."""
    if backend_of(lengths) is not None and lengths.ndim == 1 and lengths.dtype.kind in "iu":
        return lengths.tolist()  # type: ignore[no-any-return]
    if isinstance(lengths, Sequence) and not isinstance(lengths, str | bytes | bytearray | memoryview):
        return lengths
    raise TypeError


def _whole_number(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return index(value)


def yes_or_no(name: str, value: Any) -> bool:
    """An option that is either, Python's or NumPy's; any other value would be taken for one of them.

    Raises:
        InputError: It is something else; the text says what.
    """
    if _scalar_kind(value) == "b":
        return bool(value)
    raise InputError(f"{name} must be True or False, not {told(value)}.")


def _scalar_kind(value: Any) -> str:
    """What kind of single value it is, by NumPy's letters: `b` a boolean, `i`, `u` and `f` numbers."""
    if isinstance(value, bool):
        return "b"
    if getattr(value, "shape", None) == ():  # also an array of no axes, of either memory
        return str(value.dtype.kind)
    return "f" if hasattr(type(value), "__float__") and not hasattr(value, "dtype") else ""


def _finite(scale: float | None) -> float | None:
    """The scale as a plain float; Problem refuses one that is not finite."""
    if scale is None:
        return None
    try:
        if _scalar_kind(scale) in {"i", "u", "f"}:
            return float(scale)
    except OverflowError:
        raise InputError("scale must be a finite number in float32, not one of so many digits.") from None
    raise InputError(f"scale must be a finite number or None, not {told(scale)}.")


def _two_sides(window: tuple[int, int] | None) -> tuple[int, int] | None:
    """The window as two plain integers; Problem refuses those below -1."""
    if window is None:
        return None
    try:
        left, right = map(_whole_number, _listed_lengths(window))
    except (TypeError, ValueError):
        raise InputError(
            f"window must be two whole numbers (left, right) or None, not {told(window)}."
        ) from None
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
        _check_contiguous(name, array)


def _check_contiguous(name: str, array: Any) -> None:
    """Whether it is laid out row by row, without gaps."""
    if not array.flags.c_contiguous:
        module = array_module(array).__name__
        raise InputError(f"{name} must be contiguous (row-major); {module}.ascontiguousarray makes it so.")


@lru_cache(maxsize=32)
def _accepted(dtype: Any) -> bool:
    """Whether arrays of this dtype are taken; kept, as NumPy takes microseconds to spell a name."""
    return dtype.name in DTYPES and bool(dtype.isnative)


def _check_shapes(inputs: Inputs) -> None:
    """Whether the three shapes belong together."""
    q, k, v = (array.shape for array in inputs.qkv)
    in_pages = inputs.page_table is not None
    if k[1] != v[1] or q[1] % k[1]:
        raise InputError(
            f"k and v must have the same heads (axis 1 of {AXES}), a divisor of the {q[1]} heads of q, not "
            f"{k[1]} and {v[1]}."
        )
    for axis, name in ((3, "head_dim"),) if in_pages else ((0, "batch"), (3, "head_dim")):
        if not q[axis] == k[axis] == v[axis]:
            raise InputError(
                f"q, k and v must have the same {name} (axis {axis} of {AXES}), "
                f"not {q[axis]}, {k[axis]} and {v[axis]}."
            )
    if in_pages and k != v:
        raise InputError(f"k and v must be pages of one shape {PAGE_AXES}, not {k} and {v}.")
    if k[2] != v[2]:
        raise InputError(f"k and v must have the same seqlen (axis 2 of {AXES}), not {k[2]} and {v[2]}.")


def _check_table_layout(table: Any, batch: int) -> None:
    """Axes, dtype, byte order and contiguity of a page table.

    Raises:
        InputError: It is not contiguous int32 (batch, stretches of keys).
    """
    of_batch = table.ndim == 2 and len(table) == batch and table.size  # noqa: PLR2004 - sequences, stretches
    if not of_batch or table.dtype.name != "int32":
        raise InputError(
            f"page_table must be contiguous int32 of shape (batch, Nk / page_size) with a batch of {batch}, "
            f"not {table.dtype.name} {table.shape}."
        )
    if not table.dtype.isnative:
        raise InputError(
            f"page_table must be int32 in native byte order, not {table.dtype.str}; "
            'page_table.astype("int32") makes it so.'
        )
    _check_contiguous("page_table", table)


def _check_table(table: Any, problem: Problem, pages: int) -> None:
    """Whether each used entry of a page table names a page; on a GPU this waits for the table.

    Raises:
        InputError: One does not; the text has the first.
    """
    xp, size = array_module(table), problem.page_size or 1
    used = xp.asarray([pages_for(keys, size) for keys in problem.key_counts])[:, None]
    wrong = (xp.arange(table.shape[1]) < used) & ((table < 0) | (table >= pages))
    if wrong.any():
        b, stretch = (int(axis[0]) for axis in xp.nonzero(wrong))
        raise InputError(
            f"page_table must name pages from 0 to {pages - 1}, not {int(table[b, stretch])} as for keys "
            f"{stretch * size} to {(stretch + 1) * size - 1} of sequence {b}."
        )
