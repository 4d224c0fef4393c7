"""Takes a child's messages out of the bytes of its pipe, and never waits for the rest of one."""

import struct
from collections.abc import Iterator

from flashscope.profiles.wire.messages import MAX_MESSAGE_BYTES, Message, decode_message

HEADER = struct.Struct("!i")  # how multiprocessing's Connection heads each message: its length


class MalformedError(Exception):
    """What arrived is no message; the text says why, as a clause."""


class Frames:
    """Bytes that arrived in pieces, and the messages that they make."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    @property
    def partial(self) -> bool:
        """Whether a message has begun whose end has not arrived."""
        return bool(self._bytes)

    def add(self, data: bytes) -> None:
        """Take in what was read."""
        self._bytes += data

    def messages(self) -> Iterator[Message]:
        """Every message that is whole, once.

        Raises:
            MalformedError: What follows is none; nothing after it can be read.
        """
        while len(self._bytes) >= HEADER.size:
            (size,) = HEADER.unpack_from(self._bytes)
            if not 0 <= size <= MAX_MESSAGE_BYTES:
                raise MalformedError(f"its length is said to be {size:,} bytes")
            end = HEADER.size + size
            if len(self._bytes) < end:
                return
            frame = bytes(self._bytes[HEADER.size : end])
            del self._bytes[:end]
            yield _decoded(frame)


def _decoded(frame: bytes) -> Message:
    try:
        message: Message = decode_message(frame)
    except Exception as error:  # whatever a validator makes of bytes that may be anything
        raise MalformedError(f"{type(error).__name__}: {error}") from error
    return message
