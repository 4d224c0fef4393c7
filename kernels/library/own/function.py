"""A forward pass in a Python function of the user's own, of NumPy, CuPy or PyTorch arrays.

Idea: the function is called as it stands, with the problem's tensors and the keywords that it takes; what it
returns is checked for kind, shape and dtype, then judged and timed as any kernel's.
Limit: it allocates in every run, which the allocator's peak shows, of PyTorch on a CPU its profiler.
"""

from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import Any

import numpy as np

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.library.own.module import called, function_of, keywords_of
from flashscope.kernels.library.own.results import forward_results
from flashscope.kernels.workload.arrays import array_module
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Run the user's file once a process, and bind its function.

    Raises:
        InputError: The file has changed or is gone.
        KernelError: It raised.
        MemoryError: Memory ran out.
    """
    own = own_of(spec)
    function, keywords = function_of(own, own.function), keywords_of(own, problem, inputs)
    if own.arrays == "torch":
        from flashscope.kernels.library.own.tensors import prepare_tensors  # noqa: PLC0415 - takes PyTorch

        return prepare_tensors(own, problem, inputs, function, keywords)
    handed = HandedArrays()
    return FunctionLaunch(own, problem, inputs, lambda: function(*handed.of(inputs.qkv), **keywords))


def own_of(spec: KernelSpec) -> OwnKernel:
    """What a kernel of the user's own declares.

    Raises:
        UnsupportedError: It is none.
    """
    if spec.own is None:
        raise UnsupportedError(f"{spec.name} is no kernel from a file of one's own.")
    return spec.own


class FunctionLaunch:
    """A function of NumPy or CuPy arrays bound to its arguments; it allocates anew in every run.

    Attributes:
        workspace_bytes: 0: it holds nothing between runs.
        note: Empty.
    """

    def __init__(self, own: OwnKernel, problem: Problem, inputs: Inputs, call: Callable[[], Any]) -> None:
        self.workspace_bytes, self.note = 0, ""
        self._own, self._problem, self._inputs, self._call = own, problem, inputs, call
        self._results: tuple[Any, Any] = (None, None)

    @property
    def output(self) -> Any:
        """O of the newest run, row-major; None before the first."""
        return row_major(self._results[0])

    @property
    def lse(self) -> Any:
        """LSE of the newest run, None before the first and where the function returns none."""
        return row_major(self._results[1])

    def run(self) -> None:
        """Call the function once.

        Raises:
            KernelError: It raised, or returned something else than O, or O and LSE.
            MemoryError: Memory ran out.
        """
        self._results = (None, None)  # their memory is free to be used again
        self._results = forward_results(self._own, self._problem, called(self._own, self._call))


class HandedArrays:
    """What a function is given: our memory in arrays of its own, whose shape and flags it may set.

    They are the same objects from call to call, but for those that it gave another shape or dtype.
    """

    def __init__(self) -> None:
        self._pairs: list[tuple[Any, Any]] = []

    def of(self, arrays: Iterable[Any]) -> list[Any]:
        """A view of each array; None for None."""
        self._pairs = [
            pair if pair is not None and pair[0] is array and _alike(*pair) else (array, _view(array))
            for array, pair in zip_longest(arrays, self._pairs)
        ]
        return [view for _, view in self._pairs]


def _alike(array: Any, view: Any) -> bool:
    return array is None or (array.shape, array.strides, array.dtype) == (
        view.shape,
        view.strides,
        view.dtype,
    )


def _view(array: Any) -> Any:
    return None if array is None else array.view()


def row_major(array: Any) -> Any:
    """The array without gaps, itself where it has none and can be written to; None for None."""
    if isinstance(array, np.ndarray):
        return np.require(array, requirements=("C", "W"))
    return None if array is None else array_module(array).ascontiguousarray(array)
