"""The commands that explain, and those that show the window."""

from pathlib import Path
from typing import Any

import click

from flashscope.app.commands.arguments import folder, numbers, option_of, positive, reading, sampled_kernels
from flashscope.app.commands.declared.options import (
    SESSION,
    THEMES,
    command,
    connect_option,
    head_dim_option,
    json_option,
    run,
)
from flashscope.app.commands.together import given
from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.workload.problem import DTYPES, ONE_PASS
from flashscope.kernels.workload.trace import FAULTS
from flashscope.profiles.plan.choice import choices_of
from flashscope.profiles.plan.models import FAVOURITE, Model, Setting, find_model

FORMS = ("sides", "diff")


@command(
    "plan --model Llama-3-8B --context 128k",
    "plan --session h200-peers --every-layer",
    "plan --audit llama.flashscope --context 32k",
    params=[option_of(declared) for declared in choices_of(Setting)],
)
@click.option(
    "--model",
    callback=reading(find_model),
    default=FAVOURITE.name,
    show_default=True,
    metavar="NAME",
    help="The model; an unknown name lists them",
)
@click.option(
    "--audit",
    type=SESSION,
    metavar="FILE",
    help="A session with an audit, whose model is planned; left out: a published one is",
)
@click.option(
    "--session",
    type=SESSION,
    metavar="FILE",
    help="A session whose GPU's memory is taken, and from whose points runtimes are forecast; left out: that "
    "of --audit, or none",
)
@json_option
@click.pass_context
def plan(
    context: click.Context,
    /,
    model: Model,
    audit: Path | None,
    session: Path | None,
    *,
    as_json: bool,
    **_: Any,
) -> int:
    """Say how long a context of a model fits in a GPU's memory, with S and P and without."""
    chosen = given(context)
    if audit is not None and "model" in chosen:
        raise click.UsageError("--audit has a model of its own; leave --model out", context)
    said = {name: value for name, value in chosen.items() if name in Setting.__struct_fields__}
    return run("plan", model if audit is None else audit, said, session=session or audit, as_json=as_json)


@command(
    "trace --scores 1,3,2,0.5",
    "trace --scores 1,3,2,0.5 --values 1,2,3,4 --block 2 --reverse",
    "trace --scores 1,3,2,0.5 --reverse --fault no-rescale",
)
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
@click.option(
    "--fault",
    type=click.Choice(FAULTS),
    help="What the kernel gets wrong on purpose; left out: nothing",
)
@json_option
def trace(**options: Any) -> int:
    """Walk the online softmax of one row of scores, block by block."""
    return run("inside.trace", **options)


@command(
    "source flash3-b --head-dim 64",
    "source flash3-b --against flash3-a --causal",
    "source flash2 --sass --gpu A100",
)
@click.argument("kernel")
@click.option(
    "--against",
    metavar="KERNEL",
    help="Another kernel of the ladder, to print what has changed from it; left out: the whole source",
)
@click.option(
    "--pass",
    "passes",
    type=click.Choice(ONE_PASS),
    default="forward",
    show_default=True,
    help="Of the forward pass, or of the backward pass",
)
@head_dim_option("Width of one head, d")
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    default="bfloat16",
    show_default=True,
    help="Element type of Q, K, V and O",
)
@click.option(
    "--causal/--no-causal", default=False, show_default=True, help="Under a causal mask, or without"
)
@click.option(
    "--form",
    type=click.Choice(FORMS),
    help="What --against prints; left out: sides on a terminal that is wide enough, else diff",
)
@click.option(
    "--gpu",
    type=click.Choice([card.name for card in CARDS], case_sensitive=False),
    default=CARDS[0].name,
    show_default=True,
    help="The GPU that it is compiled for, which need not be there",
)
@click.option(
    "--sass", is_flag=True, help="Compile it, and print under each line the machine code that comes from it"
)
@click.pass_context
def source(context: click.Context, /, kernel: str, **options: Any) -> int:
    """Print the CUDA source of KERNEL as it is compiled, without other steps' branches."""
    if options["form"] and not options["against"]:
        raise click.UsageError("--form belongs to --against; give that too", context)
    if options["sass"] and options["against"]:
        raise click.UsageError("--sass is of one kernel; leave --against out", context)
    return run("inside.source", kernel, **options)


@command(
    "stalls h100-stalls",
    "stalls run.flashscope --sample flash3-b,flash3-c --mask both",
)
@click.argument("file", type=SESSION)
@click.option(
    "--sample",
    "kernels",
    callback=reading(sampled_kernels),
    metavar="A,B",
    help="First launch each of these kernels under Nsight Compute, on the problem of Source, and keep "
    "where its warps stood in FILE; left out: none",
)
@head_dim_option("Of what is sampled: d")
@click.option(
    "--mask",
    type=click.Choice(("none", "causal", "both")),
    default="none",
    show_default=True,
    help="Of what is sampled: without a mask, under a causal one, or both in turn",
)
@connect_option
@json_option
@click.pass_context
def stalls(context: click.Context, /, file: Path, *, kernels: tuple[str, ...] | None, **options: Any) -> int:
    """Print why the warps of a session's launches stalled, by reason and line, and what a step changed."""
    if kernels is None and (alone := given(context).keys() & {"head_dim", "mask", "connect"}):
        flag = f"--{min(alone).replace('_', '-')}"
        raise click.UsageError(f"{flag} belongs to --sample; give that too", context)
    return run("inside.stalls", file, kernels=kernels or (), **options)


@command(
    "present",
    "present why-tiling-wins",
    "present why-tiling-wins --check",
)
@click.argument("story", required=False)
@click.option(
    "--check",
    is_flag=True,
    help="Before the talk: look at files, sentences, screen and device; 1 if something is to be done",
)
@click.option("--json", "as_json", is_flag=True, help="Print the check as one JSON document")
@click.pass_context
def present(context: click.Context, /, story: str | None, *, check: bool, as_json: bool) -> int:
    """Present STORY in the window, a file or a bundled one by its name; left out: list these."""
    if check and story is None:
        raise click.UsageError("--check belongs to a story; name one", context)
    if as_json and not check:
        raise click.UsageError("--json belongs to --check; give that too", context)
    return run("present", story, check=check, as_json=as_json)


@command(
    "shots pictures",
    "shots pictures --open h200-peers",
    "shots pictures --story why-tiling-wins --theme light",
)
@click.argument("folder", callback=reading(folder), metavar="DIR")
@click.option(
    "--open", "session", type=SESSION, metavar="FILE", help="A session to show on the pages; left out: none"
)
@click.option("--story", metavar="STORY", help="A story whose stops are rendered; left out: the pages")
@click.option("--theme", type=click.Choice(THEMES), help="The only theme; left out: dark and light")
def shots(folder: Path, session: Path | None, story: str | None, theme: str | None) -> int:
    """Render every page, or every stop of a story, to PNG files, light and dark."""
    return run("shots", folder, session, story, theme)


COMMANDS = (plan, trace, source, stalls, present, shots)
