"""A call that is understood: find the kernel, run it once or for each part, put the results together."""

from math import inf
from typing import Any

from flashscope.kernels.catalogue.registry import choose_backward, choose_kernel
from flashscope.kernels.launching.launch import Launch, prepare, prepare_backward
from flashscope.kernels.surface.asking import Call
from flashscope.kernels.surface.padding import pad, take_out
from flashscope.kernels.surface.reading import filled, put, readable, without_gaps
from flashscope.kernels.surface.sequences import SequenceRun, Sequences
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs, Saved


def attend(call: Call, inputs: Inputs, *, wants_lse: bool) -> tuple[Any, Any]:
    """O in the layout of Q, row-major, and LSE; None for LSE where the kernel returns none.

    Raises:
        InputError: An array lies in another way than the kernel reads it, or returns no LSE that is wanted.
        UnsupportedError: The kernel does not take the problem on the device.
    """
    if call.sequences is None:
        output, lse = _attend_batch(call, inputs)
    elif len(call.parts) > 1 and call.copy and _takes_padding(call):
        output, lse = _attend_padded(call, call.sequences, inputs)
    else:
        output, lse = _attend_parts(call, inputs)
    if wants_lse and lse is None:
        name = call.named.name if call.named else "This kernel"
        raise InputError(f"{name} returns no LSE; leave return_lse out or choose another kernel.")
    return output, lse


def differentiate(call: Call, saved: Saved) -> Gradients:
    """The gradients in the layout of Q, row-major.

    Raises:
        InputError: An array lies in another way than the kernel reads it, or it needs an LSE.
        UnsupportedError: The kernel has no backward pass that takes the problem on the device.
    """
    heads_first = call.order.heads_first
    if call.sequences is None:
        views = {name: heads_first(array) for name, array in saved._asdict().items() if name != "lse"}
        found = _differentiate(call, call.problem, Saved(**views, lse=saved.lse))
        return Gradients(*(without_gaps(heads_first(gradient)) for gradient in found))
    gradients = Gradients(*(filled(x.shape, 0, x.dtype, x) for x in saved.inputs.qkv))
    for part in call.parts:
        found = _differentiate(call, part.problem, _cut(part, saved))
        for cut, whole, own in zip((part.rows_of, part.keys_of, part.keys_of), gradients, found, strict=True):
            put(cut(whole), own)
    return gradients


def _cut(part: SequenceRun, saved: Saved) -> Saved:
    """A part's views of what a backward pass is given."""
    return Saved(
        part.rows_of(saved.q),
        part.keys_of(saved.k),
        part.keys_of(saved.v),
        part.rows_of(saved.output),
        None if saved.lse is None else part.lse_of(saved.lse),
        part.rows_of(saved.grad_output),
    )


def _attend(call: Call, problem: Problem, inputs: Inputs) -> Launch:
    """Run the kernel once on views (batch, heads, seqlen, head_dim)."""
    spec, backend = call.named or choose_kernel(problem, call.device), call.device.backend
    spec.require(problem, call.device)
    pages = inputs.page_table is not None
    given = readable(inputs.arrays, spec, backend, copy=call.copy, pages=pages)
    launch = prepare(spec, problem, Inputs(**given), backend)
    launch.run()
    return launch


def _differentiate(call: Call, problem: Problem, saved: Saved) -> Gradients:
    """Run the backward pass once on views (batch, heads, seqlen, head_dim)."""
    spec, backend = call.named or choose_backward(problem, call.device), call.device.backend
    spec.require_backward(problem, call.device)
    if saved.lse is None and spec.backward is not None and spec.backward.needs_lse:
        raise InputError("lse must be given: this kernel computes P again from it.")
    given = readable(saved._asdict(), spec, backend, copy=call.copy)
    launch = prepare_backward(spec, problem, Saved(**given), backend)
    launch.run()
    return launch.gradients


def _takes_padding(call: Call) -> bool:
    """Whether the kernel reads nothing but copies of sequences, and takes all of them at once, padded."""
    try:
        spec = call.named or choose_kernel(call.problem, call.device)
    except UnsupportedError:  # of no kernel's; each part may be
        return False
    return call.device.backend not in spec.strided and spec.unsupported(call.problem, call.device) is None


def _attend_batch(call: Call, inputs: Inputs) -> tuple[Any, Any]:
    """One launch on views of arrays that have an axis of sequences."""
    q, k, v = map(call.order.heads_first, inputs.qkv)
    launch = _attend(call, call.problem, Inputs(q, k, v, inputs.page_table, inputs.sinks))
    return without_gaps(call.order.heads_first(launch.output)), launch.lse


def _attend_padded(call: Call, sequences: Sequences, inputs: Inputs) -> tuple[Any, Any]:
    """All sequences in one launch, on padded copies."""
    rows, keys = sequences.rows, sequences.keys
    q = pad(inputs.q, rows, call.problem.seqlen_q)
    k, v = (pad(array, keys, call.problem.seqlen_k) for array in inputs.qkv[1:])
    launch = _attend(call, call.problem, Inputs(q, k, v, sinks=inputs.sinks))
    lse = None if launch.lse is None else take_out(launch.lse[..., None], rows)[..., 0]
    return take_out(launch.output, rows), None if lse is None else without_gaps(lse.swapaxes(0, 1))


def _attend_parts(call: Call, inputs: Inputs) -> tuple[Any, Any]:
    """One launch for each part, on views of its sequences; rows without keys have O = 0 and LSE = -inf."""
    output = filled((*inputs.q.shape[:-1], inputs.v.shape[-1]), 0, inputs.q.dtype, inputs.q)
    lse = filled(call.order.lse_shape(inputs.q), -inf, "float32", inputs.q)
    for part in call.parts:
        own = part.rows_of(inputs.q), part.keys_of(inputs.k), part.keys_of(inputs.v)
        one = Inputs(*own, sinks=inputs.sinks)
        launch = _attend(call, part.problem, one)
        put(part.rows_of(output), launch.output)
        if launch.lse is None:
            lse = None
        if lse is not None:
            put(part.lse_of(lse), launch.lse)
    return output, lse
