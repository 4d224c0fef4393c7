"""The backward pass of a raw CUDA kernel of the user's own, from the same `.cu` file.

Idea: header lines that begin with `flashscope backward:` name its launches; they are given Q, K, V, O, LSE
and dO, and write dQ, dK and dV.
Limit: as of the forward pass (see `kernels.cuda.own_source`).
"""

from dataclasses import dataclass

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda.launch import BoundLaunch
from flashscope.kernels.cuda.own_source import bind, load, own_source, workspace_of
from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.own.expression import sizes_with
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients, Saved


@dataclass
class OwnSourceBackward:
    """Compiled kernels, their arrays and arguments; `run` enqueues them.

    Attributes:
        saved: What it is given, kept alive.
        gradients: dQ, dK and dV; valid after `run`.
        workspace_bytes: Bytes of the workspace.
        launches: The launches in order.
        note: Empty.
    """

    saved: Saved
    gradients: Gradients
    workspace_bytes: int
    launches: tuple[BoundLaunch, ...]
    note: str = ""

    def run(self) -> None:
        """Enqueue all launches on the current stream."""
        for launch in self.launches:
            launch()


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Compile the file, allocate the gradients and the workspace, and bind them.

    Raises:
        CompileError: The compiler refused it; the text has the line of the file.
        InputError: The file has changed or is gone, or an expression of its header has no value here.
        MemoryError: The buffers do not fit.
    """
    import cupy  # noqa: PLC0415 - a program can be described and compiled without it

    own, dtype = own_source(spec), storage_dtype(problem.dtype)
    module = load(own, problem)
    shapes = (problem.q_shape, problem.k_shape, problem.k_shape)
    gradients = Gradients(*(cupy.empty(shape, dtype) for shape in shapes))
    workspace = workspace_of(spec, problem)
    given = {**saved.inputs.arrays, "o": saved.output, "lse": saved.lse, "do": saved.grad_output}
    arrays = {**given, **gradients._asdict(), **workspace}
    sizes = sizes_with(problem, own.defines)
    launches = tuple(bind(one, module, sizes, arrays) for one in own.backward_launches)
    held = sum(array.nbytes for array in workspace.values())
    return OwnSourceBackward(saved, gradients, held, launches)
