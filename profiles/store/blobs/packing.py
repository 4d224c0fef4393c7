"""Large values in a file: packed by zlib, of which the arrays of timelines and padded tiles make little."""

import zlib
from typing import Any

import msgspec

from flashscope.profiles.store.schema import MAX_UNPACKED_BYTES, MAX_VALUE_BYTES

ZLIB = 0x78  # the first byte of what is packed; a map in msgpack never begins with it
LEVEL = 6


def packed(value: Any) -> bytes:
    """A value as a file has it; one that is too large for any file is left as it is, to be refused."""
    plain = msgspec.msgpack.encode(value)
    return plain if len(plain) > MAX_VALUE_BYTES else zlib.compress(plain, LEVEL)


def unpacked(blob: bytes) -> bytes:
    """What was packed, and no more of it than a value takes; older files have values that are not packed.

    Raises:
        ValueError: It is cut off, damaged, too large or not all that is there.
    """
    if not blob or blob[0] != ZLIB:
        return blob
    reading = zlib.decompressobj()
    try:
        told = reading.decompress(blob, MAX_VALUE_BYTES)
    except zlib.error as error:
        raise ValueError(f"a value that cannot be unpacked: {error}") from error
    if not reading.eof or reading.unused_data:
        raise ValueError("a packed value that is cut off, too large, or with more behind it")
    return told


class Unpacking:
    """Unpacks the values of one session, which together take no more than MAX_UNPACKED_BYTES."""

    def __init__(self) -> None:
        self._left = MAX_UNPACKED_BYTES

    def __call__(self, blob: bytes) -> bytes:
        """One more of them.

        Raises:
            ValueError: As `unpacked`; or it is too much with those before it.
        """
        told = unpacked(blob)
        self._left -= len(told)
        if self._left < 0:
            raise ValueError(f"values that take more than {MAX_UNPACKED_BYTES >> 20} MiB together")
        return told
