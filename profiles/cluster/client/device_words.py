"""What a user says of devices, and which are meant by that. Imports nothing of Dask."""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeVar

ALL: Literal["all"] = "all"
MOST = 64  # devices of one host

DeviceWords = Literal["all"] | int | tuple[str, ...]
"""All devices of each host, the first so many of each, or those of these names."""


class NamedDevice(Protocol):
    """A device that can be meant."""

    @property
    def name(self) -> str:
        """What it is called among all."""

    @property
    def gpu(self) -> str:
        """A GPU's UUID; empty: it is none."""

    def is_called(self, word: str) -> bool:
        """Whether a word means it."""


DeviceT = TypeVar("DeviceT", bound=NamedDevice)


class UnknownDeviceError(Exception):
    """No such device is there; the text is a sentence with those that are."""


def read_devices(text: str) -> DeviceWords:
    """What is meant by `all`, a number, or names with commas between them.

    Raises:
        ValueError: Nothing is.
    """
    if text == ALL:
        return ALL
    if text.isascii() and text.isdecimal():
        if not 0 < int(text[:4]) <= MOST or len(text) > 4:  # noqa: PLR2004 - digits
            raise ValueError(f"{text[:40]!r} is no number of devices from 1 to {MOST}")
        return int(text)
    names = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    if not all(names):
        raise ValueError(f"{text[:40]!r} is neither {ALL}, a number, nor names of devices as GPU 0,GPU 2")
    return names


def meant_devices(hosts: Sequence[Sequence[DeviceT]], words: DeviceWords) -> list[DeviceT]:
    """The devices of these hosts that are meant, each once: host by host, or in the order of the words.

    Raises:
        UnknownDeviceError: A host has fewer, or no device has that name.
    """
    if isinstance(words, int):
        for one in hosts:
            if len(one) < words:
                raise UnknownDeviceError(
                    f"{words} devices are wanted, and there are {len(one)}: {_told(one)}."
                )
        return [device for one in hosts for device in one[:words]]
    everything = [device for one in hosts for device in one]
    if words == ALL:
        return everything
    found: list[DeviceT] = []
    for word in words:
        meant = [device for device in everything if device.is_called(word)]
        if not meant:
            raise UnknownDeviceError(f"No device is called {word!r}; there are {_told(everything)}.")
        found += [device for device in meant if device not in found]
    return found


def _told(devices: Sequence[NamedDevice]) -> str:
    return "; ".join(f"{one.name} ({one.gpu})" if one.gpu else one.name for one in devices)
