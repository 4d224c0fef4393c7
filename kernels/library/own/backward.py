"""A backward pass in a Python function of the user's own, of NumPy, CuPy or PyTorch arrays.

Idea: the second function of the user's file is called with Q, K, V, O, LSE and dO, and returns dQ, dK and dV.
Limit: as that of the forward pass (see `kernels.library.own.function`).
"""

from collections.abc import Callable
from typing import Any

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.library.own.function import HandedArrays, own_of, row_major
from flashscope.kernels.library.own.module import called, function_of, keywords_of
from flashscope.kernels.library.own.results import backward_results
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients, Saved


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Bind the user's second function.

    Raises:
        InputError: The file has changed or is gone.
        KernelError: It raised, or returned something else than dQ, dK and dV.
        MemoryError: Memory ran out.
    """
    own = own_of(spec)
    function, keywords = function_of(own, own.backward), keywords_of(own, problem, saved.inputs)
    if own.arrays == "torch":
        from flashscope.kernels.library.own.tensors import prepare_backward_tensors  # noqa: PLC0415 - PyTorch

        return prepare_backward_tensors(own, problem, saved, function, keywords)
    handed = HandedArrays()
    return FunctionBackward(own, problem, saved, lambda *given: function(*handed.of(given), **keywords))


class FunctionBackward:
    """A function of NumPy or CuPy arrays bound to what it is given; it allocates anew in every run.

    Attributes:
        workspace_bytes: As of `FunctionLaunch`.
        note: Empty.
    """

    def __init__(self, own: OwnKernel, problem: Problem, saved: Saved, call: Callable[..., Any]) -> None:
        self.workspace_bytes, self.note = 0, ""
        self._own, self._problem, self._saved, self._call = own, problem, saved, call
        self._results: tuple[Any, Any, Any] = (None, None, None)

    @property
    def gradients(self) -> Gradients:
        """Those of the newest run, row-major; None each before there are any."""
        return Gradients(*map(row_major, self._results))

    def renew(self, output: Any, lse: Any) -> None:
        """Go on from these O and LSE."""
        self._saved = self._saved._replace(output=output, lse=lse)

    def run(self) -> None:
        """Call the function once.

        Raises:
            KernelError: It raised, or returned something else than dQ, dK and dV.
            MemoryError: Memory ran out.
        """
        self._results = (None, None, None)
        self._results = backward_results(
            self._own, self._problem, called(self._own, lambda: self._call(*self._saved))
        )
