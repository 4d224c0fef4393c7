"""A NumPy kernel bound to its arrays."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np
import numpy.typing as npt

from flashscope.kernels.catalogue.buffers import Buffer
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.catalogue.workspace import GATHERED_K, GATHERED_V
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

Floats = npt.NDArray[np.float32]


@dataclass
class CpuLaunch:
    """Inputs, outputs and workspace of one NumPy kernel; all it ever allocates.

    Attributes:
        problem: What is computed.
        inputs: Q, K and V, float32, and a page table.
        output: O (batch, heads, Nq, dv), float32; valid after `run`.
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

    def sink(self, head: tuple[int, ...]) -> np.float32:
        """The sink of query head (batch, head); -inf without one, which adds nothing."""
        sinks = self.inputs.sinks
        sink: np.float32 = np.float32(-np.inf) if sinks is None else sinks[head[1]]
        return sink


def bind(
    spec: KernelSpec, problem: Problem, inputs: Inputs, compute: Callable[[CpuLaunch], None]
) -> CpuLaunch:
    """Allocate the outputs, O with its axes in memory as those of Q, and exactly the workspace of the spec.

    Raises:
        MemoryError: They do not fit.
    """
    buffers = {b.name: np.empty(b.shape, np.float32) for b in spec.workspace(problem, "cpu")}
    output = np.empty_like(inputs.q, shape=problem.o_shape)
    lse = np.empty(problem.q_shape[:3], np.float32)
    held = sum(buffer.nbytes for buffer in buffers.values())
    whole = compute if problem.even else partial(_by_sequence, spec, compute)
    return CpuLaunch(problem, inputs, output, lse, buffers, held, whole)


def _by_sequence(spec: KernelSpec, compute: Callable[[CpuLaunch], None], launch: CpuLaunch) -> None:
    """Compute each sequence that has rows and keys as a problem of its own, on views of its part."""
    launch.output.fill(0)
    launch.lse.fill(-np.inf)
    for b, one in launch.problem.sequences.items():
        own = slice(b, b + 1), slice(None), slice(one.seqlen_q)
        k, v = _keys(launch, b)
        inputs = Inputs(launch.inputs.q[own], k, v, sinks=launch.inputs.sinks)
        work = {buffer.name: _part(launch, buffer) for buffer in spec.workspace(one, "cpu")}
        compute(CpuLaunch(one, inputs, launch.output[own], launch.lse[own], work, 0, compute))


def _part(launch: CpuLaunch, buffer: Buffer) -> Floats:
    """As much of a buffer as one sequence needs, packed: NumPy copies what is not contiguous."""
    return launch.workspace[buffer.name].reshape(-1)[: prod(buffer.shape)].reshape(buffer.shape)


def _keys(launch: CpuLaunch, b: int) -> tuple[Floats, Floats]:
    """K and V of a sequence, (1, kv_heads, keys, d): views, or copied from their pages."""
    problem, count = launch.problem, launch.problem.key_counts[b]
    if problem.page_size is None:
        return launch.inputs.k[b : b + 1, :, :count], launch.inputs.v[b : b + 1, :, :count]
    widths = {GATHERED_K: problem.head_dim, GATHERED_V: problem.value_dim}
    gathered = [
        _part(launch, Buffer(name, (problem.key_heads, count, width), "float32"))
        for name, width in widths.items()
    ]
    for keys, pool in zip(gathered, launch.inputs.qkv[1:], strict=True):
        for start, page in zip(range(0, count, problem.page_size), launch.inputs.page_table[b], strict=False):
            stretch = keys[:, start : start + problem.page_size]
            stretch[...] = pool[page, :, : stretch.shape[1]]
    return gathered[0][None], gathered[1][None]
