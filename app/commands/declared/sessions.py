"""The commands that work with saved sessions."""

from pathlib import Path
from typing import Any

import click

from flashscope.app.commands.arguments import (
    export_file,
    export_target,
    peers,
    percentage,
    quantity,
    reading,
    version_pair,
)
from flashscope.app.commands.declared.options import (
    SESSION,
    THEMES,
    command,
    force_option,
    json_option,
    quantity_option,
    run,
)
from flashscope.app.commands.sides import read_sides
from flashscope.app.commands.together import given, picture_options, refuse_taken
from flashscope.app.report.kinds import KINDS, kind_of
from flashscope.profiles.plan.seqlens import parse_seqlen


@command(
    "show h200-standard-flash2",
    "show h200-peers --against torch-cudnn,flash-attn-4",
)
@click.argument("file", type=SESSION)
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print a CSV table with a header of metadata")
@click.option(
    "--against",
    callback=reading(peers),
    metavar="A,B",
    help="Print ratios to a kernel, or to the fastest of several; left out: every figure",
)
@click.option("--why", is_flag=True, help="Print what binds each point: products, bytes or exponentials")
@click.option("--cuts", is_flag=True, help="Print its landscapes of cuts, as the command cuts does")
@click.option("--audit", is_flag=True, help="Print its audits of models, as the command audit does")
@click.pass_context
def show(context: click.Context, /, file: Path, **options: Any) -> int:
    """Print a saved session."""
    flags = ("--json", "--csv", "--against", "--why", "--cuts", "--audit")
    forms = dict(zip(("as_json", "as_csv", "against", "why", "cuts", "audit"), flags, strict=True))
    asked = [flag for name, flag in forms.items() if name in given(context)]
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(asked)} exclude each other", context)
    return run("show", file, **options)


@command(
    "compare before.flashscope after.flashscope",
    "compare before-*.flashscope vs after-*.flashscope",
    "compare before.flashscope after.flashscope --fail-on-regression 5 --html changes.html",
)
@click.argument("sides", callback=read_sides, nargs=-1, required=True, metavar="BASE OTHER...")
@json_option
@quantity_option("compared")
@click.option(
    "--fail-on-regression",
    "fail_on",
    callback=reading(percentage),
    metavar="PCT",
    help="Exit with 1 if a point is worse by PCT %, not done or gone, or if none compares, or if nobody can "
    "know of one whether it is that much worse; left out: never",
)
@click.option(
    "--allow-inconclusive",
    is_flag=True,
    help="With --fail-on-regression: let points pass of which nobody knows",
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
    """Say what changed between saved sessions: BASE beside up to five others.

    Each is a file, or a folder with several runs of one sweep. With `vs` between them, the files on either
    side of it are such runs.
    """
    if options["allow_inconclusive"] and options["fail_on"] is None:
        raise click.UsageError("--allow-inconclusive belongs to --fail-on-regression; give that too", context)
    refuse_taken(context, options["page"], force=options["force"])
    return run("compare", **options)


@command(
    "versions mine-v1.flashscope mine-v2.flashscope mine-v3.flashscope",
    "versions mine-v1.flashscope mine-v3.flashscope --between 1,3",
)
@click.argument("files", type=SESSION, nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--between",
    callback=reading(version_pair),
    metavar="A,B",
    help="Two versions, whose figures and sources are put side by side; left out: a line for each version",
)
@click.option(
    "--form",
    type=click.Choice(("sides", "diff")),
    help="What --between prints of the sources; left out: sides on a terminal that is wide enough, else diff",
)
@json_option
def versions(files: tuple[Path, ...], **options: Any) -> int:
    """Print versions of a kernel of one's own, from the sessions that sweep --watch made."""
    return run("versions.show", files, **options)


@command(
    "export first.flashscope first.html",
    "export first.flashscope runtime.png --plot runtime --theme dark --scale 4",
)
@click.argument("file", type=SESSION)
@click.argument("out", callback=reading(export_target))
@click.option("--to", "kind", type=click.Choice(tuple(KINDS)), help="The format; left out: as OUT ends")
@force_option
@click.option(
    "--plot",
    callback=reading(quantity),
    metavar="Q",
    help="What a picture shows: any quantity, by its name in show --json; left out: four plots",
)
@click.option("--curve", metavar="LABEL", help="Which problems, as 'd 128, causal'; left out: the first")
@click.option("--theme", type=click.Choice(THEMES), help="A picture's colours  [default: light]")
@click.option("--scale", type=click.IntRange(1, 4), metavar="1..4", help="Sharpness of a PNG  [default: 2]")
@click.option("--transparent", is_flag=True, help="A picture without a ground")
@click.pass_context
def export(
    context: click.Context, /, file: Path, out: Path, *, kind: str | None, force: bool, **_: Any
) -> int:
    """Write a saved session in a format that other programs read, or as a picture; OUT as -: to stdout."""
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
@click.option(
    "--seqlen", callback=reading(parse_seqlen), required=True, metavar="N", help="The sequence length"
)
@quantity_option("followed")
@json_option
def trend(**options: Any) -> int:
    """Say how a kernel developed over the sessions of FOLDER (left out: your own)."""
    return run("trend", **options)


COMMANDS = (show, compare, versions, export, trend)
