"""Devices of other machines, in words."""

from typing import TYPE_CHECKING

from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.units import bytes_text
from flashscope.profiles.cluster.calls import Versions

if TYPE_CHECKING:  # it imports Dask
    from flashscope.profiles.cluster.devices import FarDevice


def device_words(device: "FarDevice") -> str:
    """A device with its host, its memory, and who has it or why it cannot be used."""
    told = device.told
    memory = bytes_text(told.memory_bytes) if told.memory_bytes else ""
    state = "cannot be used" if device.obstacle else f"held by {told.holder}" if told.holder else ""
    return " · ".join(filter(None, (cut_short(device.name, MOST_OF_NAME), told.host, memory, state)))


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
