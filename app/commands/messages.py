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
    print(harmless_json(encoded.decode()))


def tell(text: str) -> None:
    """A line on stderr, at once."""
    sys.stderr.write(harmless(text) + "\n")
    sys.stderr.flush()
