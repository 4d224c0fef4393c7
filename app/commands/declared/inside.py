"""The commands that look inside a kernel: when it does what, its backward pass by tiles, its cuts."""

from pathlib import Path
from typing import Any, get_args

import click

from flashscope.app.commands.arguments import (
    STDOUT,
    cut_kernels,
    cut_rows,
    export_target,
    head_dims,
    option_of,
    positive,
    reading,
)
from flashscope.app.commands.declared.options import (
    SESSION,
    backend_option,
    command,
    connect_option,
    force_option,
    json_option,
    run,
    seqlen_option,
    session_out_option,
)
from flashscope.app.commands.together import (
    CHOSEN,
    given,
    refuse_taken,
)
from flashscope.kernels.workload.backward_trace import BACKWARD_KERNELS, BackwardKernel
from flashscope.kernels.workload.problem import PASSES
from flashscope.kernels.workload.timeline import MOST_ROUNDS, ClockedKernel, TimelineRequest

PROBLEM = (
    *("backend", "head_dim", "heads", "kv_heads", "queries", "batch"),
    *("page_size", "dtype", "passes", "causal", "window", "seed"),
)
"""The choices of a sweep that say what a timeline is of, beside its one sequence length."""
OF_GRADIENTS = (*(name for name in PROBLEM if name not in {"page_size", "passes"}), "deterministic")
"""Those that say what a backward pass is traced of."""


@command(
    "timeline flash1 flash2 --backend cpu --seqlen 1k",
    "timeline flash3 --seqlen 4k --head-dim 128 --causal --into run.flashscope",
    params=[option_of(CHOSEN[name]) for name in PROBLEM],
)
@click.argument("kernels", nargs=-1, required=True, type=click.Choice(get_args(ClockedKernel)))
@seqlen_option("1k")
@click.option(
    "--rounds",
    type=click.IntRange(1, MOST_ROUNDS),
    default=TimelineRequest.__struct_defaults__[-1],
    show_default=True,
    metavar="K",
    help="How often the build with clocks and the timed one run, in turns; the quickest run is kept",
)
@click.option(
    "--sms",
    callback=reading(positive),
    metavar="S",
    help="On a GPU, how many SMs write out their clocks, the first ones: of few a longer run has room; "
    "left out: all",
)
@click.option(
    "--into", type=SESSION, metavar="FILE", help="A session that keeps what is recorded; left out: none"
)
@click.option(
    "--perfetto",
    callback=reading(export_target),
    metavar="OUT",
    help="A trace for ui.perfetto.dev to write; -: on stdout, and nothing else there; left out: none",
)
@force_option
@connect_option
@json_option
@click.pass_context
def timeline(
    context: click.Context,
    /,
    kernels: tuple[ClockedKernel, ...],
    into: Path | None,
    perfetto: Path | None,
    **options: Any,
) -> int:
    """Record when each stage of each tile of KERNELS ran, by clocks compiled into their source."""
    chosen = {name: value for name, value in given(context).items() if name in PROBLEM}
    if perfetto == STDOUT and options["as_json"]:
        raise click.UsageError("--json and --perfetto - both write on stdout; name a file", context)
    refuse_taken(context, perfetto, force=options["force"])
    said = {name: options[name] for name in ("seqlen", "rounds", "sms", "force", "as_json", "connect")}
    return run("inside.timeline", tuple(dict.fromkeys(kernels)), chosen, into=into, perfetto=perfetto, **said)


@command(
    "cuts flash3 --head-dim 128 --causal",
    "cuts flash2,flash3 --pass both --head-dim 64,128 --out cuts.flashscope",
    "cuts flash2 --backend cpu --seqlen 512 --heads 1",
)
@click.argument("kernels", callback=reading(cut_kernels), metavar="KERNEL,...")
@click.option(
    "--pass",
    "passes",
    type=click.Choice(PASSES),
    default="forward",
    show_default=True,
    help="Of the forward pass, of the backward pass, or a landscape of each",
)
@backend_option("Where; on a CPU tiles of flash2 in NumPy, forward")
@seqlen_option("4k", "N")
@click.option(
    "--heads", callback=reading(positive), default="16", show_default=True, metavar="H", help="Heads"
)
@click.option(
    "--head-dim",
    "head_dims",
    callback=reading(head_dims),
    default="64,128",
    show_default=True,
    metavar="D,...",
    help="Width of one head, d, a landscape each",
)
@click.option(
    "--causal/--no-causal",
    default=None,
    help="Under a causal mask, or without; left out: a landscape of each",
)
@click.option(
    "--rows",
    callback=reading(cut_rows),
    metavar="NUMBER,...",
    help="What rows differ in, a landscape each: groups, subtiles, stages, q_stages, residents or columns, "
    "where a kernel has them; columns differ in keys, or queries, of a tile; left out: the first there is",
)
@session_out_option
@click.option(
    "--into", type=SESSION, metavar="FILE", help="A session that takes the landscapes; left out: a new one"
)
@connect_option
@json_option
@click.pass_context
def cuts(
    context: click.Context,
    /,
    *,
    causal: bool | None,
    rows: tuple[str, ...] | None,
    out: Path | None,
    into: Path | None,
    as_json: bool,
    connect: str | None,
    **chosen: Any,
) -> int:
    """Time cuts of KERNELs side by side, the five fastest anew, beside the shipped ones; save a session."""
    if out is not None and into is not None:
        raise click.UsageError("--out makes a session, --into names one that is there; give one", context)
    from flashscope.app.commands.inside.cuts import CutChoices  # noqa: PLC0415 - as `run` imports it

    choices = CutChoices(masks=(False, True) if causal is None else (causal,), rows=rows or (), **chosen)
    return run("inside.cuts", choices, out=out, into=into, as_json=as_json, connect=connect)


@command(
    "gradients flash2 --backend cpu --seqlen 64 --causal",
    "gradients flash3 --seqlen 512 --heads 8 --kv-heads 2 --head 1",
    params=[option_of(CHOSEN[name]) for name in OF_GRADIENTS],
)
@click.argument("kernel", type=click.Choice(BACKWARD_KERNELS))
@seqlen_option("64")
@click.option("--head", type=click.IntRange(0), default=0, show_default=True, help="Which K/V head, from 0")
@click.option(
    "--block",
    callback=reading(positive),
    default="16",
    show_default=True,
    metavar="B",
    help="Queries, and keys, of a tile on the CPU; on a GPU the kernel has tiles of its own",
)
@connect_option
@json_option
@click.pass_context
def gradients(context: click.Context, /, kernel: BackwardKernel, **options: Any) -> int:
    """Walk the backward pass of KERNEL tile by tile: P, dP, dS, and the gradients as they grow."""
    chosen = {name: value for name, value in given(context).items() if name in OF_GRADIENTS}
    said = {name: options[name] for name in ("seqlen", "head", "block", "as_json", "connect")}
    return run("inside.gradients", kernel, chosen, **said)


COMMANDS = (timeline, gradients, cuts)
