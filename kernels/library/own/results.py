"""What a function of the user's own returned, before it is believed: kinds, shapes and dtypes."""

import sys
from typing import Any

from flashscope.kernels.catalogue.own_kernel import ArrayKind, OwnKernel
from flashscope.kernels.workload.errors import KernelError
from flashscope.kernels.workload.problem import Problem

FORWARD = "it returns O, or O and LSE"
BACKWARD = "it returns dQ, dK and dV"
KINDS: dict[ArrayKind, tuple[str, str]] = {
    "numpy": ("numpy", "ndarray"),
    "cupy": ("cupy", "ndarray"),
    "torch": ("torch", "Tensor"),
}


def forward_results(own: OwnKernel, problem: Problem, returned: Any) -> tuple[Any, Any]:
    """O and LSE of what a forward pass returned; LSE None where it returned none.

    Raises:
        KernelError: It is anything else; the text says what was returned and what it is to be.
    """
    output, lse = returned if isinstance(returned, tuple | list) and len(returned) == 2 else (returned, None)  # noqa: PLR2004 - O and LSE
    _check(own, "O", output, (problem.o_shape, problem.dtype), FORWARD)
    if lse is not None:
        _check(own, "LSE", lse, (problem.q_shape[:3], "float32"), FORWARD)
    return output, lse


def backward_results(own: OwnKernel, problem: Problem, returned: Any) -> tuple[Any, Any, Any]:
    """The gradients of what a backward pass returned.

    Raises:
        KernelError: It is anything else; the text says what was returned and what it is to be.
    """
    if not isinstance(returned, tuple | list) or len(returned) != 3:  # noqa: PLR2004 - dQ, dK and dV
        raise KernelError(f"{own.name}: {own.backward} returned {_told(returned)}; {BACKWARD}.")
    shapes = (problem.q_shape, problem.k_shape, problem.v_shape)
    for name, array, shape in zip(("dQ", "dK", "dV"), returned, shapes, strict=True):
        _check(own, name, array, (shape, problem.dtype), BACKWARD)
    return returned[0], returned[1], returned[2]


def _check(own: OwnKernel, what: str, array: Any, wanted: tuple[tuple[int, ...], str], contract: str) -> None:
    shape, dtype = wanted
    module, name = KINDS[own.arrays]
    if type(array) is not getattr(sys.modules.get(module), name, None):  # a subclass may compute later
        remedy = f"{what} must be a {module}.{name} of shape {shape} in {dtype}"
        raise KernelError(f"{own.name} returned {_told(array)} for {what}; {remedy} ({contract}).")
    if tuple(array.shape) != shape:
        raise KernelError(
            f"{own.name} returned {what} of shape {tuple(array.shape)}; it must be {shape} ({contract})."
        )
    found = str(array.dtype).removeprefix("torch.")
    if found != dtype:
        raise KernelError(f"{own.name} returned {what} in {found}; it must be in {dtype}.")


def _told(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__module__}.{type(value).__qualname__}".replace("builtins.", "")
