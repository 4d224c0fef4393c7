"""The command that lends this machine's devices to others."""

import re
from pathlib import Path
from typing import Any

import click

from flashscope.app.commands.arguments import checked, export_target, reading
from flashscope.app.commands.declared.options import backend_option, command, run
from flashscope.app.commands.together import refuse_beside_scheduler

ALL = "all"
PORT = 8786
SHORTEST_HOLD_S = 5  # a client is heard every 2 s at least


def gpu_numbers(text: str) -> tuple[int, ...]:
    """Numbers of GPUs as nvidia-smi lists them, once each; `all` is none."""
    if text == ALL:
        return ()
    if not re.fullmatch(r"\d{1,4}(,\d{1,4})*", text):
        raise ValueError(f"{text[:40]!r} is neither {ALL} nor numbers of GPUs as 0,2")
    return tuple(dict.fromkeys(map(int, text.split(","))))


def host_name(text: str) -> str:
    """What a host is called, in signs that names of hosts have."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", text):
        raise ValueError(f"{text[:40]!r} is no name of a host: letters, digits and . _ - alone, 63 at most")
    return text


@command(
    "serve",
    "serve --gpus 0,2 --port 9000 --file lab.connection",
    "serve --scheduler gpu-host-8786.joining",
)
@backend_option("What is lent: GPUs, or the CPU")
@click.option(
    "--gpus",
    callback=reading(gpu_numbers),
    default=ALL,
    show_default=True,
    metavar="LIST",
    help="The GPUs by their numbers in nvidia-smi, as 0,2",
)
@click.option(
    "--host",
    metavar="NAME",
    help="What to listen on, and what clients connect to; left out: every address, and with --plain this "
    "machine alone",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="The port, 0: any; beside --scheduler that of the first device, on which the others follow; "
    f"left out: {PORT}, and beside --scheduler any",
)
@click.option(
    "--plain",
    is_flag=True,
    help="Neither encrypt nor ask for certificates, on this machine alone: all of its users can then run "
    "programs as you",
)
@click.option(
    "--hold",
    "hold_s",
    type=click.FloatRange(SHORTEST_HOLD_S, 7 * 24 * 3600),
    default=120.0,
    show_default=True,
    metavar="S",
    help="How long a device is kept, and its sweep goes on, for a client that is not heard: a laptop asleep",
)
@click.option(
    "--trust-code",
    is_flag=True,
    help="Run kernels that clients send (sweep --kernel), with your rights; this guards against accidents "
    "and is no wall: who holds the file can run any program here; left out: they are refused",
)
@click.option(
    "--once",
    is_flag=True,
    help="Serve one client: end when it has left, is not heard for --hold, or when stdin is closed",
)
@click.option(
    "--file",
    callback=reading(export_target),
    metavar="FILE",
    help="The connection file, beside it the one for --scheduler; -: on stdout, without that; left out: "
    "HOST-PORT.connection among your connections",
)
@click.option(
    "--scheduler",
    metavar="HOST",
    help="Lend them beside another host's, to its clients: the file HOST-PORT.joining that `serve` made "
    "there, tls://HOST:PORT of one among your connections, or tcp://127.0.0.1:PORT; --host is then what that "
    "host reaches this one by; left out: by a scheduler of this machine's own",
)
@click.option(
    "--name",
    callback=checked(host_name),
    metavar="NAME",
    help="What this host is called in the names of its devices, beside --scheduler; left out: its own name",
)
@click.pass_context
def serve(
    context: click.Context,
    /,
    *,
    gpus: tuple[int, ...],
    file: Path | None,
    port: int | None,
    scheduler: str | None,
    **options: Any,
) -> int:
    """Lend this machine's devices, one client each, to who holds the connection file that is made here.

    That file is a key: who has it can run any program on this machine with your rights. Carry it over as you
    would a private key (scp), and measure with `sweep --connect FILE`. Ctrl-C ends what is served, and the
    file's worth.
    """
    refuse_beside_scheduler(context)
    usual = PORT if scheduler is None else 0
    port = usual if port is None else port
    return run("serve", gpus=gpus, file=file, port=port, scheduler=scheduler, **options)


COMMANDS = (serve,)
