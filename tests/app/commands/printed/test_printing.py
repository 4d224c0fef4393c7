"""Tables of the command line: plain in a pipe, coloured on a terminal, harmless wherever text is from."""

import pytest

from flashscope.app.commands.messages import say
from flashscope.app.commands.printed.printing import print_table, status_cell
from tests.app.commands.terminal import pretend_terminal, uncoloured

HEADINGS = ("kernel", "N", "status", "median")
ROWS = [
    ("standard", "512", status_cell("done"), "0.1 ms"),
    ("flash2", "131072", status_cell("wrong"), "-"),
]
PLAIN = """\
kernel         N  status  median
standard     512    done  0.1 ms
flash2    131072   wrong       -
"""


def test_a_pipe_gets_plain_columns_two_spaces_apart_whatever_the_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    print_table(HEADINGS, ROWS)
    assert capsys.readouterr().out == PLAIN


def test_a_terminal_gets_the_same_columns_with_the_status_in_colour(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend_terminal(monkeypatch, 80)
    print_table(HEADINGS, ROWS)
    printed = capsys.readouterr().out
    assert uncoloured(printed) == PLAIN
    assert "\x1b[32m  done\x1b[0m" in printed
    assert "\x1b[1;31m wrong\x1b[0m" in printed


def test_no_colour_is_used_where_none_is_wanted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend_terminal(monkeypatch, 80)
    monkeypatch.setenv("NO_COLOR", "1")
    print_table(HEADINGS, ROWS)
    printed = capsys.readouterr().out
    assert uncoloured(printed) == PLAIN
    assert not any(f"\x1b[{weight}3" in printed for weight in ("", "1;"))


def test_a_table_too_wide_for_a_terminal_becomes_several_that_repeat_what_a_line_is_about(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend_terminal(monkeypatch, 24)
    print_table(HEADINGS, ROWS, keys=2)
    printed = uncoloured(capsys.readouterr().out).split("\n\n")
    assert [table.splitlines()[0].split() for table in printed] == [
        ["kernel", "N", "status"],
        ["kernel", "N", "median"],
    ]


def test_markup_and_control_characters_of_a_file_are_printed_and_do_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend_terminal(monkeypatch, 80)
    print_table(("name", "n"), [("[red]x[/red] :smile:", "1"), ("\x1b[2J\x07\x9b", "2"), ("two\nlines", "3")])
    say("\x1b]0;title\x07 of [bold]one[/bold]")
    printed = uncoloured(capsys.readouterr().out)
    assert "[red]x[/red] :smile:" in printed
    assert "two lines" in printed
    assert "[bold]one[/bold]" in printed
    assert not {"\x1b", "\x07", "\x9b"} & set(printed)
