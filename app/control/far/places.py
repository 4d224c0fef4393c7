"""What everything of the window can run on beside the devices at hand, and what of that runs on."""

from collections.abc import Callable
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flashscope.app.control.far.repeat_engine import RepeatEngine
from flashscope.app.words.far_devices import counted, kind_of
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.cluster.settings import Served
from flashscope.profiles.engine.contract import Engine
from flashscope.profiles.plan.machine import Gpu, Machine

if TYPE_CHECKING:  # it imports Dask
    from flashscope.profiles.cluster.devices import FarDevice

FEWEST = 2  # devices that a sweep can be split over
CPU_IS_ONE = (
    "This sweep is for the CPU, and {} are in use, which would share one; "
    "choose the CPU in the form's box first."
)
ONCE_EACH = (
    "Sweeps are repeated on each of {}, once a device; choose one device in the form's box, "
    "or split sweeps over several, first."
)


class DeviceGroup(NamedTuple):
    """Devices of one place that can measure together.

    Attributes:
        devices: At least two, in their order.
        host: The name of their machine; empty: this one.
        named: The connection file or address that leads there; empty: this machine.
        alike: Whether they are, as far as that is told, so that a sweep can be split over them.
    """

    devices: tuple[Served, ...]
    host: str = ""
    named: str = ""
    alike: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called."""
        return tuple(one.name for one in self.devices)


def groups_here(gpus: tuple[Gpu, ...]) -> list[DeviceGroup]:
    """The equal GPUs of this machine, kind by kind, and all of them where they differ."""
    served = [(one.name, Served(name=f"GPU {one.number}, {one.name}", gpu=one.uuid)) for one in gpus]
    return _groups(served, "", "")


def groups_there(named: str, devices: "tuple[FarDevice, ...]") -> list[DeviceGroup]:
    """The same of a host's devices that can be used from here."""
    usable = [one for one in devices if not one.obstacle]
    served = [(_kind(one), Served(name=one.name)) for one in usable]
    return _groups(served, usable[0].told.host if usable else "", named)


def _groups(served: list[tuple[str, Served]], host: str, named: str) -> list[DeviceGroup]:
    """Devices by their kinds, and all of them where there are several kinds."""
    groups = [DeviceGroup(devices, host, named) for devices in _alike(served)]
    if len({kind for kind, _ in served}) > 1:
        groups.append(DeviceGroup(tuple(one for _, one in served), host, named, alike=False))
    return groups


def _kind(device: "FarDevice") -> str:
    told = device.told
    return f"{kind_of(device.name)} {told.backend} {told.memory_bytes} {told.versions.driver}"


def _alike(served: list[tuple[str, Served]]) -> list[tuple[Served, ...]]:
    """The devices of each kind of which there are several."""
    ordered = sorted(served, key=lambda one: one[0])
    groups = [tuple(one for _, one in group) for _, group in groupby(ordered, key=lambda one: one[0])]
    return [group for group in groups if len(group) >= FEWEST]


class Wanted(NamedTuple):
    """What is to be taken of a host.

    Attributes:
        named: The connection file or address, as the user names it.
        devices: What the host calls the devices; none: the first that can be taken.
        held: Which devices of the host this window holds or held, each with the token that proves it.
        repeat: Whether each of several devices measures all of a sweep; else they share it.
    """

    named: str
    devices: tuple[str, ...] = ()
    held: tuple[tuple[str, str], ...] = ()
    repeat: bool = False

    @property
    def taken_over(self) -> tuple[str, ...]:
        """The wanted devices that this window holds itself."""
        return tuple(name for name, _ in self.held if name in self.devices)


class TakenDevices:
    """Devices that are held for this window: of another machine, or several of this one.

    Attributes:
        wanted: What was asked for.
        engine: What measures there.
        names: What the devices are called, in the order of their numbers.
        host: The name of their machine; empty: this one.
        held: By which token the host knows that each is this window's; none: they are this machine's.
        devices: All devices of the host, as they were when these were taken.
        look: Asks the host for its devices as they are now; takes seconds. None: it does not tell.

    Args:
        ends: What led there.
    """

    def __init__(
        self,
        wanted: Wanted,
        engine: Engine,
        names: tuple[str, ...],
        *,
        host: str = "",
        held: tuple[tuple[str, str], ...] = (),
        devices: "tuple[FarDevice, ...]" = (),
        look: "Callable[[], tuple[FarDevice, ...]]" = tuple,
        ends: ExitStack | None = None,
    ) -> None:
        self.wanted, self.engine, self.names = wanted, engine, names
        self.host, self.held, self.devices, self.look = host, held, devices, look
        self._ends = ends or ExitStack()

    @property
    def device(self) -> str:
        """What the device is called, or how many of which kind they are."""
        return counted(self.names)

    @property
    def several(self) -> bool:
        """Whether sweeps are split here, or repeated."""
        return len(self.names) >= FEWEST

    @property
    def options(self) -> tuple[str, ...]:
        """Those of `sweep` that have it measured here."""
        there = ("--connect", self.wanted.named) if self.wanted.named else ()
        spread = ("--spread", "repeat") if self.wanted.repeat else ()
        return (*there, "--devices", ",".join(name.partition(",")[0] for name in self.names), *spread)

    def why_not_on(self, backend: Backend, machine: Machine | None) -> str:
        """Why no sweep can be measured here, a sentence; empty: one can. `machine` is the first device's."""
        on_gpus = machine is not None and machine.device("cuda") is not None
        return CPU_IS_ONE.format(self.device) if self.several and on_gpus and backend == "cpu" else ""

    @property
    def why_not_again(self) -> str:
        """Why no sweep can be measured several times here, in a sentence; empty: one can."""
        return ONCE_EACH.format(self.device) if self.wanted.repeat else ""

    @property
    def files(self) -> tuple[Path, ...]:
        """Where sweeps are repeated, the files of the last, but the first device's."""
        return self.engine.files if isinstance(self.engine, RepeatEngine) else ()

    def close(self) -> None:
        """Give the devices back, and end what led to them; this takes some seconds."""
        self.engine.close()
        self._ends.close()
