"""The commands that measure, or say what can be measured here."""

from pathlib import Path
from typing import Any, get_args

import click

from flashscope.app.commands.arguments import (
    STDOUT,
    cut_kernels,
    cut_rows,
    export_target,
    head_dims,
    new_file,
    option_of,
    positive,
    reading,
    reading_each,
)
from flashscope.app.commands.declared.options import SESSION, command, force_option, json_option, run
from flashscope.app.commands.together import (
    CHOSEN,
    asked_for,
    given,
    refuse_beside_resume,
    refuse_taken,
    words_of,
)
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.own.references import read_reference
from flashscope.kernels.workload.problem import PASSES
from flashscope.kernels.workload.timeline import MOST_ROUNDS, ClockedKernel, TimelineRequest
from flashscope.profiles.plan.presets import PRESETS
from flashscope.profiles.plan.seqlens import parse_seqlen, parse_seqlens


@command(
    "window",
    "window h200-peers",
)
@click.argument("file", type=SESSION, required=False)
def window(file: Path | None) -> int:
    """Open the window, with a session in it when FILE is given."""
    return run("window", file)


@command(
    "sweep --backend cpu --seqlen 256:2048 --heads 2 --out first.flashscope",
    "sweep --kernels flash2,flash3 --seqlen 1k,4k --causal --sustain 2",
    "sweep --backend cpu --seqlen 1k --runs 5 --out run.flashscope",
    params=[option_of(declared) for declared in CHOSEN.values()],
)
@click.option(
    "--kernel",
    "own",
    multiple=True,
    callback=reading_each(read_reference),
    metavar="FILE",
    help="A kernel of one's own, measured beside the others: FILE.cu, FILE.py or FILE.py:FUNCTION, or its "
    "name in $FLASHSCOPE_HOME/kernels; as often as there are; a .py runs with your rights; left out: none",
)
@click.option(
    "--keep-source",
    is_flag=True,
    help="Keep the text of these files in the session, too; left out: their hashes alone",
)
@click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    help="A sweep with a name, beside libraries' kernels: "
    + "; ".join(f"{name}: {preset.about}" for name, preset in PRESETS.items())
    + "; left out: the choices above",
)
@click.option(
    "--out",
    callback=reading(new_file),
    metavar="FILE",
    help="The session file; left out: a new one among your sessions",
)
@click.option(
    "--resume",
    type=SESSION,
    metavar="FILE",
    help="Go on with a sweep that was broken off, in its file and by its plan; left out: a new one",
)
@click.option(
    "--runs",
    type=click.IntRange(1, 99),
    default=1,
    show_default=True,
    metavar="K",
    help="Run it so many times, each in processes of its own, into NAME-1.flashscope and so on by --out",
)
@click.option(
    "--beside",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="PROGRAM",
    help="Beside each run one of another Flashscope, its main.py or command, in turns; left out: none",
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
    runs: int,
    beside: Path | None,
    as_json: bool,
    own: tuple[OwnKernel, ...],
    keep_source: bool,
    **_: Any,
) -> int:
    """Measure kernels over sequence lengths and save a session."""
    if resume is not None:
        refuse_beside_resume(context)
        return run("resume", resume, as_json=as_json)
    chosen = asked_for(context)
    if runs == 1 and beside is None:
        return run("sweep", chosen, preset=preset, out=out, as_json=as_json, own=own, keep_source=keep_source)
    if out is None:
        raise click.UsageError("several runs need a name to be numbered under; give --out, too", context)
    words = words_of(chosen, preset, own, keep_source=keep_source)
    return run("runs", words, runs=runs, out=out, beside=beside, as_json=as_json)


@command(
    "kernels",
    "kernels --json",
)
@json_option
def kernels(**options: Any) -> int:
    """List the kernels, and where each runs or why not."""
    return run("kernels", **options)


