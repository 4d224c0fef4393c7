"""A forward pass that is a function of this process, of NumPy, CuPy or PyTorch arrays.

Idea: each run calls it once, with row-major arrays of the kind that the user has; what it returns is checked.
Limit: nothing tells what it allocates.
"""

from importlib import import_module
from typing import Any

from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.library.own.function import FunctionLaunch, own_of
from flashscope.kernels.library.own.module import keywords_of
from flashscope.kernels.own.functions import FunctionSpec
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs


def prepare(spec: FunctionSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Bind the function, which a run calls for the first time."""
    own, function, keywords = own_of(spec), spec.function, keywords_of(own_of(spec), problem, inputs)
    if own.arrays != "torch":
        return FunctionLaunch(own, problem, inputs, lambda: function(*inputs.qkv, **keywords))
    tensors: Any = import_module("flashscope.kernels.library.own.tensors")  # takes PyTorch
    given = tensors.tensors_among(keywords)
    launch: Launch = tensors.OwnTensorLaunch(own, problem, inputs, lambda *qkv: function(*qkv, **given))
    return launch
