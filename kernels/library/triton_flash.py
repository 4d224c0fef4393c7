"""Attention in Triton, written for this purpose, as a peer of our ladder: what a page of Python reaches.

Idea: FlashAttention-2's order of loops in Triton's language (`kernels.library.triton_forward`), whose
compiler, not the author, chooses layouts, instructions of the tensor cores and the pipeline of copies. Tiles,
warps and stages are tried once for each problem while this is prepared, and the fastest are kept.
Limit: forward, causal mask and grouped heads alone; head dims are filled up to a power of two.
"""

import math
from typing import Any

import torch
import triton
from triton.tools.tensor_descriptor import TensorDescriptor

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.library.caches import keep_at_home
from flashscope.kernels.library.tensor_launch import TensorLaunch
from flashscope.kernels.library.triton_forward import forward
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

TILES = (  # queries, keys, warps, stages
    (128, 128, 8, 2),
    (128, 128, 8, 3),
    (128, 64, 8, 3),
    (128, 64, 4, 3),
    (64, 128, 4, 2),
    (64, 64, 4, 3),
    (64, 32, 4, 3),
)
WIDE_TILES = ((128, 64, 8, 2), (128, 32, 8, 3), (64, 64, 4, 2), (64, 32, 4, 3))  # above head dim 128
WIDE = 128
NARROWEST = 16  # columns of a factor of a product

keep_at_home("TRITON_CACHE_DIR", "triton")


class TritonLaunch(TensorLaunch):
    """The kernel bound to a problem's arrays, in the tiles that were fastest."""

    def __init__(self, problem: Problem, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._problem = problem
        self._width = max(NARROWEST, 1 << (problem.head_dim - 1).bit_length())
        self._flat = tuple(tensor.flatten(0, 1) for tensor in self.tensors)
        self.tiles = (0, 0, 0, 0)
        self._described: tuple[Any, ...] = ()

    def choose(self) -> None:
        """Try each of the tiles, and keep the fastest.

        Raises:
            RuntimeError: The GPU takes none of them.
        """
        found = {}
        for tiles in WIDE_TILES if self._width > WIDE else TILES:
            self.take(tiles)
            try:
                found[tiles] = triton.testing.do_bench(self.attend, warmup=5, rep=20, return_mode="median")
            except triton.runtime.errors.OutOfResources:  # more shared memory or registers than there are
                continue
        if not found:
            raise RuntimeError("the GPU has too little shared memory for its tiles")
        self.take(min(found, key=lambda tiles: found[tiles]))

    def take(self, tiles: tuple[int, int, int, int]) -> None:
        """Run in these from now on: queries, keys, warps, stages."""
        self.tiles = tiles
        blocks = (tiles[0], tiles[1], tiles[1])
        self._described = tuple(
            TensorDescriptor.from_tensor(tensor, [1, block, self._width])
            for tensor, block in zip(self._flat, blocks, strict=True)
        )

    def attend(self) -> tuple[Any, Any]:
        """O and LSE, see TensorLaunch."""
        problem, q = self._problem, self.tensors[0]
        output, lse = torch.empty_like(q), q.new_empty(q.shape[:3], dtype=torch.float32)
        block_q, block_k, warps, stages = self.tiles
        grid = (triton.cdiv(problem.seqlen_q, block_q), problem.batch * problem.heads)
        scale = problem.softmax_scale
        forward[grid](
            *self._described,
            output,
            lse,
            problem.seqlen_q,
            problem.seqlen_k,
            abs(scale) * math.log2(math.e) if scale else 1.0,
            problem.head_dim,
            (scale > 0) - (scale < 0),
            problem.heads // problem.key_heads,
            problem.causal,
            self._width,
            block_q,
            block_k,
            num_warps=warps,
            num_stages=stages,
        )
        return output, lse


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Bind the arrays, compile and try the tiles, and measure what a run allocates.

    Raises:
        UnsupportedError: Triton cannot compile it, or this GPU not run it; the text says why.
        MemoryError: It does not fit.
    """
    launch = TritonLaunch(problem, inputs)
    try:
        launch.choose()
        launch.run()
        launch.measure(spec.workspace_bytes(problem, "cuda"))
    except torch.OutOfMemoryError as error:
        raise MemoryError(str(error)) from error
    except (RuntimeError, triton.CompilationError) as error:
        raise UnsupportedError(f"{spec.name} refuses the problem: {' '.join(str(error).split())}") from error
    launch.release()
    queries, keys, warps, stages = launch.tiles
    tiles = f"tiles of {queries} queries and {keys} keys, {warps} warps, {stages} stages"
    launch.note = f"Triton {triton.__version__}, {tiles}"
    return launch
