"""The backward pass of cuDNN's fused attention through its own frontend, as a peer of our ladder.

Idea: as `kernels.library.cudnn_graph`, from O and LSE as its forward pass returned them.
Limit: that of the forward pass.
"""

from typing import Any

import torch

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.library.cudnn_graph import Graph, mask, ready
from flashscope.kernels.library.tensor_launch import TensorRun, as_array, as_tensor
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients, Saved


class CudnnBackward(TensorRun):
    """CuDNN's backward pass bound to what a forward pass left.

    Attributes:
        graph: The operation.
    """

    def __init__(self, problem: Problem, saved: Saved) -> None:
        super().__init__(saved.inputs)
        self.graph = Graph()
        q, k, v = self.tensors
        given = {"q": q, "k": k, "v": v, "o": as_tensor(saved.output), "dO": as_tensor(saved.grad_output)}
        given["stats"] = as_tensor(saved.lse).unsqueeze(3)
        read = {name: self.graph.read(name, tensor) for name, tensor in given.items()}
        gradients = self.graph.builder.sdpa_backward(
            **read,
            attn_scale=problem.softmax_scale,
            use_deterministic_algorithm=problem.deterministic,
            **mask(problem),
        )
        for gradient, like in zip(gradients, self.tensors, strict=True):
            self.graph.write(gradient, like)
        self.graph.build()

    @property
    def gradients(self) -> Gradients:
        """Those of the newest run; None each before there are any."""
        dq, dk, dv = (as_array(tensor) for tensor in (*self.results, None)[:3])
        return Gradients(dq, dk, dv)

    def attend(self) -> tuple[Any, ...]:
        """DQ, dK and dV, see TensorRun."""
        gradients = tuple(torch.empty_like(tensor) for tensor in self.tensors)
        self.graph.run(*gradients)
        return gradients


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Bind what the forward pass left, have cuDNN choose a kernel, run once, and measure what it allocates.

    Raises:
        UnsupportedError: cuDNN refuses the problem on this GPU; the text says why.
        MemoryError: It does not fit.
    """
    predicted = spec.backward.workspace_bytes(problem, "cuda") if spec.backward else 0
    launch: BackwardLaunch = ready(spec.name, lambda: CudnnBackward(problem, saved), predicted)
    return launch
