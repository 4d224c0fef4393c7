"""From the arrays of a whole problem to what each rank owns of them, and back."""

from typing import Any

from flashscope.kernels.context_parallel.rank import Owned
from flashscope.kernels.context_parallel.schemes import Partition
from flashscope.kernels.workload.arrays import array_module
from flashscope.kernels.workload.tensors import Inputs


def cut(partition: Partition, inputs: Inputs, grad_output: Any = None) -> list[Owned]:
    """What each rank owns, copied."""
    owned = []
    for held in partition.holdings:
        q, k, v, grad = (
            None if array is None else taken(array, stretches)
            for array, stretches in (
                (inputs.q, held.rows),
                (inputs.k, held.keys),
                (inputs.v, held.keys),
                (grad_output, held.rows),
            )
        )
        owned.append(Owned(q, k, v, grad))
    return owned


def taken(array: Any, stretches: tuple[range, ...]) -> Any:
    """Stretches of an array's third axis, one behind the other."""
    parts = [array[:, :, one.start : one.stop] for one in stretches]
    return array_module(array).concatenate(parts, axis=2)
