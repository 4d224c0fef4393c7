"""The commands that work with saved sessions."""

from pathlib import Path
from typing import Any

import click

from app.commands.arguments import export_file, peers, percentage, positive, quantity, reading
from app.commands.declared.options import ANY_PATH, command, force_option, json_option, quantity_option, run
from app.commands.together import given, picture_options, refuse_taken
from app.report.kinds import KINDS, kind_of


@command(
    "show assets/sessions/h200-standard-flash2.flashscope",
    "show assets/sessions/h200-peers.flashscope --against torch-cudnn,flash-attn-4",
)
@click.argument("file", type=ANY_PATH)
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print a CSV table with a header of metadata")
@click.option(
    "--against",
    callback=reading(peers),
    metavar="A,B",
    help="Print ratios to a kernel, or to the fastest of several; left out: every figure",
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


@command(
    "compare before.flashscope after.flashscope",
    "compare before.flashscope after.flashscope --fail-on-regression 5 --html changes.html",
)
@click.argument("base", type=ANY_PATH)
@click.argument("others", type=ANY_PATH, nargs=-1, required=True, metavar="OTHER...")
@json_option
@quantity_option("compared")
@click.option(
    "--fail-on-regression",
    "fail_on",
    callback=reading(percentage),
    metavar="PCT",
    help="Exit with 1 if a point is worse by PCT %, not done or gone, or none compares; left out: never",
)
@click.option(
    "--html",
    "page",
    callback=reading(export_file),
    metavar="OUT",
    help="Write it as a page of HTML, too; left out: print it alone",
)
@force_option
@click.pass_context
def compare(context: click.Context, /, **options: Any) -> int:
    """Say what changed between saved sessions: BASE beside up to five others."""
    refuse_taken(context, options["page"], force=options["force"])
    return run("compare", **options)


@command(
    "export first.flashscope first.html",
    "export first.flashscope runtime.png --plot runtime --theme dark --scale 4",
)
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


@command(
    "trend --kernel flash3 --seqlen 8192",
    "trend . --kernel flash2 --seqlen 4096 --quantity throughput",
)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), required=False)
@click.option("--kernel", required=True, metavar="K", help="The kernel")
@click.option("--seqlen", callback=reading(positive), required=True, metavar="N", help="The sequence length")
@quantity_option("followed")
@json_option
def trend(**options: Any) -> int:
    """Say how a kernel developed over the sessions of FOLDER (left out: your own)."""
    return run("trend", **options)


COMMANDS = (show, compare, export, trend)
