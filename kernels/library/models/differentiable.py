"""Our kernels on PyTorch's tensors, with autograd: what a model that trains is made of.

Idea: a tensor lends its memory to an array (NumPy's on the CPU, CuPy's on a GPU), a kernel runs on PyTorch's
current stream, and what it wrote is lent back. Nothing is copied beside tensors that are not row-major.
The gradient of sinks, which no kernel of ours computes, PyTorch computes from O, dO and LSE.
Limit: what a kernel allocates on a GPU comes from CuPy's pool, beside PyTorch's own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import torch
from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import AUTO, choose_kernel, find_kernel
from flashscope.kernels.catalogue.spec import DTYPES_BY_BACKEND, KernelSpec
from flashscope.kernels.launching.arguments import check_inputs, problem_of
from flashscope.kernels.launching.axes import BHND
from flashscope.kernels.launching.launch import prepare, prepare_backward
from flashscope.kernels.library.tensor_launch import as_array, as_tensor
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.tensors import Inputs, Saved

MOST_STREAMS = 64
BACKENDS: dict[str, Backend] = {"cpu": "cpu", "cuda": "cuda"}  # by the type of a tensor's device


def attend(
    q: Any,
    k: Any,
    v: Any,
    *,
    kernel: str = AUTO,
    deterministic: bool = False,
    sinks: Any = None,
    **options: Any,
) -> Any:
    """softmax(scale Q K^T) V of tensors, of which gradients can be taken once.

    Args:
        q: (batch, heads, Nq, head_dim); float32, on a GPU also float16 or bfloat16.
        k: (batch, kv_heads, Nk, head_dim), of the same dtype and device.
        v: Like `k`, of a head dim of its own where the kernel takes that.
        kernel: Name of one of `kernels.KERNELS`, or "auto": the fastest that takes the problem, with its
            gradients where they can be asked for.
        deterministic: Give the same bits of gradients in every run.
        sinks: (heads,), of any floating dtype: the logits that enter the denominators of each head's rows;
            they have a gradient, too. None: there are none.
        **options: The masks, the lengths, the scale and a softcap, all that
            `launching.arguments.problem_of` takes.

    Returns:
        O, a tensor like `q` of V's head dim, on PyTorch's current stream.

    Raises:
        InputError: The tensors or options are not what is accepted.
        UnsupportedError: The kernel takes no such problem, or has no gradients of it where one of the tensors
            asks for some.
        CompileError: The CUDA compiler refused the kernel.
        MemoryError: Outputs or workspace do not fit.
    """
    tensors = tuple(tensor.contiguous() for tensor in (q, k, v))
    backend = _backend_of(tensors)
    logits = None if sinks is None else sinks.to(tensors[0].device, torch.float32).contiguous()
    given = (*tensors, logits)
    with _on_stream_of(tensors[0]):
        inputs = _inputs_of(*given)
        check_inputs(inputs, BHND)
        problem = problem_of(inputs, BHND, **options)
        if not (torch.is_grad_enabled() and any(one is not None and one.requires_grad for one in given)):
            return _Run(_spec_for(kernel, problem, backend), problem, backend).forward(inputs)[0]
        problem = replace(problem, passes="both", deterministic=deterministic)
        if problem.even:
            run = _Run(_spec_for(kernel, problem, backend), problem, backend)
            return _Attention.apply(run, *given)
        runs = {
            b: _Run(_spec_for(kernel, one, backend), one, backend) for b, one in problem.sequences.items()
        }
        return torch.cat([_alone(b, runs.get(b), *given) for b in range(problem.batch)])


def _inputs_of(q: Any, k: Any, v: Any, sinks: Any) -> Inputs:
    """The tensors' memory as arrays."""
    return Inputs(_lent(q), _lent(k), _lent(v), sinks=None if sinks is None else _lent(sinks))


def _alone(b: int, run: "_Run | None", *given: Any) -> Any:
    """O of one sequence of a batch of different lengths, of which no kernel has gradients together.

    Args:
        b: Which of the batch.
        run: What computes it; None: it has no rows or no keys.
        given: Q, K and V as `attend` takes them, row-major, and the sinks, float32, or None.

    Returns:
        (1, heads, Nq, head dim of V); rows of padding are 0.
    """
    q, k, v, sinks = given
    if run is None:
        return q.new_zeros(1, *q.shape[1:3], v.shape[3])
    rows, keys = run.problem.seqlen_q, run.problem.seqlen_k
    own = q[b : b + 1, :, :rows], k[b : b + 1, :, :keys], v[b : b + 1, :, :keys]
    output = _Attention.apply(run, *(tensor.contiguous() for tensor in own), sinks)
    return torch.nn.functional.pad(output, (0, 0, 0, q.shape[2] - rows))


