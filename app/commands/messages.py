"""Lines that commands print: what was asked for on stdout, what happens meanwhile on stderr."""

import sys
from pathlib import Path
from typing import Any

import msgspec

from flashscope.app.words.shell import path_text
from flashscope.installation import PROGRAM
from flashscope.profiles.wire.text import harmless, harmless_json


def say(text: str) -> None:
    """A line on stdout."""
    print(harmless(text))


def say_json(document: Any) -> None:
    """One JSON document on stdout: what msgspec can encode, or a document's bytes."""
    encoded = document if isinstance(document, bytes) else msgspec.json.encode(document)
    put(harmless_json(encoded.decode()).encode() + b"\n")


def say_csv(table: str) -> None:
    """A table on stdout."""
    put(harmless(table).encode())


def put(document: bytes) -> None:
    """A whole document on stdout: JSON and CSV are UTF-8, whatever a terminal takes."""
    sys.stdout.flush()
    sys.stdout.buffer.write(document)
    sys.stdout.buffer.flush()


def pasteable(path: Path) -> str:
    """A path such that it can be copied from what is printed, also where stdout cannot show it."""
    return path_text(path, sys.stdout.encoding)


def complain(command: str, text: str) -> None:
    """What a command cannot do, or what of it went wrong, as a line on stderr; no command: the program."""
    tell(f"{' '.join(filter(None, (PROGRAM, command)))}: {text}")


def tell(text: str) -> None:
    """A line on stderr, at once."""
    sys.stderr.write(harmless(text) + "\n")
    sys.stderr.flush()
