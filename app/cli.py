"""The command line: one parser; each command's module is imported when it is asked for."""

import errno
import os
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import click

from app.commands.arguments import (
    export_file,
    folder,
    new_file,
    numbers,
    option_of,
    peers,
    percentage,
    positive,
    quantity,
    reading,
)
from app.commands.exit_codes import FAILED, INTERRUPTED, USAGE_ERROR
from app.commands.messages import tell
from app.commands.streams import forget_output
from app.commands.together import (
    CHOSEN,
    asked_for,
    given,
    picture_options,
    refuse_beside_resume,
    refuse_taken,
)
from app.report.kinds import KINDS, kind_of
from app.words.command_line import PROGRAM
from kernels.errors import InputError, KernelError
from profiles.plan.choice import choices_of
from profiles.plan.models import FAVOURITE, Model, Setting, find_model
from profiles.plan.presets import PRESETS
from profiles.plan.seqlens import parse_seqlens
from profiles.results.quantities import RUNTIME
from profiles.store.errors import SessionFileError

ANY_PATH = click.Path(path_type=Path)
Command = TypeVar("Command", bound=Callable[..., Any] | click.Command)


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


def run(command: str, *arguments: Any, **options: Any) -> int:
    """Import a command's module and run it; returns the exit code."""
    code: int = import_module(f"app.commands.{command}").run(*arguments, **options)
    return code


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


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else")
force_option = click.option("--force", is_flag=True, help="Write over a file that is there")


def quantity_option(done: str) -> Callable[[Command], Command]:
    """The quantity that a command is about: what is done with it is in the help."""
    return click.option(
        "--quantity",
        callback=reading(quantity),
        default=RUNTIME.key,
        show_default=True,
        metavar="Q",
        help=f"What is {done}: any quantity, by its name in show --json",
    )


@program.command()
@click.argument("file", type=ANY_PATH, required=False)
def window(file: Path | None) -> int:
    """Open the window, with a session in it when FILE is given."""
    return run("window", file)


@program.command(params=[option_of(declared) for declared in CHOSEN.values()])
@click.option(
    "--preset",
    type=click.Choice(PRESETS),
    help="A sweep with a name: peers compares with libraries' kernels",
)
@click.option(
    "--out",
    callback=reading(new_file),
    metavar="FILE",
    help="The session file; left out: a new one among your sessions",
)
@click.option(
    "--resume",
    type=ANY_PATH,
    metavar="FILE",
    help="Go on with the sweep of a session that was broken off, in its file; its plan is the file's",
)
@json_option
@click.pass_context
def sweep(
    context: click.Context,
    /,
    preset: str | None,
    out: Path | None,
    resume: Path | None,
    *,
    as_json: bool,
    **_: Any,
) -> int:
    """Measure kernels over sequence lengths and save a session."""
    if resume is not None:
        refuse_beside_resume(context)
        return run("resume", resume, as_json=as_json)
    return run("sweep", asked_for(context), preset=preset, out=out, as_json=as_json)


@program.command()
@click.argument("file", type=ANY_PATH)
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print a CSV table with a header of metadata")
@click.option(
    "--against",
    callback=reading(peers),
    metavar="A,B",
    help="Print ratios to a kernel, or to the fastest of several",
)
@click.option("--why", is_flag=True, help="Print what binds each point: products, bytes or exponentials")
@click.pass_context
def show(context: click.Context, /, file: Path, **options: Any) -> int:
    """Print a saved session."""
    forms = {"as_json": "--json", "as_csv": "--csv", "against": "--against", "why": "--why"}
    asked = [flag for name, flag in forms.items() if name in given(context)]
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(asked)} exclude each other", context)
    return run("show", file, **options)


@program.command()
@click.argument("base", type=ANY_PATH)
@click.argument("others", type=ANY_PATH, nargs=-1, required=True, metavar="OTHER...")
@json_option
@quantity_option("compared")
@click.option(
    "--fail-on-regression",
    "fail_on",
    callback=reading(percentage),
    metavar="PCT",
    help="Exit with 1 if a point is worse by PCT percent or more, not done or gone, or none compares",
)
@click.option(
    "--html", "page", callback=reading(export_file), metavar="OUT", help="Write it as a page of HTML, too"
)
@force_option
@click.pass_context
def compare(context: click.Context, /, **options: Any) -> int:
    """Say what changed between saved sessions: BASE beside up to five others."""
    refuse_taken(context, options["page"], force=options["force"])
    return run("compare", **options)


