"""What everything of the window can run on beside the devices at hand, and what of that runs on."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flashscope.app.control.far.repeat_engine import RepeatEngine
from flashscope.app.words.devices.far_devices import (
    counted,
    host_labels,
    hosts_text,
    kind_of,
    name_on,
    short_name,
)
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.cluster.connection import Connection
from flashscope.profiles.engine.contract import Engine
from flashscope.profiles.plan.machine import Gpu, Machine

if TYPE_CHECKING:  # it imports Dask
    from flashscope.profiles.cluster.client.devices import FarDevice

FEWEST = 2  # devices that a sweep can be split over
CPU_IS_ONE = (
    "This sweep is for the CPU, and {} are in use, which would share one; "
    "choose the CPU in the form's box first."
)
ONCE_EACH = (
    "Sweeps are repeated on each of {}, once a device; choose one device in the form's box, "
    "or split sweeps over several, first."
)


class HostDevices(NamedTuple):
    """Devices of one machine that are wanted, or taken.

    Attributes:
        named: The connection file or address that leads there; empty: this machine.
        devices: What they are called there; none: the first that can be taken.
        host: What the machine is called; empty: this one, or nobody has asked yet.
        held: Which devices of it this window holds or held, each with the token that proves it.
    """

    named: str = ""
    devices: tuple[str, ...] = ()
    host: str = ""
    held: tuple[tuple[str, str], ...] = ()

    @property
    def taken_over(self) -> tuple[str, ...]:
        """The wanted devices that this window holds itself."""
        return tuple(name for name, _ in self.held if name in self.devices)

    @property
    def stays(self) -> bool:
        """Whether they are those that this window holds there."""
        return {*self.devices} == {name for name, _ in self.held}


class Wanted(NamedTuple):
    """What is to be taken, or is.

    Attributes:
        hosts: The devices of each machine.
        repeat: Whether each of several devices measures all of a sweep; else they share it.
    """

    hosts: tuple[HostDevices, ...]
    repeat: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What the devices are called; where they are of several hosts, with these."""
        if len(self.hosts) == 1:
            return self.hosts[0].devices
        return tuple(name_on(name, one.host) for one in self.hosts for name in one.devices)

    @property
    def host(self) -> str:
        """What their machines are called; empty: this one alone."""
        return hosts_text([one.host for one in self.hosts])

    @property
    def named(self) -> str:
        """What leads there, for others to read."""
        return " and ".join(one.named for one in self.hosts)

    @property
    def bare(self) -> "Wanted":
        """The same but for what is found out on the way."""
        return self._replace(hosts=tuple(HostDevices(one.named, one.devices) for one in self.hosts))

    def at(self, named: str) -> HostDevices | None:
        """What is wanted of a host; None: nothing."""
        return next((one for one in self.hosts if one.named == named), None)

    def of(self, named: Collection[str]) -> "Wanted":
        """What is wanted of these hosts alone."""
        return self._replace(hosts=tuple(one for one in self.hosts if one.named in named))


class GroupDevice(NamedTuple):
    """A device that can measure together with others.

    Attributes:
        name: What it is called on its machine.
        kind: What must be equal for a sweep to be shared, as far as it is told.
        gpu: A GPU's UUID; empty: it is none, or is not known.
        named: The connection file or address that leads to it; empty: it is this machine's.
        host: What its machine is called; empty: this one.
    """

    name: str
    kind: str
    gpu: str = ""
    named: str = ""
    host: str = ""


