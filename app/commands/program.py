"""The commands on one parser; each command's module is imported when it is asked for."""

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches

import click

from flashscope.app.commands.declared import elsewhere, explaining, inside, measuring, ranks, sessions
from flashscope.app.commands.exit_codes import FAILED, USAGE_ERROR
from flashscope.app.commands.messages import complain, tell
from flashscope.app.words.version import own_version
from flashscope.installation import PROGRAM
from flashscope.kernels.workload.errors import InputError, KernelError, UnsupportedError
from flashscope.profiles.cluster.connection import ConnectError
from flashscope.profiles.store.errors import SessionFileError

CONNECT = "--connect"  # alone it is the window's
HELP = f"""Run attention kernels and show why tiling wins.

No command: open the window, with a session in it when FILE is given ({PROGRAM} FILE),
or connected to another machine ({PROGRAM} {CONNECT} FILE).
"""


class CommandGroup(click.Group):
    """The commands; what is none of them is a session to open in the window."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Put the window's command in front where it was left out."""
        first = args[0]
        if first in self.commands:
            return super().resolve_command(ctx, args)
        meant = get_close_matches(first, self.commands, n=1)
        if meant and not os.path.lexists(first):
            ctx.fail(f"there is no command {first!r} and no such file; did you mean {meant[0]}?")
        return super().resolve_command(ctx, ["window", *args])


def run_command(arguments: Sequence[str]) -> int:
    """Run what the arguments ask for; returns the exit code."""
    if arguments[0].partition("=")[0] == CONNECT:
        arguments = ("window", *arguments)
    try:
        with program.make_context(PROGRAM, list(arguments)) as context:
            code: int = program.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:  # --help and --version
        return end.exit_code
    except click.UsageError as error:
        tell(in_one_line(error, arguments))
        return USAGE_ERROR
    except (SessionFileError, KernelError, ConnectError) as error:
        return tell_why(error, str(context.invoked_subcommand))
    return code


def tell_why(error: SessionFileError | KernelError | ConnectError, command: str) -> int:
    """Say in one line why a command could not; returns the exit code."""
    complain(command, str(error))
    return USAGE_ERROR if isinstance(error, InputError | UnsupportedError) else FAILED


def in_one_line(error: click.UsageError, arguments: Sequence[str]) -> str:
    """What is wrong with the arguments, and where to read what is right."""
    command = (
        arguments[:1] if arguments[0] in program.commands else ()
    )  # no context: of the command's options
    typed = error.ctx.command_path if error.ctx else " ".join((PROGRAM, *command))
    said = " ".join(error.format_message().split()).rstrip(".")
    return f"{typed}: {said} (see {typed} --help)"


def tell_version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    """Print the version and end, where it is asked for."""
    if asked and not context.resilient_parsing:
        click.echo(f"flashscope {own_version('not installed')}")
        context.exit()


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    subcommand_metavar="COMMAND [ARGS]...",
    help=HELP,
)
@click.option(
    *("--version", "asked"),
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=tell_version,
    help="Show the version and exit.",
)
def program() -> None:
    """The program without a command: the window opens."""


for group in (measuring, inside, ranks, elsewhere, sessions, explaining):
    for one in group.COMMANDS:
        program.add_command(one)
