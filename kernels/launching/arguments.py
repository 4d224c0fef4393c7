"""What `kernels.attention` and `kernels.attention_backward` are given: checked, and told as a Problem."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from flashscope.kernels.launching.axes import AxisOrder, written
from flashscope.kernels.launching.options import finite, listed, two_sides, whole_numbers, yes_or_no
from flashscope.kernels.workload.arrays import array_module
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.lengths import pages_for
from flashscope.kernels.workload.problem import DTYPES, Problem
from flashscope.kernels.workload.tensors import Inputs, Saved

LIKE_Q = ("output", "grad_output")


def check_inputs(inputs: Inputs, order: AxisOrder) -> None:
    """Whether Q, K, V, a page table and sinks are of the right dtypes, and of shapes that belong together.

    Args:
        inputs: What attention is computed from.
        order: The layout of Q, K and V. V may have a head dim of its own, where there are no pages.

    Raises:
        InputError: They are not; the text says what is accepted.
    """
    _check_arrays(dict(zip("qkv", inputs.qkv, strict=True)), order)
    _check_shapes(inputs, order)
    heads, sinks = order.size(inputs.q, "heads"), inputs.sinks
    if sinks is not None and (sinks.dtype.name != "float32" or sinks.shape != (heads,)):
        raise InputError(f"sinks must be float32 ({heads},), not {sinks.dtype.name} {sinks.shape}.")
    if inputs.page_table is not None:
        if not order.pages:
            raise InputError(f'page_table goes with layout="bhnd" or "bnhd", not "{order.name}".')
        _check_table_layout(inputs.page_table, order.size(inputs.q, "batch"))


def problem_of(
    inputs: Inputs,
    order: AxisOrder,
    *,
    causal: bool,
    scale: float | None,
    window: tuple[int, int] | None,
    block_mask: BlockMask | None,
    query_lengths: Sequence[int] | None = None,
    key_lengths: Sequence[int] | None = None,
    softcap: float | None = None,
    alibi: bool = False,
) -> Problem:
    """The workload that arrays, which `check_inputs` has seen, describe.

    Of arrays that have no axis of sequences the lengths are those of the sequences, and all that there are.

    Raises:
        InputError: The options are not what is accepted; the text says what is.
    """
    heads, kv_heads = (order.size(array, "heads") for array in (inputs.q, inputs.k))
    head_dim, head_dim_v = (order.size(array, "head_dim") for array in (inputs.q, inputs.v))
    if block_mask is not None and not isinstance(block_mask, BlockMask):
        raise InputError(
            f"block_mask must be a BlockMask or None, not {type(block_mask).__qualname__}; BlockMask.of "
            "makes one from a boolean array."
        )
    rows, keys = (
        whole_numbers(f"{name}_lengths", lengths)
        for name, lengths in (("query", query_lengths), ("key", key_lengths))
    )
    table = inputs.page_table
    batch, seqlen_q, seqlen_k = _extents(inputs, order, rows, keys)
    problem = Problem(
        batch=batch,
        seqlen_q=seqlen_q,
        seqlen_k=seqlen_k,
        heads=heads,
        head_dim=head_dim,
        dtype=inputs.q.dtype.name,
        causal=yes_or_no("causal", causal),
        scale=finite("scale", scale),
        kv_heads=None if kv_heads == heads else kv_heads,
        window=two_sides(window),
        block_mask=block_mask,
        query_lengths=rows,
        key_lengths=keys,
        page_size=None if table is None else order.size(inputs.k, "seqlen"),
        softcap=finite("softcap", softcap),
        alibi=yes_or_no("alibi", alibi),
        sinks=inputs.sinks is not None,
        head_dim_v=None if head_dim_v == head_dim else head_dim_v,
    )
    if table is not None:
        _check_table(table, problem, len(inputs.k))
    return problem


def _extents(
    inputs: Inputs, order: AxisOrder, rows: tuple[int, ...] | None, keys: tuple[int, ...] | None
) -> tuple[int, int, int]:
    """The sequences of a batch, and how many rows and keys one may have."""
    if order.varlen and rows is not None and keys is not None:
        return len(rows), max(1, *rows), max(1, *keys)  # a problem has room for one token at least
    stretches = 1 if inputs.page_table is None else inputs.page_table.shape[1]
    seqlen_q, seqlen_k = (order.size(array, "seqlen") for array in (inputs.q, inputs.k))
    return order.size(inputs.q, "batch"), seqlen_q, seqlen_k * stretches


def check_saved(saved: Saved, order: AxisOrder) -> None:
    """Whether O, dO and an LSE belong to the Q, K and V of a problem.

    Raises:
        InputError: They do not; the text says what is accepted.
    """
    _check_arrays({"q": saved.q, **{name: getattr(saved, name) for name in LIKE_Q}}, order)
    for name in LIKE_Q:
        shape, expected = getattr(saved, name).shape, (*saved.q.shape[:-1], saved.v.shape[-1])
        if shape != expected:
            raise InputError(
                f"{name} must have the shape of q and the head_dim of v, {expected}, not {shape}."
            )
    lse, shape = saved.lse, order.lse_shape(saved.q)
    if lse is not None and (lse.dtype != "float32" or lse.shape != shape):
        raise InputError(
            f"lse must be float32 of shape {written(order.lse)} = {shape}, not {lse.dtype.name} {lse.shape}."
        )


def _check_arrays(arrays: Mapping[str, Any], order: AxisOrder) -> None:
    """Rank, emptiness and dtype of each array."""
    for name, array in arrays.items():
        if array.ndim != len(order.axes):
            axes = f"{len(order.axes)} axes {written(order.axes)}"
            raise InputError(f"{name} must have {axes}, not shape {array.shape}.")
        if 0 in (array.shape[1:] if order.varlen else array.shape):  # of sequences in a row there may be none
            raise InputError(f"{name} is empty, shape {array.shape}; every axis must be at least 1 long.")
        if not _accepted(array.dtype):
            raise InputError(
                f"{name} must be {', '.join(DTYPES)} in native byte order, not {array.dtype.str} "
                f"({array.dtype.name})."
            )
        if array.dtype != arrays["q"].dtype:
            raise InputError(
                f"{listed(arrays)} must share one dtype, not {arrays['q'].dtype} and {array.dtype}."
            )


@lru_cache(maxsize=32)
def _accepted(dtype: Any) -> bool:
    """Whether arrays of this dtype are taken; kept, as NumPy takes microseconds to spell a name."""
    return dtype.name in DTYPES and bool(dtype.isnative)


def _check_shapes(inputs: Inputs, order: AxisOrder) -> None:
    """Whether the three shapes belong together."""
    q, k, v = (array.shape for array in inputs.qkv)
    axes, in_pages = written(order.axes), inputs.page_table is not None
    at = order.place("heads")
    if k[at] != v[at] or q[at] % k[at]:
        raise InputError(
            f"k and v must have the same heads (axis {at} of {axes}), a divisor of the {q[at]} heads of q, "
            f"not {k[at]} and {v[at]}."
        )
    for name in ("head_dim",) if in_pages or order.varlen else ("batch", "head_dim"):
        at = order.place(name)
        if name == "head_dim" and not in_pages:
            if q[at] != k[at]:
                raise InputError(
                    f"q and k must have the same head_dim (axis {at} of {axes}), not {q[at]} and {k[at]}."
                )
        elif not q[at] == k[at] == v[at]:
            raise InputError(
                f"q, k and v must have the same {name} (axis {at} of {axes}), "
                f"not {q[at]}, {k[at]} and {v[at]}."
            )
    if in_pages and k != v:
        raise InputError(f"k and v must be pages of one shape {written(order.pages)}, not {k} and {v}.")
    at = order.place(order.length_axis)
    if k[at] != v[at]:
        raise InputError(
            f"k and v must have the same {order.length_axis} (axis {at} of {axes}), not {k[at]} and {v[at]}."
        )


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
    if not table.flags.c_contiguous:
        module = array_module(table).__name__
        raise InputError(
            f"page_table must be contiguous (row-major); {module}.ascontiguousarray makes it so."
        )


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