class DeviceGroup(NamedTuple):
    """Devices of one machine, or of several hosts, that can measure together.

    Attributes:
        devices: At least two, in their order.
        alike: Whether they are, as far as that is told, so that a sweep can be split over them.
    """

    devices: tuple[GroupDevice, ...]
    alike: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called; where they are of several hosts, with these."""
        return self.wanted().names

    @property
    def host(self) -> str:
        """What their machines are called; empty: this one."""
        return self.wanted().host

    def wanted(self, *, repeat: bool = False) -> Wanted:
        """All of them."""
        by_host: dict[tuple[str, str], list[str]] = {}
        for one in self.devices:
            by_host.setdefault((one.named, one.host), []).append(one.name)
        hosts = (HostDevices(named, tuple(names), host) for (named, host), names in by_host.items())
        return Wanted(tuple(hosts), repeat)


def groups_here(gpus: tuple[Gpu, ...]) -> list[DeviceGroup]:
    """The equal GPUs of this machine, kind by kind, and all of them where they differ."""
    return list(_groups([GroupDevice(f"GPU {one.number}, {one.name}", one.name, one.uuid) for one in gpus]))


def groups_there(seen: "Mapping[str, tuple[FarDevice, ...]]") -> list[DeviceGroup]:
    """The same of the devices of each host that can be used from here, then those of several hosts."""
    labels = labels_of(seen)
    hosts = [
        [
            GroupDevice(one.name, _kind(one), one.gpu, named, labels[named])
            for one in found
            if not one.obstacle
        ]
        for named, found in seen.items()
    ]
    groups = [group for devices in hosts for group in _groups(devices)]
    spread = _groups([one for devices in hosts for one in devices])
    return groups + [group for group in spread if len(group.wanted().hosts) > 1]


def labels_of(seen: "Mapping[str, tuple[FarDevice, ...]]") -> dict[str, str]:
    """What each host is called, by what leads there."""
    return host_labels({named: found[0].told.host if found else "" for named, found in seen.items()})


def _groups(devices: list[GroupDevice]) -> Iterator[DeviceGroup]:
    """Devices by their kinds, and all of them where there are several kinds."""
    ordered = sorted(devices, key=lambda one: one.kind)
    for _, alike in groupby(ordered, key=lambda one: one.kind):
        if len(group := tuple(alike)) >= FEWEST:
            yield DeviceGroup(group)
    if len({one.kind for one in devices}) > 1:
        yield DeviceGroup(tuple(devices), alike=False)


def _kind(device: "FarDevice") -> str:
    told = device.told
    return f"{kind_of(device.name)} {told.backend} {told.memory_bytes} {told.versions.driver}"


class HostTie(NamedTuple):
    """What leads to a host while devices of it are in use.

    Attributes:
        connection: Where it is.
        ends: What ends the way there.
    """

    connection: Connection
    ends: ExitStack


class TakenDevices:
    """Devices that are held for this window: of other machines, or several of this one.

    Attributes:
        wanted: What was taken.
        engine: What measures there.
        ties: What leads to each host, by what the user called it.
        found: All devices of each host, as they were when these were taken.
    """

    def __init__(
        self,
        wanted: Wanted,
        engine: Engine,
        ties: Mapping[str, HostTie] | None = None,
        found: "Mapping[str, tuple[FarDevice, ...]] | None" = None,
    ) -> None:
        self.wanted, self.engine = wanted, engine
        self.ties, self.found = dict(ties or {}), dict(found or {})

    @property
    def names(self) -> tuple[str, ...]:
        """What the devices are called, in the order of their numbers."""
        return self.wanted.names

    @property
    def host(self) -> str:
        """What their machines are called; empty: this one."""
        return self.wanted.host

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
        hosts = [word for one in self.wanted.hosts if one.named for word in ("--connect", one.named)]
        words = dict.fromkeys(self._words())
        chosen = ("--devices", ",".join(words)) if words else ()
        return (*hosts, *chosen, *(("--spread", "repeat") if self.wanted.repeat else ()))

    def _words(self) -> Iterable[str]:
        """What chooses the devices on a command line; none where all of several hosts are meant."""
        hosts = self.wanted.hosts
        if len(hosts) == 1:
            return map(short_name, hosts[0].devices)
        offered = [(one, device) for one in hosts for device in self.found[one.named]]
        chosen = [device for one, device in offered if device.name in one.devices]
        return () if len(chosen) == len(offered) else (one.gpu or short_name(one.name) for one in chosen)

    def why_not_on(self, backend: Backend, machine: Machine | None) -> str:
        """Why no sweep can be measured here, a sentence; empty: one can. `machine` is the first device's."""
        share_one = any(len(one.devices) >= FEWEST for one in self.wanted.hosts)
        on_gpus = machine is not None and machine.device("cuda") is not None
        return CPU_IS_ONE.format(self.device) if share_one and on_gpus and backend == "cpu" else ""

    @property
    def why_not_again(self) -> str:
        """Why no sweep can be measured several times here, in a sentence; empty: one can."""
        return ONCE_EACH.format(self.device) if self.wanted.repeat else ""

    @property
    def files(self) -> tuple[Path, ...]:
        """Where sweeps are repeated, the files of the last, but the first device's."""
        return self.engine.files if isinstance(self.engine, RepeatEngine) else ()

    def close(self, kept: Collection[HostTie] = ()) -> None:
        """Give the devices back, and end what led to them but those ways; this takes some seconds."""
        self.engine.close()
        for tie in self.ties.values():
            if tie not in kept:
                tie.ends.close()
