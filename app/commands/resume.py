"""`sweep --resume FILE`: go on with a sweep that was broken off, in the file that holds what it measured."""

from pathlib import Path

from app.commands.exit_codes import SIGNALLED
from app.commands.local import find_machine, local_engine
from app.commands.messages import say_json, tell
from app.commands.sweep import SweepRun, report
from app.control.bundled import check_own
from profiles.plan.machine import Machine
from profiles.results.export import to_json
from profiles.results.parts import differences
from profiles.results.rest import Rest, obstacle, rest_of
from profiles.results.session import Session
from profiles.store import Recorder, SessionFileError, check_resumable, load


def run(path: Path, *, as_json: bool) -> int:
    """Measure what is left of the session's plan, record it, print the whole."""
    session = load(path)
    rest = rest_of(session)
    if rest.nothing:
        return _tell_finished(session, path, as_json=as_json)
    check_own(path)
    check_resumable(path)
    with local_engine() as (engine, events):
        machine = find_machine(engine, events)
        if isinstance(machine, int):
            return SIGNALLED + machine
        if refused := obstacle(session, machine):
            raise SessionFileError(f"{path} cannot go on here. {refused}")
        _announce(session, rest, machine)
        sweep = SweepRun(engine, events, Recorder(path), session)
        sweep.follow(session.plan, rest)
    return report(sweep, as_json=as_json, compared=False)


def _tell_finished(session: Session, path: Path, *, as_json: bool) -> int:
    tell(f"flashscope sweep: {path} is finished: there is nothing to resume.")
    if as_json:
        say_json(to_json(session, str(path)))
    return 0


def _announce(session: Session, rest: Rest, machine: Machine) -> None:
    """Say what is left, and what is otherwise than it was."""
    again = f", {len(rest.again)} of them once more" if rest.again else ""
    left = f"{len(rest.left)} of {len(session.planned)} points are left{again}"
    tell(f"flashscope sweep: part {rest.part}: {left}")
    for clause in differences(session.machine, machine, session.backend):
        tell(f"flashscope sweep: warning: otherwise than in part 1: {clause}")
