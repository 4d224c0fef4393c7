"""FlashAttention's own package for Hopper and newer, flash-attn-4, as a peer of our ladder.

Idea: kernels written in CuTe's Python dialect and compiled for the GPU at hand when a problem is first seen,
which takes seconds and is not timed. Its masks are aligned to the bottom right, as ours are, and it returns
LSE. It is given views of our arrays in its own order, (batch, seqlen, heads, head_dim), and allocates O so.
Limit: FlashAttention knows no block mask in the form that ours has.
"""

import warnings
from typing import Any

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.library.flash_attention import HEADS, ROWS, name_and_version
from flashscope.kernels.library.tensor_launch import TensorLaunch
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what it imports, which users cannot change
    from flash_attn.cute import flash_attn_func


class FlashAttention4Launch(TensorLaunch):
    """flash-attn-4 bound to a problem's arrays."""

    def __init__(self, problem: Problem, inputs: Inputs) -> None:
        super().__init__(inputs)
        left, right = problem.window or (-1, -1)
        self._options = {
            "softmax_scale": problem.softmax_scale,
            "causal": problem.causal,
            "window_size": tuple(None if side < 0 else side for side in (left, right)),
            "return_lse": True,
        }

    def attend(self) -> tuple[Any, Any]:
        """O and LSE, see TensorLaunch."""
        q, k, v = (tensor.transpose(HEADS, ROWS) for tensor in self.tensors)
        output, lse = flash_attn_func(q, k, v, **self._options)
        return output.transpose(HEADS, ROWS), lse


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Bind the arrays, compile by running once, and measure what it allocates.

    Raises:
        UnsupportedError: flash-attn-4 refuses the problem on this GPU; the text says why.
        MemoryError: It does not fit.
    """
    launch = FlashAttention4Launch(problem, inputs)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its own insides, while it compiles
            launch.run()
        launch.measure(spec.workspace_bytes(problem, "cuda"))
    except (AssertionError, NotImplementedError) as error:  # how its own checks refuse
        raise UnsupportedError(f"flash-attn-4 refuses the problem: {error}") from error
    finally:
        launch.release()
    launch.note = name_and_version("flash-attn-4")
    return launch
