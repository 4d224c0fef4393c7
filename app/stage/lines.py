"""Where in a story's text a field stands: TOML's readers tell no lines."""

import re
from itertools import islice

import msgspec

ELSE = "x-0"  # what no field is called
MOST_READ = 2_000_000  # characters, of a text that is read again for every place: about a second


def line_of(text: str, stop: int, field: str) -> int | None:
    """The line, from 1, on which a stop's field is written; None where it is written in another way.

    Each place that looks like the field is called otherwise, and the one is right by which the stop changes:
    a speaker's notes may hold the same words. Of a long text with many such places no more are tried than a
    reader has patience for.

    Args:
        text: A story in TOML that can be read.
        stop: Which of its stops, from 1.
        field: The field's name, which the stop has.
    """
    places = re.finditer(rf"\b{re.escape(field)}\b(?=[\"']?\s*[=.\]])", text)
    for found in islice(places, MOST_READ // (len(text) + 1)):
        if not _has(f"{text[: found.start()]}{ELSE}{text[found.end() :]}", stop, field):
            return text.count("\n", 0, found.start()) + 1
    return None


def _has(text: str, stop: int, field: str) -> bool:
    """Whether a stop has a field; a text that is no story any more was changed elsewhere."""
    try:
        return field in msgspec.toml.decode(text)["stop"][stop - 1]
    except (msgspec.DecodeError, LookupError, TypeError):
        return True
