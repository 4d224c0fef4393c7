"""The types of what `attention` and `attention_backward` take."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Protocol, TypedDict

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.axes import LayoutName
from flashscope.kernels.workload.block_mask import BlockMask

KernelLike = str | KernelSpec | PathLike[str] | Callable[..., Any]


class ArrayLike(Protocol):
    """As much as is asked of an array's type: NumPy's, CuPy's and PyTorch's have it."""

    @property
    def shape(self) -> Any:
        """The lengths of its axes."""

    def __dlpack__(self) -> Any:
        """Its memory, by the protocol of that name."""


class SharedOptions(TypedDict, total=False):
    """What both passes take by name; each may be left out.

    Attributes:
        kernel: "auto", as without it, is the kernel that `kernels.choose_kernel`, of gradients
            `kernels.choose_backward`, names for the same Problem and Device. Else a name of
            `kernels.KERNELS`; a `KernelSpec`; a file of one's own, `my.cu`, `my.py` or `my.py:function`,
            which is then run in this process; or a function f(q, k, v, *, causal, scale, ...) that returns O
            or (O, LSE), of gradients f(q, k, v, output, lse, grad_output, *, causal, scale, ...) that returns
            (dQ, dK, dV). It is called with row-major (batch, heads, seqlen, head_dim) of the kind of q, and
            with such keywords as it takes: causal, scale, window, block_mask, query_lengths, key_lengths and
            page_table. What it has no keyword for is refused, but fewer K/V heads, which it sees.
        layout: The order of the axes of Q, K, V, O and their gradients. It is never guessed from shapes.
            "bhnd", as without it: (batch, heads, seqlen, head_dim).
            "bnhd": (batch, seqlen, heads, head_dim).
            "thd": (tokens, heads, head_dim), sequences of different lengths one behind the other; none of
            them, or none of their tokens, give an empty answer.
        causal: Keep only keys k <= q + Nk - Nq (aligned to the bottom right).
        scale: Factor on the scores; None means 1/sqrt(head_dim).
        window: (left, right): keep only keys q + Nk - Nq - left <= k <= q + Nk - Nq + right; -1 is unbounded.
            With `causal` the right side is 0.
        block_mask: Keep only these blocks of the scores, in every head; tiled kernels skip the others. Not
            with "thd".
        softcap: Bound the scaled scores, softcap tanh(score / softcap), before masks and maximum, as Gemma 2
            does; from 0.001 to 1e6. None: they are not bounded.
        alibi: Add ALiBi's bias to the scores, behind a softcap: slope (k - q - D) with D = Nk - Nq and the
            slopes of its authors, 2^(-8 i / heads) of head i = 1, 2, ... where heads are a power of two.
        cu_seqlens_q: With "thd", and with it alone: where the rows of each sequence begin, int32 (batch +
            1,), the first 0, none below the one before, the last total_q. Of the arrays' kind, or NumPy's:
            one on a GPU is copied to the host, where it is checked, and the call waits until its stream is
            done; one in host memory costs no wait.
        cu_seqlens_k: The same of K and V, up to total_k.
        max_seqlen_q: With "thd": the rows of the longest sequence, or more; less is refused.
        max_seqlen_k: With "thd": the keys of the longest sequence, or more; less is refused.
        copy: Copy what the kernel cannot read where it lies; else that is refused. The NumPy kernels read any
            strides, so that nothing is copied for them. All others read row-major (batch, heads, seqlen,
            head_dim) alone.
    """

    kernel: KernelLike
    layout: LayoutName
    causal: bool
    scale: float | None
    window: tuple[int, int] | None
    block_mask: BlockMask | None
    softcap: float | None
    alibi: bool
    cu_seqlens_q: Any
    cu_seqlens_k: Any
    max_seqlen_q: int | None
    max_seqlen_k: int | None
    copy: bool


class AttentionOptions(SharedOptions, total=False):
    """What `attention` takes by name, beside those of `SharedOptions`; all but sinks not with "thd".

    Attributes:
        sinks: float32 (heads,), of the arrays' kind: a logit of each query head that enters the denominators
            of its rows and LSE, as gpt-oss has it. `attention_backward` needs none, as LSE holds all that it
            does; `sink_gradient` gives its own gradient.
        query_lengths: Rows of q that each sequence has, up to Nq; the rest is padding, which may hold NaN.
            Causal and window go by the lengths of each sequence. None: all Nq.
        key_lengths: Keys that each sequence has, up to Nk; the rest is padding. None: all Nk.
        page_table: int32 (batch, Nk / page_size), of the arrays' kind: the page in which each stretch of a
            sequence's keys lies. K and V are then a cache of pages, (pages, kv_heads, page_size, head_dim),
            in "bnhd" (pages, page_size, kv_heads, head_dim), of 16, 32, 64, 128 or 256 keys each. Sequences
            may share pages; entries behind the last key are never used.
    """

    sinks: Any
    query_lengths: Sequence[int] | None
    key_lengths: Sequence[int] | None
    page_table: Any


class BackwardOptions(SharedOptions, total=False):
    """What `attention_backward` takes by name, beside those of `SharedOptions`.

    Attributes:
        deterministic: Give the same bits in every run; slower where sums are otherwise taken in any order.
    """

    deterministic: bool
