"""A NumPy kernel bound to its arrays."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels.launch import Inputs
from kernels.problem import Problem
from kernels.spec import KernelSpec

Floats = npt.NDArray[np.float32]


@dataclass
class CpuLaunch:
    """Inputs, outputs and workspace of one NumPy kernel; all it ever allocates.

    Attributes:
        problem: What is computed.
        inputs: Q, K and V, float32.
        output: O (batch, heads, Nq, d), float32; valid after `run`.
        lse: Natural log-sum-exp (batch, heads, Nq), float32; valid after `run`.
        workspace: The spec's buffers by name.
        workspace_bytes: Bytes of all of them.
        compute: Fills `output` and `lse`.
        note: Empty: there is one way to compute it.
    """

    problem: Problem
    inputs: Inputs
    output: Floats
    lse: Floats
    workspace: dict[str, Floats]
    workspace_bytes: int
    compute: Callable[["CpuLaunch"], None]
    note: str = ""

    def run(self) -> None:
        """Compute O and LSE once."""
        self.compute(self)

    def head(self, head: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
        """Q (Nq, d), and the K and V (Nk, d) that it meets, of query head (batch, head)."""
        b, h = head
        kv = h // (self.problem.heads // self.problem.key_heads)
        return self.inputs.q[b, h], self.inputs.k[b, kv], self.inputs.v[b, kv]


def bind(
    spec: KernelSpec, problem: Problem, inputs: Inputs, compute: Callable[[CpuLaunch], None]
) -> CpuLaunch:
    """Allocate the outputs and exactly the workspace the spec declares.

    Raises:
        MemoryError: They do not fit.
    """
    buffers = {b.name: np.empty(b.shape, np.float32) for b in spec.workspace(problem, "cpu")}
    output = np.empty(problem.q_shape, np.float32)
    lse = np.empty(problem.q_shape[:3], np.float32)
    held = sum(buffer.nbytes for buffer in buffers.values())
    return CpuLaunch(problem, inputs, output, lse, buffers, held, compute)
