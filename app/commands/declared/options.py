"""What the commands' declarations share."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from app.commands.arguments import quantity, reading
from app.words.command_line import PROGRAM
from profiles.results.quantities import RUNTIME

ANY_PATH = click.Path(path_type=Path)
Declared = TypeVar("Declared", bound=Callable[..., Any] | click.Command)


def command(*examples: str, **options: Any) -> Callable[[Callable[..., int]], click.Command]:
    """A command; its help ends with the examples, which are written without the program's name."""
    lines = "\n".join(f"  {PROGRAM} {example}" for example in examples)
    return click.command(epilog=f"\b\nExamples:\n{lines}", **options)


def run(command: str, *arguments: Any, **options: Any) -> int:
    """Import a command's module and run it; returns the exit code."""
    code: int = import_module(f"app.commands.{command}").run(*arguments, **options)
    return code


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else")
force_option = click.option("--force", is_flag=True, help="Write over a file that is there")


def quantity_option(done: str) -> Callable[[Declared], Declared]:
    """The quantity that a command is about: what is done with it is in the help."""
    return click.option(
        "--quantity",
        callback=reading(quantity),
        default=RUNTIME.key,
        show_default=True,
        metavar="Q",
        help=f"What is {done}: any quantity, by its name in show --json",
    )
