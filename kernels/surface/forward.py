"""Attention on arrays: understand the call, find the kernel, run it once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.launching.axes import LayoutName
from flashscope.kernels.launching.options import yes_or_no
from flashscope.kernels.surface.asking import Manner, understand
from flashscope.kernels.surface.callers import caller_of
from flashscope.kernels.surface.options import ArrayLike, AttentionOptions, KernelLike
from flashscope.kernels.surface.running import attend
from flashscope.kernels.surface.sequences import Offsets
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.tensors import Inputs

if TYPE_CHECKING:
    from typing_extensions import Unpack

A = TypeVar("A", bound=ArrayLike)


@overload
def attention(
    q: A, k: A, v: A, *, return_lse: Literal[False] = False, **options: "Unpack[AttentionOptions]"
) -> A: ...


@overload
def attention(
    q: A, k: A, v: A, *, return_lse: Literal[True], **options: "Unpack[AttentionOptions]"
) -> tuple[A, A]: ...


@overload
def attention(
    q: A, k: A, v: A, *, return_lse: bool, **options: "Unpack[AttentionOptions]"
) -> A | tuple[A, A]: ...


def attention(  # noqa: D417 - AttentionOptions tells the options
    q: Any,
    k: Any,
    v: Any,
    *,
    kernel: KernelLike = AUTO,
    layout: LayoutName = "bhnd",
    causal: bool = False,
    scale: float | None = None,
    window: tuple[int, int] | None = None,
    block_mask: BlockMask | None = None,
    softcap: float | None = None,
    alibi: bool = False,
    sinks: Any = None,
    query_lengths: Sequence[int] | None = None,
    key_lengths: Sequence[int] | None = None,
    page_table: Any = None,
    cu_seqlens_q: Any = None,
    cu_seqlens_k: Any = None,
    max_seqlen_q: int | None = None,
    max_seqlen_k: int | None = None,
    copy: bool = False,
    return_lse: bool = False,
) -> Any:
    """softmax(scale Q K^T) V where the arrays are: NumPy's, CuPy's, or tensors of PyTorch (no autograd).

    On a GPU the work is enqueued on the current stream: PyTorch's for its tensors, else CuPy's. Options are
    told in `kernels.SharedOptions` and `kernels.AttentionOptions`, what they cost in `kernels.surface`.

    Args:
        q: (batch, heads, Nq, head_dim), or as `layout` says; float32, on a GPU also float16 or bfloat16. Any
            strides that the kernel reads, or with `copy=True` any.
        k: (batch, kv_heads, Nk, head_dim), likewise, of the same kind and dtype. kv_heads divides heads; head
            h of Q attends to head h // (heads // kv_heads).
        v: Like `k`, of a head dim of its own where the kernel takes that and there are no pages. On the CPU a
            V row that masks hide from a query never enters its O, whatever it holds. On a GPU it has the
            weight 0 in its tile, and 0 x NaN is NaN: clean a V that may hold NaN or infinity. Padding and
            unused pages never enter.
        return_lse: Also return the log-sum-exp.

    Returns:
        O, row-major, of the kind, shape and dtype of `q`, with the head_dim of `v`; with `return_lse` the
        pair (O, LSE), LSE being the natural log-sum-exp of the scaled scores, float32 (batch, heads, Nq),
        with "thd" (heads, total_q). A row that keeps no key, and padding, has O = 0 and LSE = -inf; beside
        sinks a row that keeps no key has its sink as LSE.

    Raises:
        InputError: The arrays or options are not what is accepted; the text says what is.
        UnsupportedError: The kernel does not take this problem on this device.
        DeviceUnavailableError: The tensors are on a GPU and CuPy is not installed.
        CompileError: The CUDA compiler refused the kernel.
        MemoryError: The outputs or the workspace do not fit.
    """
    manner, wants_lse = Manner(kernel, layout, copy, "forward"), yes_or_no("return_lse", return_lse)
    offsets = Offsets(cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k)
    lengths = {"query_lengths": query_lengths, "key_lengths": key_lengths}
    masks = {"causal": causal, "scale": scale, "window": window, "block_mask": block_mask, **lengths}
    masks |= {"softcap": softcap, "alibi": alibi}
    output, lse = _attended(Inputs(q, k, v, page_table, sinks), manner, offsets, masks, wants_lse=wants_lse)
    return (output, lse) if wants_lse else output


def _attended(
    given: Inputs, manner: Manner, offsets: Offsets, masks: dict[str, Any], *, wants_lse: bool
) -> tuple[Any, Any]:
    """O and LSE of the caller's kind, computed where the caller's arrays are."""
    caller = caller_of(given.arrays)
    with caller.here():
        inputs = Inputs(**{name: caller.borrow(name, array) for name, array in given.arrays.items()})
        call = understand(manner, caller, inputs, offsets, **masks)
        output, lse = attend(call, inputs, wants_lse=wants_lse)
        return caller.give_back(output), caller.give_back(lse)
