"""Where the Designer compiles and times: on the device in use, here or on another machine, as all else."""

from flashscope.app.control.controller import Controller
from flashscope.app.pages.designer.cards import Named, shown_card
from flashscope.kernels.cuda.reading.cards import GpuCard


def is_in_use(controller: Controller, card: GpuCard) -> bool:
    """Whether a card is that of the machine in use."""
    device = controller.machine.device("cuda") if controller.machine else None
    return device is not None and shown_card(device) == card


def found_gpus(controller: Controller) -> tuple[Named, ...]:
    """The GPU in use, and this machine's where that is another's."""
    devices, machine = controller.devices, controller.machine
    host = devices.place.host if devices.place is not None else ""
    found = [(host or "this machine", machine), *([("this machine", devices.here)] if host else [])]
    return tuple((where, one.device("cuda")) for where, one in found if one)
