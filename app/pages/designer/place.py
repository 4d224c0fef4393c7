"""Where the Designer compiles and times: on this machine, also while all else runs on another."""

from flashscope.app.control.controller import Controller
from flashscope.app.pages.designer.cards import Named, shown_card
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.profiles.plan.machine import Machine

HERE = "Cuts are compiled and timed on this machine, not on {}."


def machine_here(controller: Controller) -> Machine | None:
    """This machine, where cuts run, also while all else runs on another; None: nobody has looked yet."""
    devices = controller.devices
    return controller.machine if devices.place is None else devices.here


def is_here(controller: Controller, card: GpuCard) -> bool:
    """Whether a card is this machine's."""
    machine = machine_here(controller)
    device = machine.device("cuda") if machine else None
    return device is not None and shown_card(device) == card


def found_gpus(controller: Controller) -> tuple[Named, ...]:
    """The GPU in use, and this machine's."""
    here, there = machine_here(controller), controller.machine
    found = (("this machine", here), *([(there.host, there)] if there and _host(controller) else []))
    return tuple((where, machine.device("cuda")) for where, machine in reversed(found) if machine)


def where_words(controller: Controller) -> str:
    """That cuts run here, while all else runs on another machine; empty: nothing does."""
    return HERE.format(host) if (host := _host(controller)) else ""


def _host(controller: Controller) -> str:
    """The other machines that are in use; empty: none is."""
    place = controller.devices.place
    return place.host if place is not None else ""
