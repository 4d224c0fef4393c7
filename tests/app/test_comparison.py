"""Ratios in a terminal: no line is wider than it, and no kernel is left out."""

from os import terminal_size

import pytest

from app.commands.comparison import print_comparison
from profiles.plan import Protocol
from profiles.presets import peers_plan
from tests.app.profile.builders import script, session_of

SESSION = session_of(script(peers_plan("cuda", Protocol())))


def headings(text: str) -> list[list[str]]:
    return [line.split()[4:] for line in text.splitlines() if line.startswith("d ")]


@pytest.mark.parametrize("columns", [80, 132])
def test_a_narrow_terminal_gets_several_tables_of_all_kernels(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    print_comparison(SESSION, "flash2")
    (whole,) = headings(capsys.readouterr().out)  # a pipe gets one table
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("app.commands.comparison.get_terminal_size", lambda: terminal_size((columns, 24)))
    print_comparison(SESSION, "flash2")
    printed = capsys.readouterr().out
    tables = headings(printed)
    assert len(tables) > 1
    assert [kernel for table in tables for kernel in table] == whole
    in_tables = [line for line in printed.splitlines() if line.startswith(("d ", "64 ", "128 ", "worst"))]
    assert max(map(len, in_tables)) <= columns
