"""The help of every command: defaults, and examples that can be typed; and what no command does."""

import shlex
from pathlib import Path

import click
import pytest

from flashscope.app import cli
from flashscope.app.commands import window
from flashscope.app.commands.program import program
from flashscope.installation import PROGRAM

of_each_command = pytest.mark.parametrize("name", program.commands)


def examples(name: str) -> list[list[str]]:
    told = program.commands[name].get_help(click.Context(program.commands[name], max_content_width=110))
    lines = told.partition("Examples:\n")[2].splitlines()
    return [shlex.split(line.strip().removeprefix(PROGRAM)) for line in lines]


@of_each_command
def test_the_help_ends_with_examples_that_parse(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = examples(name)
    assert len(found) in {2, 3}
    for first, *others in found:
        assert first == name
        with program.commands[name].make_context(name, others):
            pass


@of_each_command
def test_the_help_says_what_each_option_is_left_at(name: str) -> None:
    context = click.Context(program.commands[name])
    for option in program.commands[name].params:
        if isinstance(option, click.Option) and not option.is_flag and not option.required:
            told = option.get_help_record(context)
            assert told is not None
            assert "[default: " in told[1] or "left out: " in told[1], option.name


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [
        (["peers", "--install"], f"{PROGRAM} peers"),
        (["cuts", "--nope"], f"{PROGRAM} cuts"),
        (["-x"], PROGRAM),
    ],
)
def test_what_is_wrong_with_options_names_the_help_to_read(
    arguments: list[str], typed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(f"{typed}: ")
    assert told.endswith(f"(see {typed} --help)")


@pytest.mark.parametrize("arguments", [[], ["--"]])
def test_no_command_opens_the_window(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []

    def remember(file: object) -> int:
        opened.append(file)
        return 0

    monkeypatch.setattr(window, "run", remember)
    assert cli.main(arguments) == 0
    assert opened == [None]
