"""Attention on arrays: check them, find the kernel, run it once."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import AUTO, KERNELS, choose_backward, choose_kernel, find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.arguments import backend_of_all, check_saved, problem_of, told, yes_or_no
from flashscope.kernels.launching.launch import prepare, prepare_backward
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.tensors import Inputs, Saved


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
    query_lengths: Sequence[int] | None = None,
    key_lengths: Sequence[int] | None = None,
    page_table: Any = None,
    return_lse: bool = False,
) -> Any:
    """softmax(scale Q K^T) V on the CPU (NumPy arrays) or the GPU that holds them (CuPy arrays).

    On a GPU the work is enqueued on the current stream; the result is an ordinary CuPy array.

    Args:
        q: (batch, heads, Nq, head_dim), contiguous; float32, on a GPU also float16 or bfloat16.
        k: (batch, kv_heads, Nk, head_dim), of the same kind and dtype. kv_heads divides heads; query head h
            attends to K/V head h // (heads // kv_heads). With a page table K is a cache of pages, (pages,
            kv_heads, page_size, head_dim), of 16, 32, 64, 128 or 256 keys each.
        v: Like `k`. On the CPU a V row that masks hide from a query never enters its O, whatever it holds.
            On a GPU it meets the weight 0 where its tile is computed for another pair, and 0 x NaN is NaN:
            clean a V that may hold NaN or infinity. Padding and unused pages never enter.
        kernel: Name of one of `kernels.KERNELS`; "auto" is the one that `kernels.choose_kernel` names for the
            same Problem and Device.
        causal: Keep only keys k <= q + Nk - Nq (aligned to the bottom right).
        scale: Factor on the scores; None means 1/sqrt(head_dim).
        window: (left, right): keep only keys q + Nk - Nq - left <= k <= q + Nk - Nq + right; -1 is unbounded.
            With `causal` the right side is 0.
        block_mask: Keep only these blocks of the scores, in every head; tiled kernels skip the others.
        query_lengths: Rows of q that each sequence has, up to Nq; the rest is padding, which may hold NaN.
            Causal and window go by the lengths of each sequence. None: all Nq.
        key_lengths: Keys that each sequence has, up to Nk; the rest is padding. None: all Nk.
        page_table: int32 (batch, Nk / page_size), of the same kind: the page in which each stretch of a
            sequence's keys lies. Sequences may share pages; entries behind the last key are never used.
        return_lse: Also return the log-sum-exp.

    Returns:
        O, shape and dtype of `q`; with `return_lse` the pair (O, LSE), LSE being the natural log-sum-exp of
        the scaled scores, float32 (batch, heads, Nq). A row that keeps no key, and
        padding, has O = 0 and LSE = -inf.

    Raises:
        InputError: The arrays or options are not what is accepted; the text says what is.
        UnsupportedError: The kernel does not take this dtype or head dim on this device.
        CompileError: The CUDA compiler refused the kernel.
        MemoryError: The outputs or the workspace do not fit.
    """
    named = _find(kernel)
    asked_for_lse = yes_or_no("return_lse", return_lse)
    inputs = Inputs(q, k, v, page_table)
    backend = backend_of_all(inputs.arrays)
    problem = problem_of(
        inputs,
        causal=causal,
        scale=scale,
        window=window,
        block_mask=block_mask,
        query_lengths=query_lengths,
        key_lengths=key_lengths,
    )
    with _on_device_of(q, backend):
        device = import_module(f"flashscope.kernels.{backend}.device").describe()
        spec = named or choose_kernel(problem, device)
        _refuse(spec.unsupported(problem, device))
        launch = prepare(spec, problem, inputs, backend)
        launch.run()
    if asked_for_lse and launch.lse is None:
        raise InputError(f"{kernel} returns no LSE; leave return_lse out or choose another kernel.")
    return (launch.output, launch.lse) if asked_for_lse else launch.output


def attention_backward(  # noqa: PLR0917 - the arrays stand in the order of the two passes
    q: Any,
    k: Any,
    v: Any,
    output: Any,
    lse: Any,
    grad_output: Any,
    *,
    kernel: str,
    causal: bool = False,
    window: tuple[int, int] | None = None,
    scale: float | None = None,
    block_mask: BlockMask | None = None,
    deterministic: bool = False,
) -> tuple[Any, Any, Any]:
    """The gradients of `attention` with respect to Q, K and V, from dO, where its inputs are.

    On a GPU the work is enqueued on the current stream; the results are ordinary CuPy arrays.

    Args:
        q: As in `attention`.
        k: As in `attention`.
        v: As in `attention`.
        output: O as `attention` returned it, like `q`.
        lse: LSE as it returned it, float32 (batch, heads, Nq); None for a kernel that takes none
            (`KernelSpec.backward.needs_lse`).
        grad_output: dO, the gradient of the loss with respect to O, like `q`.
        kernel: Name of one of `kernels.KERNELS`, not necessarily that of the forward pass; "auto" is the one
            that `kernels.choose_backward` names for the same Problem and Device.
        causal: As in `attention`, and so are the next three.
        window: See `attention`.
        scale: See `attention`.
        block_mask: See `attention`.
        deterministic: Give the same bits in every run; slower where sums are otherwise taken in any order.

    Returns:
        (dQ, dK, dV) in the shapes and dtype of Q, K and V. A row that keeps no key has dQ = 0, a key that no
        row keeps has dK = dV = 0. With fewer K/V heads dK and dV are sums over the query heads of a group.

    Raises:
        InputError: The arrays or options are not what is accepted; the text says what is.
        UnsupportedError: The kernel has no backward pass for this dtype, head dim or mask on this device.
        CompileError: The CUDA compiler refused the kernel.
        MemoryError: The gradients or the workspace do not fit.
    """
    named = _find(kernel)
    given = yes_or_no("deterministic", deterministic)
    saved = Saved(q, k, v, output, lse, grad_output)
    backend = backend_of_all(
        {name: array for name, array in saved._asdict().items() if name != "lse" or lse is not None}
    )
    described = problem_of(saved.inputs, causal=causal, scale=scale, window=window, block_mask=block_mask)
    problem = replace(described, passes="backward", deterministic=given)
    with _on_device_of(q, backend):
        device = import_module(f"flashscope.kernels.{backend}.device").describe()
        spec = named or choose_backward(problem, device)
        _refuse(spec.unsupported_backward(problem, device))
        check_saved(saved, needs_lse=spec.backward is not None and spec.backward.needs_lse)
        launch = prepare_backward(spec, problem, saved, backend)
        launch.run()
    return tuple(launch.gradients)


def _find(kernel: str) -> KernelSpec | None:
    """The kernel of that name; None for the one that is chosen by itself."""
    names = [spec.name for spec in KERNELS]
    if isinstance(kernel, str) and kernel in {AUTO, *names}:
        return None if kernel == AUTO else find_kernel(kernel)
    there = ", ".join((AUTO, *names))
    raise InputError(f"kernel must be one of {there}, not {told(kernel)}.")


def _refuse(reason: str | None) -> None:
    """Raise the reason why a kernel cannot, as a sentence."""
    if reason is not None:
        raise UnsupportedError(f"{reason[0].upper()}{reason[1:]}.")


def _on_device_of(array: Any, backend: Backend) -> AbstractContextManager[Any]:
    """Make the array's GPU the current one; on the CPU there is nothing to do."""
    device: AbstractContextManager[Any] = array.device if backend == "cuda" else nullcontext()
    return device
