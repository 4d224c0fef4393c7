"""Whether devices are equal enough that the points of one sweep may be shared among them."""

from collections.abc import Sequence

from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.machine import Machine

GIB = 1 << 30
REMEDY = "measure all of it on each of them, to compare: --spread repeat"


def obstacle_to_sharing(members: Sequence[tuple[str, Machine]], backend: Backend) -> str:
    """Why a sweep cannot be shared among these devices, in one sentence; empty when it can.

    Args:
        members: What each device is called, and its machine.
        backend: Where kernels run.
    """
    for name, machine in members:
        if machine.device(backend) is None:
            return f"{name} has no usable GPU: {machine.why_no_gpu()}."
    first_name, first = members[0]
    for place, (name, machine) in enumerate(members[1:], 1):
        then, now = _words(first, backend), _words(machine, backend)
        if then != now:
            both = f"{first_name} is {then}, {name} is {now}"
            return f"A sweep is shared among equal devices alone, and {both}; {REMEDY}."
        for earlier, other in members[:place]:
            if (card := _card(machine, backend)) is not None and card == _card(other, backend):
                return f"{earlier} and {name} are one device, {card}; name it once."
    return ""


def _words(machine: Machine, backend: Backend) -> str:
    """What must be equal: the device's name, its memory and, of a GPU, its driver."""
    device = machine.device(backend)
    if device is None:
        return "no device"
    told = f"{device.name} with {device.memory_bytes / GIB:.2f} GiB"
    return told if backend == "cpu" else f"{told} and driver {machine.driver}"


def _card(machine: Machine, backend: Backend) -> str | None:
    device = machine.device(backend)
    return device.uuid if device is not None else None
