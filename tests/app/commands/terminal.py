"""A terminal to print on, of any width."""

import re
import sys

import pytest


def pretend_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Let stdout be a terminal with colours, of that width."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("COLORTERM", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def uncoloured(text: str) -> str:
    """The text without the sequences that colour it."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
