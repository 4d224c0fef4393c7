"""Devices of other machines, and several of one, in words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.units import bytes_text
from flashscope.profiles.cluster.calls import Versions
from flashscope.profiles.cluster.connection import SUFFIX
from flashscope.profiles.cluster.settings import ON, Served

if TYPE_CHECKING:  # it imports Dask
    from flashscope.profiles.cluster.client.devices import FarDevice

MOST_HOSTS = 2  # that are told by name


def kind_of(name: str) -> str:
    """What a device is by what its host calls it: of `GPU 0, NVIDIA H100` what stands behind the number."""
    number, _, kind = name.partition(", ")
    return kind or number.partition(ON)[0].rstrip(" 0123456789")


def name_on(name: str, host: str) -> str:
    """What a device is called among those of several hosts: `GPU 0 on lab, NVIDIA H100`."""
    served = Served(name=name)
    return name if served.joined else served.on(host).name


def host_labels(hosts: Mapping[str, str]) -> dict[str, str]:
    """What each host is called, by what leads there: as its machine, or if several are called so, by that."""
    often = Counter(hosts.values())
    return {
        named: host if often[host] == 1 else Path(named).name.removesuffix(SUFFIX)
        for named, host in hosts.items()
    }


def hosts_text(hosts: Sequence[str]) -> str:
    """Machines by name, of more than two how many there are."""
    return " and ".join(filter(None, hosts)) if len(hosts) <= MOST_HOSTS else f"{len(hosts)} hosts"


def counted(names: Sequence[str]) -> str:
    """The name of a device; of several how many there are, of equal ones of which kind: `2 × NVIDIA H100`."""
    if len(names) == 1:
        return names[0]
    kinds = {kind_of(name) for name in names}
    return f"{len(names)} × {kinds.pop()}" if len(kinds) == 1 else f"{len(names)} devices"


def place_text(names: Sequence[str], host: str) -> str:
    """Devices with their machine."""
    return " · ".join(filter(None, (counted(names), host)))


def short_name(name: str) -> str:
    """What a device is called without its kind: `GPU 0`."""
    return name.partition(",")[0]


def device_words(device: "FarDevice", host: str) -> str:
    """A device with what its host is called, its memory, and who has it or why it cannot be used."""
    told = device.told
    memory = bytes_text(told.memory_bytes) if told.memory_bytes else ""
    state = "cannot be used" if device.obstacle else f"held by {told.holder}" if told.holder else ""
    return " · ".join(filter(None, (cut_short(device.name, MOST_OF_NAME), host, memory, state)))


def versions_words(versions: Versions) -> str:
    """Of what a host is made, as far as it tells."""
    named = {
        "Flashscope": versions.flashscope,
        "Python": versions.python,
        "distributed": versions.distributed,
        "CuPy": versions.cupy,
        "driver": versions.driver,
    }
    return ", ".join(f"{name} {version}" for name, version in named.items() if version)
