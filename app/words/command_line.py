"""What is typed in a terminal to get what the window shows."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from flashscope.app.words.shell import shell_line
from flashscope.installation import PROGRAM
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.choice import choices_of
from flashscope.profiles.plan.models import Model, Setting
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.presets import CHOICES, PRESETS, preset_plan
from flashscope.profiles.plan.request import Request


def command_line(request: Request, runs: int = 1, devices: Sequence[str] = ()) -> str:
    """The command that runs this sweep so many times in a terminal, with options that name its devices."""
    several = ["--runs", str(runs)] if runs > 1 else []
    words = ["sweep", *request.words(), *devices, *several, "--out", "sweep.flashscope"]
    return f"{PROGRAM} {shell_line(words)}"


def repeating(plan: Plan, problems: Sequence[Problem]) -> str | None:
    """The command that measures these problems of a plan again; None: none asks for just these."""
    try:
        asked = Request.of_plan(plan, problems)
        again = asked.plan()
        _check_spelling(asked)
    except (InputError, ValueError):  # of a file from elsewhere
        return None
    same = set(again.problems) == set(problems) and again.protocol == plan.protocol
    return command_line(asked) if same else None


def _check_spelling(asked: Request) -> None:
    """Raises ValueError where the words of a choice mean something else, as of a kernel called `a,b`."""
    for declared in choices_of(Request):
        value = asked.value(declared.name)
        if declared.kind is not bool and value is not None and declared.read(declared.write(value)) != value:
            raise ValueError(f"{declared.name} cannot be spelled")


def repeating_preset(plan: Plan) -> str | None:
    """The command that runs the preset that a plan is; None: it is none."""
    if not plan.problems:
        return None
    first = plan.problems[0]
    passes, deterministic = first.passes, first.deterministic
    chosen = partial(
        preset_plan,
        backend=plan.backend,
        protocol=plan.protocol,
        seed=plan.seed,
        kernels=plan.kernels,
        passes=passes,
        deterministic=deterministic,
    )
    name = next((one for one in PRESETS if chosen(one) == plan), None)
    if name is None:
        return None
    said = ["sweep", "--preset", name]
    asked = Request.of(
        plan.backend, kernels=plan.kernels, passes=passes, deterministic=deterministic, seed=plan.seed
    )
    asked = msgspec.structs.replace(asked, protocol=plan.protocol)
    for declared in choices_of(Request):
        if declared.name in CHOICES or declared.name not in Request.__struct_fields__:
            said += declared.command_words(asked.value(declared.name))
    return f"{PROGRAM} {shell_line([*said, '--out', 'sweep.flashscope'])}"


def compare_line(sides: Sequence[Sequence[Path]], quantity: str) -> str:
    """The comparison of these sides' session files, the baseline's first, for a terminal."""
    parted = ["vs"] if any(len(side) > 1 for side in sides) else []
    first, *others = [list(map(str, side)) for side in sides]
    words = ["compare", *first, *(word for side in others for word in (*parted, *side))]
    words += ["--quantity", quantity] if quantity != "runtime" else []
    return f"{PROGRAM} {shell_line(words)}"


def plan_line(model: Model, setting: Setting) -> str:
    """The planner's question about a published model for a terminal."""
    words = ["plan", "--model", model.name]
    for declared in choices_of(Setting):
        words += declared.command_words(getattr(setting, declared.name))
    return f"{PROGRAM} {shell_line(words)}"
