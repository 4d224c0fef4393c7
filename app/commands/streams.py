"""The standard streams, made fit for whatever they lead to: closed, full, broken, or short of characters."""

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class LossyFile(io.FileIO):
    """A file that takes everything: what cannot be written is lost, and stops nobody."""

    def write(self, data: "ReadableBuffer") -> int:
        """Write, or do as if."""
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))


class AbandonedFile(io.FileIO):
    """A file whose reader may leave: what is written from then on is lost, as `head` means it to be."""

    def write(self, data: "ReadableBuffer") -> int:
        """Write, or do as if where nobody reads.

        Raises:
            OSError: It cannot be written for any other reason.
        """
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(memoryview(data))


def steady() -> None:
    """Let what happens to stderr harm nothing, and characters that a stream cannot show be escaped.

    A stdout that is closed is one that cannot be written, so that whoever prints hears of it.
    """
    _fill_gaps()
    encoding = getattr(sys.stderr, "encoding", None)
    lossy = io.BufferedWriter(LossyFile(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(lossy, encoding, "backslashreplace", line_buffering=True)
    encoding = getattr(sys.stdout, "encoding", "utf-8")
    abandoned = io.BufferedWriter(AbandonedFile(1, "w", closefd=False))
    sys.stdout = io.TextIOWrapper(abandoned, encoding, "backslashreplace", line_buffering=abandoned.isatty())


def forget_output() -> None:
    """Drop what waits to be written to stdout, which could not be."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _fill_gaps() -> None:
    """Open the descriptors that were closed: a file of ours would get their numbers, and what is printed."""
    for number, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        opened = os.open(os.devnull, flags)  # the lowest number that is free
        if opened != number:
            os.close(opened)
