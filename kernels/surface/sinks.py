"""The gradient of sinks, from what both passes leave."""

from typing import Any, TypeVar

from flashscope.kernels.launching.axes import AxisOrder, LayoutName, order_named, written
from flashscope.kernels.surface.callers import caller_of
from flashscope.kernels.surface.options import ArrayLike
from flashscope.kernels.workload.arrays import array_module
from flashscope.kernels.workload.errors import InputError

A = TypeVar("A", bound=ArrayLike)


def sink_gradient(sinks: A, output: A, lse: A, grad_output: A, *, layout: LayoutName = "bhnd") -> A:
    """The gradient with respect to the sinks of `attention`, beside `attention_backward`.

    In each row a sink has a weight, exp(sink - LSE), and no value: the derivative of the softmax leaves minus
    that weight times delta, the row's sum of O dO, summed over all rows of the head. A kernel's launches have
    no part in it: it is computed in float32 by NumPy, or by CuPy where the arrays are on a GPU.

    Args:
        sinks: float32 (heads,), as `attention` took them.
        output: O as it returned it, in the layout.
        lse: LSE as it returned it, float32.
        grad_output: dO, like `output`.
        layout: As in `attention`.

    Returns:
        float32 (heads,), of the kind of `sinks`.

    Raises:
        InputError: The arrays are not what is accepted; the text says what is.
    """
    order = order_named(layout)
    given = {"sinks": sinks, "output": output, "lse": lse, "grad_output": grad_output}
    caller = caller_of(given)
    with caller.here():
        logits, o, row_lse, grad = (caller.borrow(name, array) for name, array in given.items())
        if o.ndim != len(order.axes) or grad.shape != o.shape:
            raise InputError(
                f"output and grad_output must have one shape {written(order.axes)}, not {o.shape} and "
                f"{grad.shape}."
            )
        heads, shape = order.size(o, "heads"), order.lse_shape(o)
        if logits.shape != (heads,) or row_lse.shape != shape:
            raise InputError(
                f"sinks must be ({heads},) and lse {written(order.lse)} = {shape}, not {logits.shape} and "
                f"{row_lse.shape}."
            )
        delta = _delta(o, grad, order)
        found: A = caller.give_back(_summed(logits, row_lse, delta, order.lse.index("heads")))
        return found


def _delta(output: Any, grad_output: Any, order: AxisOrder) -> Any:
    """The sum of O dO of each row, float32, in the shape of LSE."""
    delta = (output.astype("float32") * grad_output.astype("float32")).sum(axis=-1)
    return delta if order.place("heads") == order.lse.index("heads") else delta.swapaxes(-1, -2)


def _summed(sinks: Any, lse: Any, delta: Any, heads: int) -> Any:
    """Over all rows; `heads`: the axis of heads of an LSE. Padding, whose LSE is -inf, adds nothing."""
    xp = array_module(lse)
    of_heads = sinks.reshape((-1,) + (1,) * (lse.ndim - 1 - heads))
    weight = xp.where(xp.isneginf(lse), 0, xp.exp(of_heads - lse))
    rows = tuple(axis for axis in range(lse.ndim) if axis != heads)
    return -(weight * delta).sum(axis=rows, dtype="float32")
