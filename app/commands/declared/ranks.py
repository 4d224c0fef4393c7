"""The command that computes one sequence on several GPUs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from flashscope.app.commands.arguments import kept_file, positive, ranks_schemes, reading
from flashscope.app.commands.declared.options import (
    AnyCommand,
    backend_option,
    command,
    connect_option,
    json_option,
    run,
)
from flashscope.kernels.context_parallel.schemes import SCHEMES
from flashscope.kernels.workload.problem import DTYPES, PASSES
from flashscope.profiles.plan.seqlens import parse_seqlens
from flashscope.profiles.wire.ranks import REPEATS, TRANSPORTS


def gpus(text: str) -> int:
    """How many GPUs: `all`, which is 0, or a whole number from 1."""
    return 0 if text == "all" else positive(text)


def _number(flag: str, default: str | None, about: str) -> Callable[[AnyCommand], AnyCommand]:
    """An option that is a whole number from 1."""
    more: dict[str, Any] = {} if default is None else {"default": default, "show_default": True}
    return click.option(flag, callback=reading(positive), metavar="N", help=about, **more)


@command(
    "ranks --scheme ring,zigzag,all-gather,ulysses --seqlen 16k:256k --gpus all",
    "ranks --scheme zigzag --gpus 1 --ranks 8 --seqlen 4k",
    "ranks --backend cpu --ranks 4 --seqlen 256:1k --heads 4 --head-dim 32 --out ranks.flashscope",
)
@click.option(
    "--scheme",
    "schemes",
    callback=reading(ranks_schemes),
    default=",".join(SCHEMES),
    show_default=True,
    metavar="S,...",
    help="Who holds which rows and keys, and what moves",
)
@click.option(
    "--seqlen",
    "seqlens",
    callback=reading(parse_seqlens),
    metavar="N,...",
    help="Sequence lengths, as sweep takes them; left out: 16k:256k on GPUs, 1k on a CPU",
)
@backend_option("Where; on a CPU ranks in NumPy, which take turns")
@click.option(
    "--gpus",
    callback=reading(gpus),
    default="all",
    show_default=True,
    metavar="N",
    help="On how many GPUs of one machine",
)
@_number("--ranks", None, "How many ranks; more than GPUs share these; left out: one a GPU, two on a CPU")
@click.option("--causal/--no-causal", default=True, show_default=True, help="Under a causal mask, or none")
@click.option(
    "--pass", "passes", type=click.Choice(PASSES), default="both", show_default=True, help="Which passes"
)
@_number("--batch", "1", "Sequences")
@_number("--heads", "16", "Query heads")
@_number("--kv-heads", None, "Key/value heads, a divisor of the heads; left out: as many")
@_number("--head-dim", "128", "Width of one head, d")
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    help="Element type; left out: bfloat16 on GPUs, float32 on a CPU",
)
@click.option(
    "--transport",
    type=click.Choice(TRANSPORTS),
    default="peer",
    show_default=True,
    help="How arrays go from GPU to GPU: copies by the copy engines, or NCCL",
)
@_number("--repeats", str(REPEATS), "Timed runs")
@click.option(
    "--alone/--no-alone",
    default=True,
    show_default=True,
    help="Beside one GPU with all of it, which takes longest where N is long",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="What inputs are drawn by")
@click.option(
    "--out",
    callback=reading(kept_file),
    metavar="FILE",
    help="Keep each result in this session, new or not, as it is done; left out: print alone",
)
@connect_option
@json_option
def ranks(out: Path | None, connect: str | None, **chosen: Any) -> int:
    """Compute one sequence on several GPUs: efficiency, what moves, what it costs, whether it is right."""
    from flashscope.app.commands.ranks import RanksChoices  # noqa: PLC0415 - as `run` imports it

    as_json = chosen.pop("as_json")
    return run("ranks", RanksChoices(**chosen), out=out, as_json=as_json, connect=connect)


COMMANDS = (ranks,)
