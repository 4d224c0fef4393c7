"""Lines that commands print: what was asked for on stdout, what happens meanwhile on stderr."""

import sys
from typing import Any

import msgspec

from profiles.wire.text import harmless, harmless_json


def say(text: str) -> None:
    """A line on stdout."""
    print(harmless(text))


def say_json(document: Any) -> None:
    """One JSON document on stdout: what msgspec can encode, or a document's bytes."""
    encoded = document if isinstance(document, bytes) else msgspec.json.encode(document)
    _put(harmless_json(encoded.decode()) + "\n")


def say_csv(table: str) -> None:
    """A table on stdout."""
    _put(harmless(table))


def _put(document: str) -> None:
    """A whole document on stdout: JSON and CSV are UTF-8, whatever a terminal takes."""
    sys.stdout.flush()
    sys.stdout.buffer.write(document.encode())
    sys.stdout.buffer.flush()


def tell(text: str) -> None:
    """A line on stderr, at once."""
    sys.stderr.write(harmless(text) + "\n")
    sys.stderr.flush()
