"""Command lines as people and scripts type them, drawn from what the commands declare.

A sweep's is drawn from its choices: a request of tiny problems, spelled in one of several ways. Every other
option takes a text of its pool; what has none takes any of `ANY`. A third of all lines is then spoiled: a
word is left out, doubled, replaced or moved.
"""

import random
from pathlib import Path
from typing import Any, NamedTuple

import click

from flashscope.app.commands.program import program
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.workload.block_pattern import BlockPattern
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.plan.choice import Declared, choices_of
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.request import Request

SPOILED = 1 / 3
SWEEPS = 0.4
MEASURED = 0.98  # of the draws that could not be measured, so many are drawn again
GIVEN = 0.3  # of all options
ANY = ("1", "0", "-1", "x", "", "1e999", "4k", "a,b", "é", "--", "'", "\N{ARABIC LETTER ALEF}", "9" * 30)
FILES = (
    "{session}",
    "{session}",
    "{session}",
    "h200-standard-flash2",
    "{missing}",
    "{junk}",
    "{folder}",
    "-",
)
OUTS = (
    "{folder}/out.csv",
    "{folder}/out.json",
    "{folder}/out.html",
    "{folder}/o.trace.json",
    "-",
    "{session}",
)
POOLS: dict[str, tuple[str, ...]] = {
    "file": FILES,
    "base": FILES,
    "others": FILES,
    "session": FILES,
    "resume": FILES,
    "folder": ("{folder}", "{missing}"),
    "out": OUTS,
    "page": ("{folder}/page.html", "-", "{missing}/page.html"),
    "kind": ("csv", "json", "html", "perfetto", "pdf"),
    "against": ("flash2", "standard,flash2", "nobody", "auto"),
    "kernel": ("flash2", "flash3-b", "flash9"),
    "seqlen": ("64", "4k", "4096", "0", "1m"),
    "context": ("128k", "1000", "0"),
    "quantity": ("runtime", "speed-up", "throughput", "footprint", "beauty"),
    "plot": ("runtime", "beauty"),
    "scores": ("1,3,2,0.5", "1", "nan", "1,,2", "1e300,-1e300"),
    "values": ("1,2,3,4", "1", "inf"),
    "block": ("2", "1", "0", "7"),
    "head_dim": ("64", "128", "63", "-8"),
    "fail_on": ("5", "0", "-1", "many"),
    "model": ("Llama-3-8B", "llama-3-8b", "nobody"),
    "memory": ("80", "0.5", "0", "all"),
    "batch": ("1", "4", "0"),
    "scale": ("1", "4", "5"),
    "curve": ("d 64", "no such"),
}
QUICK = ("sweep", "show", "compare", "export", "trend", "plan", "trace", "source", "kernels", "doctor")
"""Commands that end soon; the others open windows, draw every page or measure for minutes."""

CHOSEN: dict[str, tuple[Any, ...]] = {
    "kernels": (
        ("flash2",),
        ("standard", "flash1"),
        ("flash1", "flash2"),
        ("fused",),
        ("flash3", "standard"),
    ),
    "seqlens": ((16,), (1, 2), (33,), (16, 32, 64), (48, 49)),
    "head_dim": (8, 16, 32, 24, 7),
    "heads": (1, 2, 4),
    "kv_heads": (None, None, 1, 2, 3),
    "queries": (0, 0, 1, 15, 40),
    "batch": (1, 2, 3),
    "lengths": ("full", "full", "spread"),
    "page_size": (None, None, 16),
    "head_dim_v": (None, None, None, 24),
    "softcap": (None, None, 50.0, 0.5),
    "dtype": ("float32", "float32", "float32", "float16"),
    "passes": ("forward", "forward", "backward", "both"),
    "window": (None, None, (0, 0), (3, -1), (-1, 5)),
    "blocks": (None, None, *map(BlockPattern.parse, ("local:1", "global:1", "strided:2,local:1"))),
    "block_size": (16, 8),
    "seed": (0, 1, 2**31 - 1),
    "repeats": (3, 4),
    "time_cap_s": (1.0, 0.5),
    "sustain_s": (0.0, 0.0, 0.01),
    "counters": (False,),
}
"""Values of a sweep's choices that take no time on a CPU; a switch that is not here takes both."""


