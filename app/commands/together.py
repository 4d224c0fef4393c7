"""Which arguments of a command go together."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from flashscope.app.commands.arguments import STDOUT
from flashscope.app.commands.hosts import HERE, Hosts
from flashscope.app.report.kinds import KINDS
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.profiles.cluster.client.device_words import ALL, read_devices
from flashscope.profiles.plan.choice import choices_of
from flashscope.profiles.plan.presets import CHOICES, PRESETS
from flashscope.profiles.plan.request import Request

CHOSEN = {declared.name: declared for declared in choices_of(Request)}
PICTURE_OPTIONS = frozenset({"plot", "curve", "theme", "scale", "transparent"})


def given(context: click.Context) -> dict[str, Any]:
    """The arguments that stand on the command line."""
    said = ParameterSource.COMMANDLINE
    return {
        name: value for name, value in context.params.items() if context.get_parameter_source(name) is said
    }


def refuse_beside_resume(context: click.Context) -> None:
    """Nothing says how to measure, or where to save, beside a file that says both.

    Raises:
        click.UsageError: Something does; it is named.
    """
    said = given(context)
    beside = [
        (option.secondary_opts if said[option.name] is False else option.opts)[0]
        for option in context.command.params
        if option.name in said.keys() - {"resume", "as_json", "own", "connect", "devices"}
    ]
    if beside:
        told = " and ".join(beside)
        raise click.UsageError(f"--resume takes plan and file as they are; leave out {told}", context)


def refuse_beside_watch(context: click.Context) -> None:
    """Watching measures one kernel of one's own, again and again.

    Raises:
        click.UsageError: None is named, or several are, or something says to measure otherwise.
    """
    if len(context.params["own"]) != 1:
        raise click.UsageError("--watch takes one kernel of one's own; name it with --kernel FILE", context)
    beside = given(context).keys() & {"preset", "resume", "runs", "beside", "connect", "devices", "spread"}
    if beside:
        told = " and ".join(f"--{name}" for name in sorted(beside))
        raise click.UsageError(f"--watch does not go with {told}; leave that out", context)


def refuse_beside_scheduler(context: click.Context) -> None:
    """A host that joins another has neither a scheduler nor files of its own for clients.

    Raises:
        click.UsageError: The command line says of them, or names a host that joins none.
    """
    said = given(context)
    if "scheduler" not in said:
        if "name" in said:
            raise click.UsageError("--name calls a host that joins another; give --scheduler, too", context)
        return
    if beside := [f"--{name}" for name in ("plain", "once", "file") if name in said]:
        told = " and ".join(beside)
        raise click.UsageError(f"--scheduler takes the other host's; leave out {told}", context)


def hosts_of(context: click.Context) -> Hosts:
    """Where the command line says to measure.

    Raises:
        click.UsageError: It chooses among GPUs for the CPU.
    """
    addresses, devices = context.params["connect"], context.params["devices"]
    beside = [f"--{name}" for name in ("devices", "spread") if name in given(context)]
    if beside and not addresses and context.params["backend"] == "cpu":
        raise click.UsageError(f"{beside[0]} is about GPUs here; leave --backend cpu out", context)
    written = devices or (ALL if beside and not addresses else "")
    return Hosts(addresses, read_devices(written) if written else None, written)


def refuse_beside_repeat(context: click.Context) -> None:
    """One sweep on each device is one run a device, each with a file that is numbered.

    Raises:
        click.UsageError: More runs are asked for, or there is no name.
    """
    beside = [f"--{name}" for name in ("runs", "beside") if name in given(context)]
    if beside:
        raise click.UsageError(f"--spread repeat measures once a device; leave out {beside[0]}", context)
    if context.params["out"] is None:
        raise click.UsageError("several devices need a name to be numbered under; give --out, too", context)


def refuse_beside_lengths(context: click.Context) -> None:
    """The lengths of an audit's sequences say how many there are, and how long.

    Raises:
        click.UsageError: So does something else.
    """
    beside = [f"--{name}" for name in ("batch", "seqlen") if name in given(context)]
    if context.params["lengths"] and beside:
        told = " and ".join(beside)
        raise click.UsageError(f"--lengths has a length for each sequence; leave out {told}", context)


def asked_for(context: click.Context) -> dict[str, Any]:
    """The choices that `sweep` was given, by their names.

    Raises:
        click.UsageError: They do not go together.
    """
    said = {name: value for name, value in given(context).items() if name in CHOSEN}
    for declared in map(CHOSEN.__getitem__, said):
        needed = declared.choice.needs
        if needed and needed not in said:
            flags = declared.choice.flag, CHOSEN[needed].choice.flag
            raise click.UsageError(f"{flags[0]} belongs to {flags[1]}; give that too", context)
        of_problem = declared.name in Request.__struct_fields__ and declared.name not in CHOICES
        if context.params["preset"] and of_problem:
            flag = declared.choice.flag.partition("/")[0]
            raise click.UsageError(f"--preset names its own problems; leave out {flag}", context)
    preset = PRESETS.get(context.params["preset"] or "")
    if preset is not None and preset.passes is not None and "passes" in said:
        raise click.UsageError("this --preset names its own pass; leave out --pass", context)
    return said


def words_of(
    choices: Mapping[str, Any],
    preset: str | None,
    own: Sequence[OwnKernel] = (),
    *,
    keep_source: bool = False,
    hosts: Hosts = HERE,
) -> list[str]:
    """The words that say these choices of a sweep again, without its command."""
    chosen = [word for name, value in choices.items() for word in CHOSEN[name].command_words(value)]
    files = [word for one in own for word in ("--kernel", one.reference)]
    kept = ["--keep-source"] if keep_source else []
    preset_words = ["--preset", preset] if preset else []
    return [*preset_words, *chosen, *files, *kept, *hosts.words]


def refuse_taken(context: click.Context, out: Path | None, *, force: bool) -> None:
    """Write over nothing, unless that was asked for.

    Raises:
        click.UsageError: There is a file of that name.
    """
    if out not in {None, STDOUT} and not force and os.path.lexists(out):
        raise click.UsageError(f"{out} exists already; name another file, or give --force", context)


def picture_options(context: click.Context, kind: str) -> dict[str, Any]:
    """What the command line says of a picture.

    Raises:
        click.UsageError: That kind of file takes none of it.
    """
    said = {name: value for name, value in given(context).items() if name in PICTURE_OPTIONS}
    for name in said:
        kinds = ("png",) if name == "scale" else tuple(key for key, one in KINDS.items() if one.picture)
        if kind not in kinds:
            raise click.UsageError(f"--{name} belongs to {' and '.join(kinds)}, not to {kind}", context)
    return said | {"plot": said["plot"].key} if "plot" in said else said
