"""What the commands' declarations share."""

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from flashscope.app.commands.arguments import new_file, positive, quantity, reading
from flashscope.home import in_home
from flashscope.installation import PROGRAM
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.profiles.plan.seqlens import parse_seqlen
from flashscope.profiles.results.quantities.registry import RUNTIME

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any] | click.Command)


class SessionFile(click.Path):
    """A session file by its path or, of a bundled one, by its name: a wheel has them where nobody looks."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """The path, whether there is such a file or not."""
        named = Path(os.fsdecode(super().convert(value, param, ctx)))
        path = named if os.path.lexists(named) else in_home(named)
        if os.path.lexists(path):
            return path
        from flashscope.app.control.bundled import bundled_sessions  # noqa: PLC0415 - slow, and seldom asked for

        return next((one for one in bundled_sessions() if one.stem == str(path)), path)


SESSION = SessionFile(path_type=Path)
THEMES = ("light", "dark", "contrast")


def command(*examples: str, **options: Any) -> Callable[[Callable[..., int]], click.Command]:
    """A command; its help ends with the examples, which are written without the program's name."""
    lines = "\n".join(f"  {PROGRAM} {example}" for example in examples)
    return click.command(epilog=f"\b\nExamples:\n{lines}", **options)


def run(command: str, *arguments: Any, **options: Any) -> int:
    """Import a command's module and run it; returns the exit code."""
    code: int = import_module(f"flashscope.app.commands.{command}").run(*arguments, **options)
    return code


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else")
session_out_option = click.option(
    "--out",
    callback=reading(new_file),
    metavar="FILE",
    help="The session file; left out: a new one among your sessions",
)
ELSEWHERE = (
    "Measure on another machine: the connection file that `serve` made there, tls://HOST:PORT of one "
    "among your connections, tcp://127.0.0.1:PORT, or ssh://USER@MACHINE/FOLDER of a checkout, where ssh "
    "starts `serve`"
)
connect_option = click.option("--connect", metavar="HOST", help=f"{ELSEWHERE}; left out: here")
several_connects_option = click.option(
    "--connect",
    multiple=True,
    metavar="HOST",
    help=f"{ELSEWHERE}; given several times: on several; left out: here",
)
force_option = click.option("--force", is_flag=True, help="Write over a file that is there")


def quantity_option(done: str) -> Callable[[AnyCommand], AnyCommand]:
    """The quantity that a command is about: what is done with it is in the help."""
    return click.option(
        "--quantity",
        callback=reading(quantity),
        default=RUNTIME.key,
        show_default=True,
        metavar="Q",
        help=f"What is {done}: any quantity, by its name in show --json",
    )


def backend_option(about: str = "Where") -> Callable[[AnyCommand], AnyCommand]:
    """The backend of a command that takes no plan's choices."""
    words = (AUTO, "cuda", "cpu")
    return click.option("--backend", type=click.Choice(words), default=AUTO, show_default=True, help=about)


def seqlen_option(
    default: str, about: str = "N, as sweep takes one; 4k is 4096"
) -> Callable[[AnyCommand], AnyCommand]:
    """The one sequence length that a command is about."""
    return click.option(
        "--seqlen",
        callback=reading(parse_seqlen),
        default=default,
        show_default=True,
        metavar="N",
        help=about,
    )


def head_dim_option(about: str) -> Callable[[AnyCommand], AnyCommand]:
    """The head dim that a command is about."""
    return click.option(
        "--head-dim",
        callback=reading(positive),
        default="128",
        show_default=True,
        metavar="D",
        help=about,
    )
