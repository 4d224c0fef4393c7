"""A backward pass that is a function of this process, of NumPy, CuPy or PyTorch arrays.

Idea: each run calls it once, with Q, K, V, O, LSE and dO, and it returns dQ, dK and dV.
Limit: as that of the forward pass (see `kernels.library.own.callable`).
"""

from importlib import import_module
from typing import Any

from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.library.own.backward import FunctionBackward
from flashscope.kernels.library.own.function import own_of
from flashscope.kernels.library.own.module import keywords_of
from flashscope.kernels.own.functions import FunctionSpec
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Saved


def prepare(spec: FunctionSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Bind the function, which a run calls for the first time."""
    own, function = own_of(spec), spec.function
    keywords = keywords_of(own, problem, saved.inputs)
    if own.arrays != "torch":
        return FunctionBackward(own, problem, saved, lambda *given: function(*given, **keywords))
    tensors: Any = import_module("flashscope.kernels.library.own.tensors")  # takes PyTorch
    launch: BackwardLaunch = tensors.OwnTensorBackward(
        own, problem, saved, lambda *given: function(*given, **keywords)
    )
    return launch
