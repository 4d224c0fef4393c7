"""A backward pass in NumPy bound to its arrays."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.launch import Floats
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients, Saved


class HeadRows(NamedTuple):
    """One query head's rows of what a pass reads and writes; dK and dV are those of the K/V head it meets.

    `bias` is its slope of ALiBi, 0 without one.
    """

    q: Floats
    k: Floats
    v: Floats
    output: Floats
    lse: Floats
    grad_output: Floats
    dq: Floats
    dk: Floats
    dv: Floats
    bias: float


@dataclass
class CpuBackward:
    """What a backward pass is given, its gradients and its workspace; all it ever allocates.

    Attributes:
        problem: What is computed.
        saved: Q, K, V, O, LSE and dO, float32.
        gradients: dQ, dK and dV, float32; valid after `run`.
        workspace: The buffers that the spec's backward pass declares, by name.
        workspace_bytes: Bytes of all of them.
        compute: Adds one query head's part to the gradients, which are zero at first; dQ and dK still lack
            the scale.
        note: Empty: there is one way to compute it.
    """

    problem: Problem
    saved: Saved
    gradients: Gradients
    workspace: dict[str, Floats]
    workspace_bytes: int
    compute: Callable[["CpuBackward", tuple[int, ...]], None]
    note: str = ""

    def run(self) -> None:
        """Compute the gradients once."""
        for gradient in self.gradients:
            gradient.fill(0)
        for head in self.heads():
            self.compute(self, head)
        scale = np.float32(self.problem.softmax_scale)
        for gradient in (self.gradients.dq, self.gradients.dk):
            np.multiply(gradient, scale, out=gradient)

    def heads(self) -> np.ndindex:
        """(sequence, query head) of every one."""
        return np.ndindex(self.problem.batch, self.problem.heads)

    def head(self, head: tuple[int, ...]) -> HeadRows:
        """Views of one query head's arrays."""
        b, h = head
        kv = b, h // (self.problem.heads // self.problem.key_heads)
        given, (dq, dk, dv) = self.saved, self.gradients
        return HeadRows(
            q=given.q[head],
            k=given.k[kv],
            v=given.v[kv],
            output=given.output[head],
            lse=given.lse[head],
            grad_output=given.grad_output[head],
            dq=dq[head],
            dk=dk[kv],
            dv=dv[kv],
            bias=self.problem.bias(h),
        )


def bind(
    spec: KernelSpec,
    problem: Problem,
    saved: Saved,
    compute: Callable[[CpuBackward, tuple[int, ...]], None],
) -> CpuBackward:
    """Allocate the gradients, each like its input in memory, and exactly the workspace of the spec.

    Raises:
        MemoryError: They do not fit.
    """
    declared = spec.backward.workspace(problem, "cpu") if spec.backward else ()
    buffers = {buffer.name: np.empty(buffer.shape, np.float32) for buffer in declared}
    gradients = Gradients(*(np.empty_like(x) for x in saved.inputs.qkv))
    held = sum(buffer.nbytes for buffer in buffers.values())
    return CpuBackward(problem, saved, gradients, buffers, held, compute)
