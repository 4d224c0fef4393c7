"""Large values in a file: packed by zlib, of which the arrays of timelines and padded tiles make little."""

import zlib
from typing import Any

import msgspec

from flashscope.profiles.store.schema import MAX_VALUE_BYTES

ZLIB = 0x78  # the first byte of what is packed; a map in msgpack never begins with it
LEVEL = 6


def packed(value: Any) -> bytes:
    """A value as a file has it; one that is too large for any file is left as it is, to be refused."""
    plain = msgspec.msgpack.encode(value)
    return plain if len(plain) > MAX_VALUE_BYTES else zlib.compress(plain, LEVEL)


def unpacked(blob: bytes) -> bytes:
    """What was packed, and no more of it than a value takes; older files have values that are not packed.

    Raises:
        ValueError: It is cut off, damaged or too large.
    """
    if not blob or blob[0] != ZLIB:
        return blob
    reading = zlib.decompressobj()
    try:
        told = reading.decompress(blob, MAX_VALUE_BYTES)
    except zlib.error as error:
        raise ValueError(f"a value that cannot be unpacked: {error}") from error
    if not reading.eof:
        raise ValueError("a packed value that is cut off, or too large")
    return told