@program.command()
@click.argument("file", type=ANY_PATH)
@click.argument("out", callback=reading(export_file))
@click.option("--to", "kind", type=click.Choice(tuple(KINDS)), help="The format; left out: as OUT ends")
@force_option
@click.option(
    "--plot",
    callback=reading(quantity),
    metavar="Q",
    help="What a picture shows: any quantity, by its name in show --json; left out: four plots",
)
@click.option("--curve", metavar="LABEL", help="Which problems, as 'd 128, causal'; left out: the first")
@click.option(
    "--theme", type=click.Choice(("light", "dark", "contrast")), help="A picture's colours  [default: light]"
)
@click.option("--scale", type=click.IntRange(1, 4), metavar="1..4", help="Sharpness of a PNG  [default: 2]")
@click.option("--transparent", is_flag=True, help="A picture without a ground")
@click.pass_context
def export(
    context: click.Context, /, file: Path, out: Path, *, kind: str | None, force: bool, **_: Any
) -> int:
    """Write a saved session in a format that other programs read, or as a picture."""
    kind = kind or kind_of(out.name)
    if kind is None:
        endings = ", ".join(one.suffix for one in KINDS.values())
        raise click.UsageError(f"{out} ends as no format does ({endings}); name one with --to", context)
    refuse_taken(context, out, force=force)
    return run("export", file, out, kind=kind, force=force, look=picture_options(context, kind))


@program.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), required=False)
@click.option("--kernel", required=True, metavar="K", help="The kernel")
@click.option("--seqlen", callback=reading(positive), required=True, metavar="N", help="The sequence length")
@quantity_option("followed")
@json_option
def trend(**options: Any) -> int:
    """Say how a kernel developed over the sessions of FOLDER (left out: your own)."""
    return run("trend", **options)


@program.command(params=[option_of(declared) for declared in choices_of(Setting)])
@click.option(
    "--model",
    callback=reading(find_model),
    default=FAVOURITE.name,
    show_default=True,
    metavar="NAME",
    help="The model; an unknown name lists them",
)
@click.option(
    "--session",
    type=ANY_PATH,
    metavar="FILE",
    help="A session whose GPU's memory is taken, and from whose points runtimes are forecast",
)
@json_option
@click.pass_context
def plan(context: click.Context, /, model: Model, session: Path | None, *, as_json: bool, **_: Any) -> int:
    """Say how long a context of a model fits in a GPU's memory, with S and P and without."""
    said = {name: value for name, value in given(context).items() if name in Setting.__struct_fields__}
    return run("plan", model, said, session=session, as_json=as_json)


@program.command()
@click.option(
    "--scores", callback=reading(numbers), required=True, metavar="S,S,...", help="The row of scores"
)
@click.option(
    "--values",
    callback=reading(numbers),
    metavar="V,V,...",
    help="One value a score",
    show_default="1, 2, 3, ...",
)
@click.option(
    "--block",
    callback=reading(positive),
    default="2",
    show_default=True,
    metavar="B",
    help="Scores in a block",
)
@click.option("--reverse", is_flag=True, help="Walk the blocks from the last to the first")
@click.option(
    "--order",
    type=click.Choice(("flash1", "flash2")),
    default="flash2",
    show_default=True,
    help="Loop order of the kernel",
)
@json_option
def trace(**options: Any) -> int:
    """Walk the online softmax of one row of scores, block by block."""
    return run("trace", **options)


@program.command()
@json_option
def kernels(**options: Any) -> int:
    """List the kernels, and where each runs or why not."""
    return run("kernels", **options)


@program.command()
@json_option
def claims(**options: Any) -> int:
    """Put what five documents claim of attention to the test, each number with its experiment."""
    return run("claims", **options)


@program.command()
@json_option
def doctor(**options: Any) -> int:
    """Say what is missing on this machine, with the remedy."""
    return run("doctor", **options)


@program.command()
@click.option(
    "--seqlen",
    "seqlens",
    callback=reading(parse_seqlens),
    metavar="LENGTHS",
    help="N, as sweep takes it; left out: 4096 and 8192 on a GPU, 256 and 512 on a CPU",
)
@click.option(
    "--out",
    callback=reading(new_file),
    metavar="FILE",
    help="Keep what was measured, and what Nsight Compute says of it, in a session file",
)
@json_option
def selfcheck(**options: Any) -> int:
    """Say how far this machine's figures agree with other instruments'; takes minutes."""
    return run("selfcheck", **options)


@program.command()
@click.argument("story", required=False)
def present(story: str | None) -> int:
    """Present STORY in the window, a file or a bundled one by its name; left out: list these."""
    return run("present", story)


@program.command()
@click.argument("folder", callback=reading(folder), metavar="DIR")
@click.option("--open", "session", type=ANY_PATH, metavar="FILE", help="A session to show on the pages")
def shots(folder: Path, session: Path | None) -> int:
    """Render every page to PNG files, light and dark."""
    return run("shots", folder, session)
