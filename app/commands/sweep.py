"""`sweep`: measure kernels over sequence lengths, without a window.

Exit codes: 0 when at least one point is done and every other was predicted not to fit; 1 when a point failed,
was wrong, unsupported (which a preset expects of some kernels), timed out or ran out of memory, when none is
done, or when the file could not be written; 2 when no kernel takes any of the problems; 128 plus the signal's
number after Ctrl-C (130) or SIGTERM (143), with the points measured until then kept.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from app.commands.against import print_against
from app.commands.exit_codes import FAILED, SIGNALLED
from app.commands.local import Events, find_machine, local_engine
from app.commands.messages import say, say_json, tell
from app.commands.progress import progress_display
from app.commands.table import print_session
from kernels.device import Device
from kernels.errors import UnsupportedError
from kernels.problem import Backend
from kernels.registry import AUTO, Choice, choose, find_kernel, runnable
from profiles.engine.local import LocalEngine
from profiles.plan.machine import Machine
from profiles.plan.plan import Plan
from profiles.plan.presets import preset_plan
from profiles.plan.request import Request
from profiles.results.export import to_json
from profiles.results.rest import Rest
from profiles.results.session import Session
from profiles.store import (
    MovedFileError,
    Recorder,
    SessionFileError,
    TakenFileError,
    check_place,
    load,
    new_session_path,
    sessions_dir,
)
from profiles.wire.events import Event, PlanFinished, PlanResumed, PlanStarted

PEERS_OF_TILED = ("torch-flash",)  # FlashAttention-2: what a tiled kernel is measured against
FINE = {"done", "will-not-fit"}


def run(choices: Mapping[str, Any], *, preset: str | None, out: Path | None, as_json: bool) -> int:
    """Run the sweep of these choices or of the preset, record it, print it."""
    with local_engine() as (engine, events):
        machine = find_machine(engine, events)
        if isinstance(machine, int):
            return SIGNALLED + machine
        backend = choose_backend(choices.get("backend", AUTO), machine)
        device = machine.device(backend)
        if device is None:
            tell(f"flashscope sweep: no usable GPU here: {machine.why_no_gpu()}. Use --backend cpu.")
            return FAILED
        plan = with_kernels_chosen(make_plan(choices, device, preset), device)
        check_runnable(plan, device)
        path = out or new_session_path(sessions_dir(), backend, datetime.now().astimezone())
        check_place(path)
        sweep = SweepRun(engine, events, Recorder(path, numbered=out is None))
        sweep.follow(plan)
    return report(sweep, as_json=as_json, compared=preset is not None)


def choose_backend(asked: str, machine: Machine) -> Backend:
    """The backend asked for; `auto` is the GPU if there is one that can be used."""
    if asked == "cpu" or (asked == AUTO and machine.device("cuda") is None):
        return "cpu"
    return "cuda"


def make_plan(choices: Mapping[str, Any], device: Device, preset: str | None = None) -> Plan:
    """The plan of these choices, or of the preset; what was left out depends on the device."""
    request = Request.of(**{**choices, "backend": device.backend})
    if preset is not None:
        return preset_plan(
            preset,
            request.backend,
            request.protocol,
            seed=request.seed,
            kernels=choices.get("kernels"),
            passes=request.passes,
            deterministic=request.deterministic,
        )
    plan = request.plan()
    if "kernels" in choices:
        return plan
    return replace(plan, kernels=runnable(plan.kernels, plan.problems, device) or plan.kernels)


def with_kernels_chosen(plan: Plan, device: Device) -> Plan:
    """The plan with `auto` replaced by the kernels it stands for, which is said with why; others as they are.

    Raises:
        UnsupportedError: No kernel supports one of the problems.
    """
    if plan.kernels != (AUTO,):
        return plan
    choices = [choose(problem, device) for problem in plan.problems]
    for told in dict.fromkeys(map(reasoned, choices)):
        tell(f"flashscope sweep: auto chose {told}")
    return replace(plan, kernels=tuple(dict.fromkeys(choice.spec.name for choice in choices)))


def reasoned(choice: Choice) -> str:
    """A choice with why it was made."""
    if not choice.passed_over:
        return f"{choice.spec.name}, the fastest of ours"
    return f"{choice.spec.name}, the fastest of ours that takes this: {'; '.join(choice.passed_over)}"


def check_runnable(plan: Plan, device: Device) -> None:
    """Refuse a plan of which no kernel takes any problem.

    Raises:
        UnsupportedError: There is nothing to measure; the text says why.
    """
    specs = [find_kernel(name) for name in plan.kernels]
    reasons = [spec.unsupported(problem, device) for problem in plan.problems for spec in specs]
    if all(reasons):
        told = "; ".join(reason for reason in dict.fromkeys(reasons) if reason)
        raise UnsupportedError(f"There is nothing to measure: {told}.")


class SweepRun:
    """One sweep, followed to its end.

    Attributes:
        session: What is known of it, None before it began or goes on.
        stopped_by: The signal that ended it, None when none did.
        troubled: Whether something went wrong that no later attempt has mended.
    """

    def __init__(
        self, engine: LocalEngine, events: Events, recorder: Recorder, session: Session | None = None
    ) -> None:
        self.session: Session | None = None
        self.stopped_by: int | None = None
        self.troubled = False
        self._engine, self._events, self._recorder = engine, events, recorder
        self._goes_on = session
        self._told = ""
        self._display = progress_display()

    def saved(self) -> Path | None:
        """The file that can be opened again and shows what was measured; None, and said: there is none."""
        path = self._recorder.path
        try:
            found = load(path)
        except SessionFileError as error:
            self._complain(f"the sweep is not saved: {error}")
            return None
        if self.session is None or found.id != self.session.id:
            self._complain(f"the sweep is not saved: {path} holds another session")
        elif [one.status for one in found.points] != [one.status for one in self.session.points]:
            self._complain(f"not all of the sweep is saved: {path} holds what was written until then")
        else:
            return path
        return None

    def follow(self, plan: Plan, rest: Rest | None = None) -> None:
        """Run the plan, or what is left of it, and take in its events until it has ended."""
        self._engine.watch(plan.backend)
        self._engine.run(plan, rest)
        event: Event | int | None = None
        while not isinstance(event, PlanFinished):
            event = self._events.get()
            if isinstance(event, int):
                self.stopped_by = event
                self._engine.cancel()
            else:
                self._take(event)
        self._write(self._recorder.close)

    def _take(self, event: Event) -> None:
        self._write(lambda: self._recorder.record(event))
        match event:
            case PlanStarted():
                self.session = Session.begin(event)
            case PlanResumed():
                self.session = self._goes_on
            case PlanFinished(reason=reason) if reason:
                self.troubled = True
                self._complain(reason)
        if self.session is not None:
            self.session.apply(event)
            self._display.report(self.session, event)

    def _write(self, write: Callable[[], None]) -> None:
        """What cannot be written is said once; the sweep goes on, and the recorder tries again.

        Raises:
            TakenFileError: Another sweep has made the file since it was looked for, or gone on in it.
        """
        try:
            write()
        except TakenFileError:
            raise
        except SessionFileError as error:
            self.troubled = self.troubled or isinstance(error, MovedFileError)
            self._complain(str(error))

    def _complain(self, trouble: str) -> None:
        if trouble != self._told:
            self._told = trouble
            tell(f"flashscope sweep: {trouble}")


def report(sweep: SweepRun, *, as_json: bool, compared: bool) -> int:
    """Print the result, as ratios to the peer if `compared`; returns the exit code."""
    session = sweep.session
    if session is None:
        return FAILED
    path = sweep.saved()
    if as_json:
        say_json(to_json(session, str(path) if path else None))
    else:
        if compared:
            print_against(session, PEERS_OF_TILED)
        else:
            print_session(session)
        if path:
            say(f"Saved as {path}")
    if sweep.stopped_by is not None:
        return SIGNALLED + sweep.stopped_by
    statuses = {state.status for state in session.points}
    fine = FINE | {"unsupported"} if compared else FINE
    good = statuses <= fine and "done" in statuses and path is not None and not sweep.troubled
    return 0 if good else FAILED
