"""cuDNN's fused attention through its own frontend, nvidia-cudnn-frontend, as a peer of our ladder.

Idea: the operation is described as a graph, for which cuDNN chooses a kernel for the GPU at hand; the first
choice of its heuristics is taken. PyTorch asks the same library in the same way, but through the frontend
that it was built with, and for O alone where no gradients follow; here the frontend is the one installed, and
LSE is asked for as well. Tensors are lent to it as they lie, and O is allocated by PyTorch in every run.
Limit: no block mask, no pages; cuDNN says what else it does not take.
"""

from typing import Any

import cudnn
import torch

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.library.flash_attention import name_and_version
from flashscope.kernels.library.tensor_launch import TensorLaunch
from flashscope.kernels.library.torch_attention import cudnn_words
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import UNBOUNDED, Problem
from flashscope.kernels.workload.tensors import Inputs

DTYPES = {
    torch.float16: cudnn.data_type.HALF,
    torch.bfloat16: cudnn.data_type.BFLOAT16,
    torch.float32: cudnn.data_type.FLOAT,
}
FLOAT = cudnn.data_type.FLOAT
HEURISTICS = [cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK]


class Graph:
    """One operation of cuDNN on tensors, the same ones read in every run, others written.

    Attributes:
        builder: The frontend's graph, to which the operation is added.
        workspace_bytes: What a run is lent beside the tensors.
    """

    def __init__(self) -> None:
        self._handle = cudnn.create_handle()
        self.builder = cudnn.pygraph(
            handle=self._handle, intermediate_data_type=FLOAT, compute_data_type=FLOAT
        )
        self._bound: dict[Any, Any] = {}
        self._written: list[Any] = []
        self.workspace_bytes = 0
        self._workspace: Any = None

    def read(self, name: str, tensor: Any) -> Any:
        """A tensor that the operation reads, as cuDNN describes it."""
        described = self.builder.tensor(
            name=name,
            dim=list(tensor.shape),
            stride=list(tensor.stride()),
            data_type=DTYPES[tensor.dtype],
        )
        self._bound[described] = tensor
        return described

    def write(self, described: Any, like: Any) -> None:
        """Have a result of the operation written to memory, with the shape, order and dtype of a tensor."""
        described.set_output(True).set_dim(list(like.shape)).set_stride(list(like.stride()))
        described.set_data_type(DTYPES[like.dtype])
        self._written.append(described)

    def build(self) -> None:
        """Have cuDNN choose a kernel, and allocate what that asks for."""
        self.builder.build(HEURISTICS)
        self.workspace_bytes = self.builder.get_workspace_size()
        self._workspace = torch.empty(self.workspace_bytes, dtype=torch.uint8, device="cuda")

    def run(self, *results: Any) -> None:
        """Enqueue on PyTorch's current stream; the results are in the order in which they were described."""
        cudnn.set_stream(handle=self._handle, stream=torch.cuda.current_stream().cuda_stream)
        written = zip(self._written, results, strict=True)
        self.builder.execute({**self._bound, **dict(written)}, self._workspace, handle=self._handle)


class CudnnLaunch(TensorLaunch):
    """CuDNN's forward pass bound to a problem's arrays.

    Attributes:
        graph: The operation.
    """

    def __init__(self, problem: Problem, inputs: Inputs) -> None:
        super().__init__(inputs)
        self.graph = Graph()
        rows = torch.empty(problem.q_shape[:3], dtype=torch.float32, device="meta").unsqueeze(3)
        read = {name: self.graph.read(name, one) for name, one in zip("qkv", self.tensors, strict=True)}
        output, lse = self.graph.builder.sdpa(
            **read, attn_scale=problem.softmax_scale, generate_stats=True, **mask(problem)
        )
        self.graph.write(output, self.tensors[0])
        self.graph.write(lse, rows)
        self.graph.build()

    def attend(self) -> tuple[Any, Any]:
        """O and LSE, see TensorLaunch."""
        q = self.tensors[0]
        output, lse = torch.empty_like(q), q.new_empty((*q.shape[:3], 1), dtype=torch.float32)
        self.graph.run(output, lse)
        return output, lse.squeeze(3)


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Bind the arrays, have cuDNN choose a kernel, run once, and measure what it allocates.

    Raises:
        UnsupportedError: cuDNN refuses the problem on this GPU; the text says why.
        MemoryError: It does not fit.
    """
    predicted = spec.workspace_bytes(problem, "cuda")
    launch: Launch = ready(spec.name, lambda: CudnnLaunch(problem, inputs), predicted)
    return launch


def ready(name: str, make: Any, predicted: int) -> Any:
    """A launch of either pass, made, run once and measured; raises as `prepare`."""
    try:
        launch = make()
        launch.run()
        launch.measure(predicted, launch.graph.workspace_bytes)
    except torch.OutOfMemoryError as error:
        raise MemoryError(str(error)) from error
    except (RuntimeError, ValueError, NotImplementedError, cudnn.cudnnGraphNotSupportedError) as error:
        raise UnsupportedError(f"{name} refuses the problem: {' '.join(str(error).split())}") from error
    launch.release()
    frontend = name_and_version("nvidia-cudnn-frontend").removeprefix("nvidia-")
    launch.note = f"{frontend} with {cudnn_words(cudnn.backend_version())}"
    return launch


def mask(problem: Problem) -> dict[str, Any]:
    """Which keys to keep, in cuDNN's words: a band along the diagonal that ends at the bottom right."""
    left, right = problem.window or (UNBOUNDED, UNBOUNDED)
    right = 0 if problem.causal else right
    band: dict[str, Any] = {}
    if left != UNBOUNDED:
        band["diagonal_band_left_bound"] = left + 1  # it counts the diagonal
    if right != UNBOUNDED:
        band["diagonal_band_right_bound"] = right
    return {"diagonal_alignment": cudnn.diagonal_alignment.BOTTOM_RIGHT, **band} if band else {}
