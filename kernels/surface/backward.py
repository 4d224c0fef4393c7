"""The gradients of attention on arrays: understand the call, find the kernel, run it once."""

from typing import Any, TypeVar

from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.launching.arguments import check_saved
from flashscope.kernels.launching.axes import LayoutName
from flashscope.kernels.launching.options import yes_or_no
from flashscope.kernels.surface.asking import Manner, understand
from flashscope.kernels.surface.callers import caller_of
from flashscope.kernels.surface.options import ArrayLike, KernelLike
from flashscope.kernels.surface.running import differentiate
from flashscope.kernels.surface.sequences import Offsets
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.tensors import Gradients, Saved

A = TypeVar("A", bound=ArrayLike)


def attention_backward(  # noqa: D417, PLR0917 - SharedOptions tells the options; arrays stand as the passes
    q: A,
    k: A,
    v: A,
    output: A,
    lse: A | None,
    grad_output: A,
    *,
    kernel: KernelLike = AUTO,
    layout: LayoutName = "bhnd",
    causal: bool = False,
    window: tuple[int, int] | None = None,
    scale: float | None = None,
    block_mask: BlockMask | None = None,
    softcap: float | None = None,
    alibi: bool = False,
    cu_seqlens_q: Any = None,
    cu_seqlens_k: Any = None,
    max_seqlen_q: int | None = None,
    max_seqlen_k: int | None = None,
    copy: bool = False,
    deterministic: bool = False,
) -> tuple[A, A, A]:
    """The gradients of `attention` with respect to Q, K and V, from dO, where its inputs are.

    Streams are those of `attention`, and options are told in `kernels.SharedOptions`.

    Args:
        q: As in `attention`, in the same layout; and so are `k` and `v`.
        k: See `q`.
        v: See `q`.
        output: O as `attention` returned it, like `q`, with the head_dim of `v`.
        lse: LSE as it returned it; None for a kernel that takes none (`KernelSpec.backward.needs_lse`).
        grad_output: dO, the gradient of the loss with respect to O, like `output`.
        kernel: Not necessarily that of the forward pass; the same for all other options but `copy`. Sinks are
            not asked for: LSE holds all that they do.
        deterministic: Give the same bits in every run; slower where sums are otherwise taken in any order.

    Returns:
        (dQ, dK, dV), row-major, of the kind, shapes and dtype of Q, K and V. A row that keeps no key has
        dQ = 0, a key that no row keeps has dK = dV = 0. With fewer K/V heads dK and dV are sums over the
        query heads of a group.

    Raises:
        InputError: The arrays or options are not what is accepted; the text says what is.
        UnsupportedError: The kernel has no backward pass for this problem on this device.
        DeviceUnavailableError: The tensors are on a GPU and CuPy is not installed.
        CompileError: The CUDA compiler refused the kernel.
        MemoryError: The gradients or the workspace do not fit.
    """
    manner, same_bits = Manner(kernel, layout, copy, "backward"), yes_or_no("deterministic", deterministic)
    offsets = Offsets(cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k)
    masks = {"causal": causal, "scale": scale, "window": window, "block_mask": block_mask}
    masks |= {"softcap": softcap, "alibi": alibi}
    given = Saved(q, k, v, output, lse, grad_output)
    dq, dk, dv = _differentiated(given, manner, offsets, masks, same_bits=same_bits)
    return dq, dk, dv


def _differentiated(
    given: Saved, manner: Manner, offsets: Offsets, masks: dict[str, Any], *, same_bits: bool
) -> Gradients:
    """The gradients of the caller's kind, computed where the caller's arrays are."""
    caller = caller_of(given.arrays)
    with caller.here():
        borrowed = {name: caller.borrow(name, array) for name, array in given.arrays.items()}
        saved = Saved(**({"lse": None} | borrowed))
        call = understand(manner, caller, saved.inputs, offsets, **masks)
        check_saved(saved, call.order)
        problem = replace(call.problem, passes="backward", deterministic=same_bits)
        return Gradients(*map(caller.give_back, differentiate(call._replace(problem=problem), saved)))
