"""A request as texts, spelled as on the command line, for files that people read."""

from collections.abc import Mapping
from typing import Any, cast, get_args

from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.choice import Declared, choices_of
from flashscope.profiles.plan.request import Request

Spelled = dict[str, str | bool]


def spelled(request: Request) -> Spelled:
    """Every choice by its name: a switch as it is, all else as text; what is open is left out."""
    said: Spelled = {}
    for declared in choices_of(Request):
        value, needed = request.value(declared.name), declared.choice.needs
        if value is None or (needed and request.value(needed) is None):
            continue
        said[declared.name] = value if declared.kind is bool else declared.write(value)
    return said


def read_spelled(said: Mapping[str, object]) -> Request:
    """The request that these texts spell; what they leave out is as its backend has it by default.

    Raises:
        ValueError: They spell none; the text is one sentence.
    """
    declared = {one.name: one for one in choices_of(Request)}
    unknown = sorted(set(said) - set(declared))
    if unknown:
        raise ValueError(f"{unknown[0][:40]!r} is no choice of a sweep")
    if said.get("backend") not in get_args(Backend):
        raise ValueError(f"its backend is none of {', '.join(get_args(Backend))}")
    made = {name: _read(declared[name], text) for name, text in said.items() if name != "backend"}
    return Request.of(cast("Backend", said["backend"]), **made)


def _read(declared: Declared, said: object) -> Any:
    """The value of one choice.

    Raises:
        ValueError: The text means none.
    """
    try:
        return _value(declared, said)
    except ValueError as error:
        raise ValueError(f"{declared.name}: {error}") from error


def _value(declared: Declared, said: object) -> Any:
    is_switch = declared.kind is bool
    if is_switch and isinstance(said, bool):
        return said
    if is_switch or not isinstance(said, str):
        raise ValueError(f"it is no {'switch' if is_switch else 'text'}")
    return declared.read(said)