@dataclass(frozen=True)
class _Run:
    """One kernel on one problem.

    Attributes:
        spec: The kernel.
        problem: What it computes.
        backend: Where.
    """

    spec: KernelSpec
    problem: Problem
    backend: Backend

    def forward(self, inputs: Inputs) -> tuple[Any, Any]:
        """O and LSE as tensors."""
        launch = prepare(self.spec, self.problem, inputs, self.backend)
        launch.run()
        return as_tensor(launch.output), as_tensor(launch.lse)

    def backward(self, saved: Saved) -> tuple[Any, Any, Any]:
        """dQ, dK and dV as tensors."""
        launch = prepare_backward(self.spec, self.problem, saved, self.backend)
        launch.run()
        dq, dk, dv = map(as_tensor, launch.gradients)
        return dq, dk, dv


class _Attention(torch.autograd.Function):  # type: ignore[misc]
    """A run of which autograd asks for the gradients, in a thread of its own."""

    @staticmethod
    def forward(ctx: Any, run: _Run, *given: Any) -> Any:
        with _on_stream_of(given[0]):
            output, lse = run.forward(_inputs_of(*given))
        *of_inputs, sinks = given
        ctx.save_for_backward(*of_inputs, output, lse, sinks)
        ctx.run = run
        return output

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> tuple[Any, ...]:
        if torch.is_grad_enabled():
            raise UnsupportedError("Our kernels give no gradients of gradients: leave create_graph out.")
        *kept, sinks = ctx.saved_tensors
        kept.append(grad_output.contiguous())
        with _on_stream_of(grad_output):
            of_inputs = ctx.run.backward(Saved(*map(_lent, kept)))
        of_sinks = _of_sinks(sinks, *kept[3:]) if ctx.needs_input_grad[4] else None
        return (None, *of_inputs, of_sinks)


def _of_sinks(sinks: Any, output: Any, lse: Any, grad_output: Any) -> Any:
    """The gradient with respect to the sinks, float32 (heads,).

    In each row a sink has a weight, exp(sink - LSE), and no value: the derivative of the softmax leaves minus
    that weight times delta, the row's sum of O dO, summed over all rows of the head.
    """
    delta = (output.float() * grad_output.float()).sum(-1)
    return -((sinks[:, None] - lse).exp() * delta).sum((0, 2))


def _lent(tensor: Any) -> Any:
    """The tensor's memory as an array, without its history."""
    return as_array(tensor.detach())


def _backend_of(tensors: tuple[Any, ...]) -> Backend:
    """Where the tensors are, once it is known that arrays can be made of them.

    Raises:
        InputError: They are on different devices, or on one that is neither the CPU nor a GPU of NVIDIA.
        UnsupportedError: Their dtype is none that kernels take there.
    """
    devices = {str(tensor.device): tensor.device.type for tensor in tensors}
    backend = BACKENDS.get(next(iter(devices.values())))
    if len(devices) > 1 or backend is None:
        raise InputError(f"q, k and v must be on the CPU or on one NVIDIA GPU, not on {', '.join(devices)}.")
    taken = DTYPES_BY_BACKEND[backend]
    for tensor in tensors:
        name = str(tensor.dtype).removeprefix("torch.")
        if name not in taken:
            where = "the CPU" if backend == "cpu" else "a GPU"
            raise UnsupportedError(f"On {where} our kernels take {', '.join(taken)}, not {name}.")
    return backend


def _spec_for(kernel: str, problem: Problem, backend: Backend) -> KernelSpec:
    """The kernel of that name, or the fastest for the problem, on the current device.

    Raises:
        UnsupportedError: It does not take the problem, or no kernel does.
    """
    device = import_module(f"flashscope.kernels.{backend}.device").describe()
    if kernel == AUTO:
        return choose_kernel(problem, device)
    spec = find_kernel(kernel)
    spec.require(problem, device)
    return spec


@contextmanager
def _on_stream_of(tensor: Any) -> Iterator[None]:
    """Make CuPy work on the tensor's GPU, on PyTorch's current stream; on the CPU there is nothing to do."""
    if not tensor.is_cuda:
        yield
        return
    import cupy  # noqa: PLC0415 - for a GPU only

    index = tensor.device.index
    with cupy.cuda.Device(index), _cupy_stream(torch.cuda.current_stream(index).cuda_stream, index):
        yield


@lru_cache(maxsize=MOST_STREAMS)
def _cupy_stream(pointer: int, index: int) -> Any:
    """CuPy's view of a stream of PyTorch's; it says nothing but this, so it never grows stale."""
    import cupy  # noqa: PLC0415 - for a GPU only

    return cupy.cuda.ExternalStream(pointer, index)
