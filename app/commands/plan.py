"""`plan`: print what a model's attention holds on a device, how long a context fits, and a forecast."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from flashscope.app.commands.exit_codes import SIGNALLED
from flashscope.app.commands.local import find_machine, local_driver
from flashscope.app.commands.messages import say, say_json
from flashscope.app.commands.printed.printing import print_table
from flashscope.app.words.learn.planning import (
    NOT_RECORDED,
    NOTHING,
    bound_text,
    forecast_text,
    layers_text,
    outlook_summary,
    recorded_text,
    tokens_text,
)
from flashscope.app.words.units import bytes_text, thousands
from flashscope.installation import PROGRAM
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.plan.audited import AuditedPlan, planned
from flashscope.profiles.plan.models import Model, Setting
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.planner.crossing import RecordedCrossing, recorded_crossing
from flashscope.profiles.results.planner.document import outlook_document
from flashscope.profiles.results.planner.ledger import GIB, layer_problem
from flashscope.profiles.results.planner.outlook import KERNELS, Outlook, Prospect, outlook
from flashscope.profiles.store import load

HEADINGS = ("kernel", "attention", "cache", "weights", "in all", "fits", "longest context", "bound by")
NO_MEMORY = "there is no GPU here whose memory could be taken; give --memory, in GiB"
CHOSEN_PLACE = "a device"


def run(model: Model | Path, choices: dict[str, Any], *, session: Path | None, as_json: bool) -> int:
    """Print it as a table or one JSON document.

    Args:
        model: A model, or the session of an audit that has one.
        choices: What is said of the setting.
        session: Whose GPU and points are taken; None: those of no session.
        as_json: As a document.

    Raises:
        InputError: The memory is not known, numbers do not go together, or there is no audit of a decoder.
    """
    cautions: tuple[str, ...] = ()
    if isinstance(model, Path):
        model, cautions = _audited(model)
    shown = load(session) if session else None
    device = _device(shown, needed=choices.get("memory") is None)
    if isinstance(device, int):
        return SIGNALLED + device
    setting = Setting(**choices)
    if setting.memory is None:
        if device is None:
            raise InputError(NO_MEMORY)
        setting, place = replace(setting, memory=device.memory_bytes / GIB), device.name
    else:
        device, place = None, CHOSEN_PLACE
    points = rows(shown) if shown else None
    found = outlook(model, setting, place, points, device)
    crossed = recorded_crossing(points or (), KERNELS[1:], layer_problem(model, setting, 1))
    if as_json:
        say_json(outlook_document(found, crossed))
    else:
        _print(found, points, crossed)
        for caution in cautions:
            say(caution)
    return 0


def _audited(path: Path) -> AuditedPlan:
    """The model of a session's first audit.

    Raises:
        InputError: It has none, or one of no decoder.
    """
    audits = load(path).audits
    if not audits:
        raise InputError(f"{path} has no audit of a model; {PROGRAM} audit MODEL makes one")
    return planned(audits[0])


def _device(session: Session | None, *, needed: bool) -> Device | int | None:
    """The GPU of a session, or the one here if it is needed; the number of a signal that arrived."""
    if session is not None or not needed:
        return session.machine.device("cuda") if session else None
    with local_driver() as (driver, events):
        machine = find_machine(driver, events)
    return machine if isinstance(machine, int) else machine.device("cuda")


def _print(found: Outlook, points: list[PointRow] | None, crossed: RecordedCrossing | None) -> None:
    say(outlook_summary(found))
    held = next((one.ledger for one in found.prospects if one.ledger), None)
    if held is not None:
        say(f"At N = {thousands(found.setting.context)}, attention of {layers_text(held)}:")
    print_table(HEADINGS, [_line(one) for one in found.prospects])
    for one in found.prospects:
        if one.reason:
            say(f"{one.kernel}: {one.reason}")
    if points is not None:
        _print_forecasts(found)
        say(recorded_text(crossed) if crossed else NOT_RECORDED)


def _line(one: Prospect) -> tuple[str, ...]:
    held = one.ledger
    if held is None or one.longest is None:
        return (one.kernel, *[NOTHING] * (len(HEADINGS) - 1))
    sizes = (held.attention, held.cache.nbytes, held.weights.nbytes, held.total)
    fits = "yes" if one.fits else "no"
    return (one.kernel, *map(bytes_text, sizes), fits, tokens_text(one.longest.tokens), bound_text(one))


def _print_forecasts(found: Outlook) -> None:
    say("Forecast, not measured:")
    for one in found.prospects:
        told, layers = one.forecast, found.model.layers
        if told is None:
            say(f"  {one.kernel}: {one.silent or one.reason}")
            continue
        differs = f"; the error does not cover {', '.join(told.differs)}" if told.differs else ""
        say(
            f"  {one.kernel}: {forecast_text(told, layers)}, from {told.measured} at "
            f"N = {told.seqlen}{differs}"
        )
