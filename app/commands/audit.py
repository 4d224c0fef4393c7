"""`audit`: record the attention of a model, replay it over the kernels here, and say what switching gains.

The model runs in a process of its own. Its distinct calls are then measured by an ordinary sweep, whose
session keeps what was recorded. Exit codes: 0 when the audit is there, also where no kernel takes any call; 1
when the model failed, or a replay did; 2 when there is no such model, it is none, or a library is missing;
128 plus the signal's number after Ctrl-C or SIGTERM.
"""

from datetime import datetime
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from flashscope.app.commands.exit_codes import FAILED, SIGNALLED, USAGE_ERROR
from flashscope.app.commands.hosts import Hosts
from flashscope.app.commands.local import Events, find_device, hear_signals, local_driver
from flashscope.app.commands.messages import complain, pasteable, say, say_json, tell
from flashscope.app.commands.printed.audit import print_audit
from flashscope.app.commands.sweep import FINE, SweepRun
from flashscope.kernels.workload.audit import ModelAudit
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Dtype
from flashscope.profiles.engine.contract import Engine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.replay import replay_plan, usual_dtype
from flashscope.profiles.results.formats.audits import audit_document
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.running.driver import Driver
from flashscope.profiles.store import Recorder, check_place, new_session_path, sessions_dir
from flashscope.profiles.wire.audits import AuditAnswer, AuditAsked, AuditEnded
from flashscope.profiles.wire.events import AuditReady

AuditAnswers = SimpleQueue[AuditAnswer | int]  # an int is the number of a signal that arrived
CODE_STAYS_HERE = (
    "A host runs no model that a file of code makes: give --connect a folder with a config.json, a "
    "configuration's file or a name in the local cache, each of the host, or run the command there."
)


class AuditChoices(NamedTuple):
    """What is asked for.

    Attributes:
        model: A folder, a configuration's file, a name in the local cache, each of the machine that measures,
            or FILE.py:NAME.
        backend: As `sweep` takes it.
        dtype: Of the weights; None: float32 on a CPU, bfloat16 on a GPU.
        batch: Sequences.
        seqlen: Tokens of the longest.
        lengths: Tokens of each, where they differ.
        context: Tokens before the one that is decoded; None: as many as `seqlen`.
        training: Whether a training step is taken, too.
        layers: Layers that are built; None: all.
        random: Random weights, also where its own are there.
        kernels: That replay the calls; None: all here.
        repeats: Samples of each point.
        time_cap_s: Of each point.
        rounds: Steps that are timed with each implementation.
    """

    model: str
    backend: str
    dtype: Dtype | None
    batch: int
    seqlen: int
    lengths: tuple[int, ...]
    context: int | None
    training: bool
    layers: int | None
    random: bool
    kernels: tuple[str, ...] | None
    repeats: int
    time_cap_s: float
    rounds: int


def run(choices: AuditChoices, *, out: Path | None, as_json: bool, connect: str | None = None) -> int:
    """Audit the model, here or on a host that has it, replay its calls, keep and print what was found.

    Raises:
        InputError: It is a file of code, which a host does not run.
    """
    if out is not None:
        check_place(out)
    if connect and choices.model.rpartition(":")[0].endswith(".py"):
        raise InputError(CODE_STAYS_HERE)
    with local_driver(Hosts.one(connect)) as (driver, events):
        device = find_device(driver, events, "audit", choices.backend)
        if isinstance(device, int):
            return device
        audit = audited(choices, device, driver.engine)
        if isinstance(audit, int):
            return audit
        hear_signals(events.put)
        plan = replay_plan(
            audit, device, choices.kernels, repeats=choices.repeats, time_cap_s=choices.time_cap_s
        )
        if plan is None:
            return _without_replay(audit, as_json=as_json)
        path = out or new_session_path(sessions_dir(), device.backend, datetime.now().astimezone())
        return _replayed(driver, events, Recorder(path, numbered=out is None), plan, audit, as_json=as_json)


def audited(choices: AuditChoices, device: Device, engine: Engine) -> ModelAudit | int:
    """What the model's process found; a number is the exit code where it found nothing."""
    answers: AuditAnswers = SimpleQueue()
    hear_signals(answers.put)
    process = engine.lines("audit", [asked_of(choices, device)], answers.put)
    try:
        while not isinstance(answer := answers.get(), int | AuditEnded):
            tell(f"{answer.done + 1} of {answer.total}  {answer.text}")
    finally:
        process.end()
    if isinstance(answer, int):
        return SIGNALLED + answer
    if answer.audit is None:
        complain("audit", answer.reason)
        if answer.detail:
            tell(answer.detail)
        return USAGE_ERROR if answer.misused else FAILED
    return answer.audit


def asked_of(choices: AuditChoices, device: Device) -> AuditAsked:
    """What the model's process is to do."""
    return AuditAsked(
        model=choices.model,
        device=device,
        dtype=choices.dtype or usual_dtype(device),
        batch=len(choices.lengths) or choices.batch,
        seqlen=max(choices.lengths, default=choices.seqlen),
        lengths=choices.lengths,
        context=choices.context,
        training=choices.training,
        layers=choices.layers,
        random=choices.random,
        rounds=choices.rounds,
    )


def _without_replay(audit: ModelAudit, *, as_json: bool) -> int:
    """Print what there is: without a point there is no session."""
    if as_json:
        say_json({"file": None, "audits": [audit_document(audit, [])]})
    else:
        print_audit(audit, [])
        say("No call can be replayed here, so no session is written; --json prints all of the audit.")
    return 0


def _replayed(
    driver: Driver, events: Events, recorder: Recorder, plan: Plan, audit: ModelAudit, *, as_json: bool
) -> int:
    """Measure the plan, keep the audit in its session, and print both; the exit code."""
    sweep = SweepRun(driver, events, recorder)
    sweep.run(plan, held=(AuditReady(audit=audit),))
    session, path = sweep.session, sweep.saved()
    if session is None:
        return FAILED
    measured = rows(session)
    if as_json:
        say_json({"file": path and str(path), "audits": [audit_document(audit, measured)]})
    else:
        print_audit(audit, measured)
        if path is not None:
            say(f"Saved as {pasteable(path)}")
    if sweep.stopped_by is not None:
        return SIGNALLED + sweep.stopped_by
    statuses = {row.status for row in measured}
    good = statuses <= FINE | {"unsupported"} and path is not None and not sweep.troubled
    return 0 if good else FAILED
