"""Texts in CSV: a spreadsheet must not take one for a formula, nor a terminal for a command."""

import re

from flashscope.profiles.wire.text import harmless

_FORMULA = r"[=@\t\r\n]|[+-](?![-+.,\d]*$)"  # numbers begin with a sign, too
_FORMULA_BETWEEN = r"([,;])(?=[=@]|[+-](?![-+.\d]))"


def cell(value: object) -> object:
    """A value for a cell; a text that a spreadsheet would compute gets an apostrophe in front."""
    if not isinstance(value, str):
        return value
    text = harmless(value)
    return f"'{text}" if re.match(_FORMULA, text) else text


def comment(name: str, value: object) -> str:
    """A line before the table; a spreadsheet takes each of its commas for the end of a cell."""
    text = " ".join(harmless(str(value)).split())
    quoted = re.sub(_FORMULA_BETWEEN, r"\1'", text)
    return f"# {name}: {quoted}\n"
