"""What a user says of devices. Imports nothing of Dask."""

from typing import Literal

ALL: Literal["all"] = "all"
MOST = 64  # devices of one host

DeviceWords = Literal["all"] | int | tuple[str, ...]
"""All devices of each host, the first so many of each, or those of these names."""


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
