"""The same numbers in other layouts and strides, and sequences one behind the other."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from flashscope.kernels.launching.axes import LayoutName
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.masked import WINDOWS


class Laid(NamedTuple):
    """Arrays (batch, heads, seqlen, head_dim), given to a call in a layout, and results brought back.

    Attributes:
        layout: The name of the layout.
        strides: How the arrays lie: `row-major`, `packed` (a slice of one array of three), `turned`
            (row-major in the other layout), `reversed`.
    """

    layout: LayoutName
    strides: str

    def of(self, array: Any) -> Any:
        """The array in the layout."""
        ordered = array.swapaxes(1, 2) if self.layout == "bnhd" else array
        if self.strides == "row-major":
            return np.ascontiguousarray(ordered)
        if self.strides == "turned":
            return np.ascontiguousarray(ordered.swapaxes(1, 2)).swapaxes(1, 2)
        if self.strides == "packed":
            whole = np.full((*ordered.shape[:2], 3, *ordered.shape[2:]), np.nan, np.float32)
            whole[:, :, 1] = ordered
            return whole[:, :, 1]
        whole = np.full((*ordered.shape[:-1], 2 * ordered.shape[-1]), np.nan, np.float32)
        whole[..., ::-2] = ordered
        return whole[..., ::-2]

    def back(self, result: Any) -> Any:
        """A result of the layout as (batch, heads, seqlen, head_dim)."""
        return result.swapaxes(1, 2) if self.layout == "bnhd" else result


LAYOUTS = st.builds(
    Laid, st.sampled_from(("bhnd", "bnhd")), st.sampled_from(("row-major", "packed", "turned"))
)


@st.composite
def joined_problems(draw: st.DrawFn, longest: int = 50) -> Problem:
    """Sequences of any lengths, some without rows or keys, x causal x window x GQA."""
    batch, kv_heads, group = draw(st.tuples(*[st.integers(1, 4)] * 3))
    lengths = st.lists(st.integers(0, longest) | st.sampled_from((0, 1, 7)), min_size=batch, max_size=batch)
    rows, keys = (tuple(draw(lengths.filter(any))) for _ in "qk")
    return Problem(
        seqlen_q=max(rows),
        seqlen_k=max(keys),
        batch=batch,
        heads=kv_heads * group,
        kv_heads=kv_heads,
        head_dim=draw(st.sampled_from((16, 24))),
        causal=draw(st.booleans()),
        window=draw(st.none() | WINDOWS),
        seed=draw(st.integers(0, 1000)),
        query_lengths=rows,
        key_lengths=keys,
    )


def joined(padded: Any, lengths: tuple[int, ...]) -> Any:
    """(tokens, heads, width) of (batch, heads, seqlen, width): the sequences without their padding."""
    return np.concatenate([one[:, :count].swapaxes(0, 1) for one, count in zip(padded, lengths, strict=True)])


def joined_inputs(problem: Problem, inputs: Inputs) -> tuple[Any, Any, Any]:
    """Q, K and V of a problem's sequences without their padding."""
    rows, keys = problem.row_counts, problem.key_counts
    return joined(inputs.q, rows), joined(inputs.k, keys), joined(inputs.v, keys)


def starts_of(lengths: tuple[int, ...]) -> Any:
    """The offsets of such sequences, int32."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def offsets(problem: Problem) -> dict[str, Any]:
    """What a call is told of the sequences of a problem that lie one behind the other."""
    return {
        "layout": "thd",
        "cu_seqlens_q": starts_of(problem.row_counts),
        "cu_seqlens_k": starts_of(problem.key_counts),
        "max_seqlen_q": problem.seqlen_q,
        "max_seqlen_k": problem.seqlen_k,
    }


def masks(problem: Problem) -> dict[str, Any]:
    """What a call is told of a problem's masks."""
    return {name: getattr(problem, name) for name in ("causal", "window", "block_mask")}
