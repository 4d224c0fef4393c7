"""The commands that measure, or say what can be measured here."""

from pathlib import Path
from typing import Any

import click

from flashscope.app.commands.arguments import (
    checked,
    new_file,
    option_of,
    positive,
    reading,
    reading_each,
    token_counts,
)
from flashscope.app.commands.arguments import (
    peers as kernel_names,
)
from flashscope.app.commands.declared.options import (
    SESSION,
    backend_option,
    command,
    connect_option,
    json_option,
    run,
    seqlen_option,
    session_out_option,
    several_connects_option,
)
from flashscope.app.commands.together import (
    CHOSEN,
    asked_for,
    hosts_of,
    refuse_beside_lengths,
    refuse_beside_repeat,
    refuse_beside_resume,
    refuse_beside_watch,
    words_of,
)
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.own.references import read_reference
from flashscope.kernels.workload.problem import DTYPES
from flashscope.profiles.cluster.client.device_words import read_devices
from flashscope.profiles.plan.presets import PRESETS
from flashscope.profiles.plan.seqlens import parse_seqlen, parse_seqlens


@command(
    "window",
    "window h200-peers",
    "window --connect lab.connection --connect den.connection",
)
@click.argument("file", type=SESSION, required=False)
@several_connects_option
def window(file: Path | None, connect: tuple[str, ...]) -> int:
    """Open the window, with a session in it when FILE is given."""
    return run("window", file, connect=connect)


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
    "--watch",
    is_flag=True,
    help="Measure the one --kernel at each save of its file, beside its version before and the --kernels "
    "(left out: the fastest of ours), at --seqlen (left out: 1k), until Ctrl-C; each version has a session "
    "with its source, NAME-v1 and so on by --out",
)
@click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    help="A sweep with a name, beside libraries' kernels: "
    + "; ".join(f"{name}: {preset.about}" for name, preset in PRESETS.items())
    + "; left out: the choices above",
)
@session_out_option
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
@several_connects_option
@click.option(
    "--devices",
    metavar="WHICH",
    callback=checked(read_devices),
    help="Devices of these hosts, or without --connect GPUs of this machine: all, the first N of each, or by "
    "number, name or UUID, as 0,2 or 'GPU 0'; left out: the first that is free, and of several hosts all",
)
@click.option(
    "--spread",
    type=click.Choice(("split", "repeat")),
    default="split",
    show_default=True,
    help="Of several devices: split shares the problems among equal ones, all kernels of a problem on one; "
    "repeat measures all of it on each, into NAME-1.flashscope and so on by --out, and compares them",
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
    watch: bool,
    spread: str,
    **_: Any,
) -> int:
    """Measure kernels over sequence lengths and save a session."""
    if watch:
        refuse_beside_watch(context)
        return run("versions.watch", asked_for(context), own=own[0], out=out, as_json=as_json)
    if resume is not None:
        refuse_beside_resume(context)
        return run("resume", resume, as_json=as_json, hosts=hosts_of(context))
    chosen, hosts = asked_for(context), hosts_of(context)
    if spread == "repeat":
        refuse_beside_repeat(context)
        words = words_of(chosen, preset, own, keep_source=keep_source)
        return run("repeat", words, hosts, out=out, as_json=as_json)
    if runs == 1 and beside is None:
        return run(
            "sweep",
            chosen,
            preset=preset,
            out=out,
            as_json=as_json,
            own=own,
            keep_source=keep_source,
            hosts=hosts,
        )
    if out is None:
        raise click.UsageError("several runs need a name to be numbered under; give --out, too", context)
    words = words_of(chosen, preset, own, keep_source=keep_source, hosts=hosts)
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
    "claims --connect lab.connection --json",
)
@connect_option
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
@connect_option
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
    """Say how far a machine's figures agree with other instruments' there; takes minutes."""
    return run("selfcheck", **options)


@command(
    "audit my-model --batch 2 --seqlen 1k",
    "audit meta-llama/Llama-3.1-8B --layers 2 --train --out llama.flashscope",
    "audit my_model.py:make --seqlen 256",
)
@click.argument("model", metavar="MODEL")
@backend_option()
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    help="Element type of the weights  [default: float32 on a CPU, else bfloat16]",
)
@click.option(
    "--batch", callback=reading(positive), default="1", show_default=True, metavar="B", help="Sequences"
)
@seqlen_option(
    "512", "Tokens of a sequence; a decode adds one; images and sound are as long as the model has them"
)
@click.option(
    "--lengths",
    callback=reading(token_counts),
    metavar="N,...",
    help="Tokens of each sequence, with padding before the shorter ones; left out: all are alike",
)
@click.option(
    "--context",
    callback=reading(parse_seqlen),
    metavar="N",
    help="Tokens before the one that a decode adds; left out: as many as --seqlen",
)
@click.option("--train", "training", is_flag=True, help="Take a training step, too, with AdamW")
@click.option(
    "--layers",
    callback=reading(positive),
    metavar="K",
    help="Build so many layers of each part, of the true shape; left out: all",
)
@click.option("--random", is_flag=True, help="Random weights, also where the model's own are there")
@click.option(
    "--kernels",
    callback=reading(kernel_names),
    metavar="A,B",
    help="Kernels that replay the calls; left out: all that take any of them here",
)
@click.option(
    "--repeats",
    callback=reading(positive),
    default="15",
    show_default=True,
    metavar="R",
    help="Samples of each replay",
)
@click.option(
    "--time-cap",
    "time_cap_s",
    type=click.FloatRange(min=0.001),
    default=3.0,
    show_default=True,
    metavar="S",
    help="Stop sampling a replay after this long, but not before 3 samples",
)
@click.option(
    "--rounds",
    callback=reading(positive),
    default="9",
    show_default=True,
    metavar="K",
    help="Steps that are timed with each implementation, in turns",
)
@connect_option
@session_out_option
@json_option
@click.pass_context
def audit(
    command_line: click.Context,
    /,
    *,
    lengths: tuple[int, ...] | None,
    out: Path | None,
    as_json: bool,
    connect: str | None,
    **chosen: Any,
) -> int:
    """Record the attention of MODEL, replay its calls over the kernels here, say what switching gains.

    MODEL is a folder with a config.json, a configuration's file, a name in the local Hugging Face cache, or
    FILE.py:NAME, whose NAME(batch, seqlen) makes a torch module and its inputs; that file runs with your
    rights. Nothing is fetched. With --connect folder, file and cache are the host's.
    """
    from flashscope.app.commands.audit import AuditChoices  # noqa: PLC0415 - as `run` imports it

    refuse_beside_lengths(command_line)
    choices = AuditChoices(lengths=lengths or (), **chosen)
    return run("audit", choices, out=out, as_json=as_json, connect=connect)


COMMANDS = (window, sweep, audit, kernels, peers, claims, doctor, selfcheck)
