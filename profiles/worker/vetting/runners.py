"""What runs kernels, loaded before any code of the user's own.

Who loads a module first may change what is in it before anybody looks: see `ProcessState`.
"""

from collections.abc import Sequence
from importlib import import_module

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.spec import KernelSpec, installed
from flashscope.kernels.own.spec import FUNCTION, FUNCTION_BACKWARD
from flashscope.kernels.workload.problem import Backend

TENSORS = "flashscope.kernels.library.own.tensors"


def load_runners(specs: Sequence[KernelSpec], own: Sequence[OwnKernel], backend: Backend) -> None:
    """Load what runs the user's functions, and the kernels that they may be measured beside.

    Libraries that these wrap are left alone, but for the one whose tensors the user's functions take.
    """
    ours = f"flashscope.kernels.{backend}."
    passes = [one for spec in specs for one in (spec, spec.backward) if one is not None]
    named = [one.implementation.get(backend, "") for one in passes]
    modules = [FUNCTION, FUNCTION_BACKWARD, *(one for one in named if one.startswith(ours))]
    if any(one.arrays == "torch" for one in own) and installed("torch"):
        modules.append(TENSORS)
    for module in dict.fromkeys(modules):
        import_module(module)
