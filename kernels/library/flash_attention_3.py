"""FlashAttention-3 as its authors build it in C++ for Hopper (tokenspeed-fa3), as a peer of our ladder.

Idea: the kernels of arXiv 2407.08608 by those who wrote it: TMA, wgmma, warpgroups in turns. The build is
forward alone. Its masks are aligned to the bottom right, as ours are, it returns LSE, and it may split keys
where queries are few (num_splits = 0), as flash3 may. It is given views of our arrays in its own order,
(batch, seqlen, heads, head_dim), and allocates O so.
Limit: Hopper alone; no block mask in the form that ours has.
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
    from flash_attn_interface import flash_attn_func

CHOSEN_BY_IT = 0  # of parts of keys


class FlashAttention3Launch(TensorLaunch):
    """FlashAttention-3 bound to a problem's arrays."""

    def __init__(self, problem: Problem, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._options = {
            "softmax_scale": problem.softmax_scale,
            "causal": problem.causal,
            "window_size": problem.window or (-1, -1),
            "num_splits": CHOSEN_BY_IT,
            "return_attn_probs": True,  # its name for LSE
        }

    def attend(self) -> tuple[Any, Any]:
        """O and LSE, see TensorLaunch."""
        q, k, v = (tensor.transpose(HEADS, ROWS) for tensor in self.tensors)
        output, lse, *_ = flash_attn_func(q, k, v, **self._options)
        return output.transpose(HEADS, ROWS), lse


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Bind the arrays, run once, and measure what it allocates.

    Raises:
        UnsupportedError: The library refuses the problem on this GPU; the text says why.
        MemoryError: It does not fit.
    """
    launch = FlashAttention3Launch(problem, inputs)
    try:
        launch.run()
        launch.measure(spec.workspace_bytes(problem, "cuda"))
    except RuntimeError as error:  # how its own checks refuse
        raise UnsupportedError(f"{spec.name} refuses the problem: {error}") from error
    finally:
        launch.release()
    launch.note = name_and_version("tokenspeed-fa3")
    return launch
