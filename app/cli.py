"""The command line: one parser; each command's module is imported when it is asked for."""

import errno
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version

import click

from app.commands.declared import explaining, measuring, sessions
from app.commands.exit_codes import FAILED, INTERRUPTED, USAGE_ERROR
from app.commands.messages import tell
from app.commands.streams import forget_output
from app.words.command_line import PROGRAM
from kernels.errors import InputError, KernelError
from profiles.store.errors import SessionFileError


class Program(click.Group):
    """The commands; what is none of them is a session to open in the window."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """No arguments at all ask for the window."""
        return super().parse_args(ctx, args or ["window"])

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


def main(arguments: Sequence[str]) -> int:
    """Run one command, or open the window; returns the exit code."""
    try:
        with program.make_context(PROGRAM, list(arguments)) as context:
            code: int = program.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:  # --help and --version
        return end.exit_code
    except click.UsageError as error:
        tell(in_one_line(error))
        return USAGE_ERROR
    except (SessionFileError, KernelError) as error:
        tell(f"flashscope {context.invoked_subcommand}: {error}")
        return USAGE_ERROR if isinstance(error, InputError) else FAILED
    except OSError as error:  # the output cannot be written, or too many files are open
        forget_output()
        if not isinstance(error, BrokenPipeError):  # whoever reads the output has had enough
            tell(f"flashscope: {in_words(error)}")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def in_words(error: OSError) -> str:
    """What the system refused, and a remedy where there is one."""
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return "too many files are open; raise the limit (ulimit -n), or close some programs"
    if error.filename:
        return f"{error.filename} cannot be used: {error.strerror}"
    return f"the output cannot be written: {error.strerror or error}"


def in_one_line(error: click.UsageError) -> str:
    """What is wrong with the arguments, and where to read what is right."""
    typed = error.ctx.command_path if error.ctx else PROGRAM
    said = " ".join(error.format_message().split()).rstrip(".")
    return f"{typed.replace(PROGRAM, 'flashscope', 1)}: {said} (see {typed} --help)"


def own_version() -> str:
    """The version that is installed; a checkout that is run without is told so."""
    try:
        return version("flashscope")
    except PackageNotFoundError:
        return "not installed"


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    subcommand_metavar="COMMAND [ARGS]...",
)
@click.version_option(own_version(), prog_name="flashscope", message="%(prog)s %(version)s")
def program() -> None:
    """Run attention kernels and show why tiling wins.

    No command: open the window, with a session in it when FILE is given (python main.py FILE).
    """


for group in (measuring, sessions, explaining):
    for one in group.COMMANDS:
        program.add_command(one)
