"""Functions of the user's own of PyTorch's tensors: whatever launches Triton, CuTe or a library inside."""

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.library.own.module import called
from flashscope.kernels.library.own.results import backward_results, forward_results
from flashscope.kernels.library.tensor_launch import TensorLaunch, TensorRun, as_array, as_tensor
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs, Saved

MEMORY = "[memory]"  # what the profiler calls an allocation, and with fewer than 0 bytes its end
PROFILED = "PyTorch tells no peak on the CPU; its workspace is of its profiler's allocations"


class OwnTensorLaunch(TensorLaunch):
    """A forward pass; tensors share memory with our arrays and record no graph."""

    def __init__(self, own: OwnKernel, problem: Problem, inputs: Inputs, call: Callable[..., Any]) -> None:
        super().__init__(inputs)
        self._own, self._problem, self._call = own, problem, call

    def attend(self) -> tuple[Any, Any]:
        """O and LSE, see TensorLaunch."""
        with torch.no_grad():
            returned = called(self._own, lambda: self._call(*self.tensors))
        output, lse = forward_results(self._own, self._problem, returned)
        return _without_gaps(output), lse if lse is None else _without_gaps(lse)


class OwnTensorBackward(TensorRun):
    """A backward pass, from O, LSE and dO as they are given."""

    def __init__(self, own: OwnKernel, problem: Problem, saved: Saved, call: Callable[..., Any]) -> None:
        super().__init__(saved.inputs)
        self._own, self._problem, self._call = own, problem, call
        self._grad_output = as_tensor(saved.grad_output)
        self.renew(saved.output, saved.lse)

    def renew(self, output: Any, lse: Any) -> None:
        """Go on from these O and LSE."""
        self._from = output, lse  # kept alive: the tensors only borrow them
        rows = None if lse is None else as_tensor(lse)
        self._given = (as_tensor(output), rows, self._grad_output)

    @property
    def gradients(self) -> Gradients:
        """Those of the newest run, row-major, of the inputs' kind; None each before there are any."""
        dq, dk, dv = (as_array(one) for one in (*self.results, None)[:3])
        return Gradients(dq, dk, dv)

    def attend(self) -> tuple[Any, ...]:
        """DQ, dK and dV, see TensorRun."""
        returned = called(self._own, lambda: self._call(*self.tensors, *self._given))  # may use autograd
        return tuple(map(_without_gaps, backward_results(self._own, self._problem, returned)))


def prepare_tensors(
    own: OwnKernel, problem: Problem, inputs: Inputs, function: Callable[..., Any], keywords: dict[str, Any]
) -> OwnTensorLaunch:
    """Bind a forward pass, run it, and measure what it allocates.

    Raises:
        KernelError: It raised, or returned something else than O, or O and LSE.
        MemoryError: It does not fit.
    """
    given = tensors_among(keywords)
    launch = OwnTensorLaunch(own, problem, inputs, lambda *tensors: function(*tensors, **given))
    launch.run()
    _measure(launch)
    launch.release()
    return launch


def prepare_backward_tensors(
    own: OwnKernel, problem: Problem, saved: Saved, function: Callable[..., Any], keywords: dict[str, Any]
) -> OwnTensorBackward:
    """Bind a backward pass, run it, and measure what it allocates.

    Raises:
        KernelError: It raised, or returned something else than dQ, dK and dV.
        MemoryError: It does not fit.
    """
    given = tensors_among(keywords)
    launch = OwnTensorBackward(own, problem, saved, lambda *tensors: function(*tensors, **given))
    launch.run()
    _measure(launch)
    launch.release()
    return launch


def _measure(launch: TensorRun) -> None:
    """Have a run say what it held beside its results: nobody can predict it of a function of one's own."""
    if launch.on_gpu:
        launch.measure(0)
        return
    launch.release()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        launch.run()
    events: Any = recorded.profiler.kineto_results.events()
    taken = sorted((one.start_ns(), one.nbytes()) for one in events if one.name() == MEMORY)
    highest = max(accumulate((nbytes for _, nbytes in taken), initial=0))
    held = sum(tensor.nbytes for tensor in launch.results if tensor is not None)
    launch.workspace_bytes, launch.allocator = max(0, highest - held), PROFILED


def tensors_among(keywords: dict[str, Any]) -> dict[str, Any]:
    """The same, with a page table as a tensor."""
    table = keywords.get("page_table")
    return keywords if table is None else keywords | {"page_table": as_tensor(table)}


def _without_gaps(tensor: Any) -> Any:
    return tensor.detach().contiguous()