class Line(NamedTuple):
    """A command line.

    Attributes:
        words: What is typed after the program's name; `{session}` and the like stand for files.
        plan: What a sweep that is spelled right measures; None for any other line.
        refused: Whether there is no such sweep, so that the line is to be refused.
    """

    words: list[str]
    plan: Plan | None = None
    refused: bool = False


def draw(dice: random.Random) -> Line:
    """One command line."""
    name = "sweep" if dice.random() < SWEEPS else dice.choice(QUICK)
    line = _sweep(dice) if name == "sweep" else Line([name, *_options(dice, program.commands[name])])
    return Line(_spoiled(dice, line.words)) if dice.random() < SPOILED else line


def placed(words: list[str], places: dict[str, Path]) -> list[str]:
    """The words with the files that they stand for."""
    for name, path in places.items():
        words = [word.replace(f"{{{name}}}", str(path)) for word in words]
    return words


def _sweep(dice: random.Random) -> Line:
    """A sweep's line; most can be measured, which chance alone would seldom give."""
    request, plan = _request(dice)
    while plan is None and dice.random() < MEASURED:
        request, plan = _request(dice)
    words = [word for one in choices_of(Request) for word in _spelled(dice, one, request)]
    ending = ["--json"] if dice.random() < 1 / 2 else []
    line = ["sweep", *words, "--out", "{folder}/swept.flashscope", *ending]
    return Line(line, plan, refused=plan is None)


def _request(dice: random.Random) -> tuple[Request, Plan | None]:
    """A request, and its plan if there is one of which a kernel takes anything here."""
    values = {
        one.name: dice.choice(CHOSEN.get(one.name, (False, True) if one.kind is bool else (one.default,)))
        for one in choices_of(Request)
        if one.name != "backend"
    }
    request = Request.of("cpu", **values)
    try:
        plan = request.plan()
    except InputError:
        return request, None
    return request, plan if any(taken_here(plan)) else None


def taken_here(plan: Plan) -> list[bool]:
    """Of each point whether its kernel takes it on the CPU."""
    return [not find_kernel(p.kernel).unsupported(p.problem, describe()) for p in plan.points()]


def _spelled(dice: random.Random, declared: Declared, request: Request) -> list[str]:
    """A choice in one of the ways to write it; nothing, as often as not, where it is the default."""
    value = request.value(declared.name)
    if declared.choice.needs and request.value(declared.choice.needs) is None:
        return []
    words = declared.command_words(value)
    if value == declared.default_on("cpu") and declared.name != "backend" and dice.random() < 1 / 2:
        return []
    if len(words) == 2 and dice.random() < 1 / 2:
        return ["=".join(words)]
    return words


def _options(dice: random.Random, command: click.Command) -> list[str]:
    """Arguments of a command, those that it must have and some others."""
    words: list[str] = []
    for one in command.params:
        pool = POOLS.get(one.name or "", ANY)
        if isinstance(one, click.Argument):
            words += [dice.choice(pool)] if one.required or dice.random() < 1 / 2 else []
        elif one.required or dice.random() < GIVEN:
            words += _option(dice, one, pool)
    return words


def _option(dice: random.Random, one: click.Parameter, pool: tuple[str, ...]) -> list[str]:
    option = dice.choice([*one.opts, *one.secondary_opts])
    if isinstance(one, click.Option) and one.is_flag:
        return [option]
    if isinstance(one.type, click.Choice) and one.name not in POOLS:
        pool = (*map(str, one.type.choices), "no such")
    return [option, dice.choice(pool)]


def _spoiled(dice: random.Random, words: list[str]) -> list[str]:
    """The words, one of them left out, doubled, replaced or moved; never the command."""
    places = [place for place, word in enumerate(words) if not word.startswith("--seqlen")]  # long by default
    place, after = dice.choice(places), list(words)
    match dice.randrange(4):
        case 0 if place:
            del after[place]
        case 1:
            after.insert(place + 1, words[place])
        case 2 if place and words[place - 1] not in {"--repeats", "--seqlen", "--backend"}:
            after[place] = dice.choice(ANY)
        case _:
            after.insert(dice.randrange(1, len(after) + 1), dice.choice(ANY))
    return after
