"""`sweep --resume FILE`: go on with a sweep that was broken off, in the file that holds what it measured."""

from pathlib import Path

from flashscope.app.commands.exit_codes import SIGNALLED
from flashscope.app.commands.hosts import HERE, Hosts
from flashscope.app.commands.local import find_machine, local_driver
from flashscope.app.commands.messages import complain, say_json
from flashscope.app.commands.sweep import SweepRun, report
from flashscope.app.control.bundled import check_own
from flashscope.app.words.results.provenance import of_session
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.results.formats.export import to_json
from flashscope.profiles.results.model.parts import machine_differences
from flashscope.profiles.results.model.remaining import Remaining, obstacle, remaining_of
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import Recorder, SessionFileError, check_resumable, load


def run(path: Path, *, as_json: bool, hosts: Hosts = HERE) -> int:
    """Measure what is left of the session's plan, here or on hosts, record it, print the whole."""
    session = load(path)
    remaining = remaining_of(session)
    if remaining.nothing:
        return _tell_finished(session, path, as_json=as_json)
    if hosts.are_gpus_here and session.backend == "cpu":
        raise InputError(f"{path} is a sweep on a CPU, and --devices chooses GPUs; leave it out")
    check_own(path)
    check_resumable(path)
    with local_driver(hosts) as (driver, events):
        machine = find_machine(driver, events)
        if isinstance(machine, int):
            return SIGNALLED + machine
        if refused := obstacle(session, machine):
            raise SessionFileError(f"{path} cannot go on here. {refused}")
        _announce(session, remaining, machine)
        sweep = SweepRun(driver, events, Recorder(path))
        sweep.resume(session, remaining)
    return report(sweep, as_json=as_json, compared=False)


def _tell_finished(session: Session, path: Path, *, as_json: bool) -> int:
    complain("sweep", f"{path} is finished: there is nothing to resume.")
    if as_json:
        say_json(to_json(session, str(path), of_session(session, "saved").badge))
    return 0


def _announce(session: Session, remaining: Remaining, machine: Machine) -> None:
    """Say what is left, and what is otherwise than it was."""
    again = f", {len(remaining.again)} of them once more" if remaining.again else ""
    left = f"{len(remaining.left)} of {len(session.planned)} points are left{again}"
    complain("sweep", f"part {remaining.part}: {left}")
    for clause in machine_differences(session.machine, machine, session.backend):
        complain("sweep", f"warning: otherwise than in part 1: {clause}")