@command(
    "peers",
    "peers h200-peers",
    "peers --install flashinfer",
)
@click.argument("file", type=SESSION, required=False)
@click.option(
    "--install",
    "name",
    metavar="PEER",
    help="Put a peer's package into a folder of its own, which the worker that measures it uses alone; "
    "left out: nothing is installed",
)
@json_option
@click.pass_context
def peers(context: click.Context, /, file: Path | None, name: str | None, *, as_json: bool) -> int:
    """Say which libraries stand beside our kernels here, which could, and how; with FILE: what it holds."""
    if name is None:
        return run("peers", file, as_json=as_json)
    if file is not None or as_json:
        raise click.UsageError("--install stands alone; leave FILE and --json out", context)
    return run("peers_install", name)


@command(
    "claims",
    "claims --json",
)
@json_option
def claims(**options: Any) -> int:
    """Put what five documents claim of attention to the test, each number with its experiment."""
    return run("claims", **options)


@command(
    "doctor",
    "doctor --json",
)
@json_option
def doctor(**options: Any) -> int:
    """Say what is missing on this machine, with the remedy."""
    return run("doctor", **options)


@command(
    "selfcheck",
    "selfcheck --seqlen 1k:16k --out check.flashscope",
)
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
    help="A session file that keeps what was measured, and Nsight Compute's figures; left out: none",
)
@json_option
def selfcheck(**options: Any) -> int:
    """Say how far this machine's figures agree with other instruments'; takes minutes."""
    return run("selfcheck", **options)


PROBLEM = (
    *("backend", "head_dim", "heads", "kv_heads", "queries", "batch"),
    *("page_size", "dtype", "passes", "causal", "window", "seed"),
)
"""The choices of a sweep that say what a timeline is of, beside its one sequence length."""


@command(
    "timeline flash1 flash2 --backend cpu --seqlen 1k",
    "timeline flash3 --seqlen 4k --head-dim 128 --causal --into run.flashscope",
    params=[option_of(CHOSEN[name]) for name in PROBLEM],
)
@click.argument("kernels", nargs=-1, required=True, type=click.Choice(get_args(ClockedKernel)))
@click.option(
    "--seqlen",
    callback=reading(parse_seqlen),
    default="1k",
    show_default=True,
    metavar="N",
    help="N, as sweep takes one; 4k is 4096",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, MOST_ROUNDS),
    default=TimelineRequest.__struct_defaults__[-1],
    show_default=True,
    metavar="K",
    help="How often the build with clocks and the timed one run, in turns; the quickest run is kept",
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
    said = {name: options[name] for name in ("seqlen", "rounds", "force", "as_json")}
    return run("timeline", tuple(dict.fromkeys(kernels)), chosen, into=into, perfetto=perfetto, **said)


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
@click.option(
    "--backend",
    type=click.Choice((AUTO, "cuda", "cpu")),
    default=AUTO,
    show_default=True,
    help="Where; on a CPU tiles of flash2 in NumPy, forward",
)
@click.option(
    "--seqlen", callback=reading(parse_seqlen), default="4k", show_default=True, metavar="N", help="N"
)
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
@click.option(
    "--out",
    callback=reading(new_file),
    metavar="FILE",
    help="The session file; left out: a new one among your sessions",
)
@click.option(
    "--into", type=SESSION, metavar="FILE", help="A session that takes the landscapes; left out: a new one"
)
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
    **chosen: Any,
) -> int:
    """Time cuts of KERNELs side by side, the five fastest anew, beside the shipped ones; save a session."""
    if out is not None and into is not None:
        raise click.UsageError("--out makes a session, --into names one that is there; give one", context)
    from flashscope.app.commands.cuts import CutChoices  # noqa: PLC0415 - as `run` imports it

    choices = CutChoices(masks=(False, True) if causal is None else (causal,), rows=rows or (), **chosen)
    return run("cuts", choices, out=out, into=into, as_json=as_json)


COMMANDS = (window, sweep, timeline, cuts, kernels, peers, claims, doctor, selfcheck)
