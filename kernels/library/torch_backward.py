"""The backward passes of PyTorch's scaled_dot_product_attention as peers of our ladder.

Idea: autograd runs the backward pass that belongs to the forward pass it recorded, so the backend is
forced, and observed, in a forward pass that runs once while this is prepared; each run is its backward pass
alone.
Limit: that of the forward passes (see `kernels.library.torch_attention`). The forward pass's own O and LSE
are kept beside those given.
"""

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.library.tensor_launch import TensorBackward
from flashscope.kernels.library.torch_attention import TorchLaunch, forced_by, note_of, observe, refuse
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Saved


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Bind the arrays, run forward once to see what PyTorch does with them, and measure what backward takes.

    Raises:
        UnsupportedError: The dispatcher refuses the problem, or would run another backend; the text says why.
        MemoryError: It does not fit.
    """
    refuse(spec, problem, saved.inputs)
    forced = forced_by(spec)
    forward = TorchLaunch(problem, saved.inputs, forced)
    launch = TensorBackward(forward, saved)
    launch.note = note_of(forced, observe(spec.name, forward, forced))
    launch.run()
    launch.measure(spec.backward.workspace_bytes(problem, "cpu") if spec.backward else 0)
    launch.release()
    return launch
