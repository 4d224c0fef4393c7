"""The backward pass of flash-attn-4 as a peer of our ladder.

Idea: as `kernels.library.torch_backward`: its forward pass runs once while this is prepared, and each run
is the backward pass that it left to autograd.
Limit: that of `kernels.library.flash_attention_4`.
"""

import warnings

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.library.flash_attention import name_and_version
from flashscope.kernels.library.flash_attention_4 import FlashAttention4Launch
from flashscope.kernels.library.tensor_launch import TensorBackward
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Saved


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Bind the arrays, compile by running both passes once, and measure what backward allocates.

    Raises:
        UnsupportedError: flash-attn-4 refuses the problem on this GPU; the text says why.
        MemoryError: It does not fit.
    """
    forward = FlashAttention4Launch(problem, saved.inputs)
    launch = TensorBackward(forward, saved)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its own insides, while it compiles
            forward.run()
            launch.run()
        launch.measure(spec.backward.workspace_bytes(problem, "cuda") if spec.backward else 0)
    except (AssertionError, NotImplementedError) as error:  # how its own checks refuse
        raise UnsupportedError(f"flash-attn-4 refuses the problem: {error}") from error
    launch.release()
    launch.note = name_and_version("flash-attn-4")
    return launch
