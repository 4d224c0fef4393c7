"""Sessions that are told afterwards to be runs of one plan: which may be, and the mark in each file."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.run_mark import RunMark
from flashscope.profiles.store.errors import ChangedFileError, ReplacedFileError, SessionFileError
from flashscope.profiles.store.opening import editing, opened
from flashscope.profiles.store.reader import read_head, read_run_mark, validating
from flashscope.profiles.store.rows import as_json


def check_one_plan(paths: Sequence[Path]) -> None:
    """Refuse sessions that are no runs of one plan: their plans or machines differ.

    What is free on the machine and what was looked for on it may differ.

    Raises:
        SessionFileError: They are not, a run is there twice, or a file cannot be opened.
    """
    heads = [_head(path) for path in paths]
    plan, machine, _ = heads[0]
    for path, (other_plan, other_machine, _id) in zip(paths, heads, strict=True):
        if other_plan != plan:
            what = "has another plan (kernels, problems or protocol)"
        elif other_machine != machine:
            what = "was measured on another machine, or by other software on it,"
        else:
            continue
        raise SessionFileError(f"{path.name} {what} than {paths[0].name}: they are no runs of one plan.")
    if len({number for *_, number in heads}) < len(heads):
        raise SessionFileError("The same session is there twice: a run counts once.")


def _head(path: Path) -> tuple[Plan, Machine, str]:
    with validating(path), opened(path) as connection:
        head, plan, machine = read_head(connection)
        return plan, replace(machine, free_bytes={}, findings=()), head.id


def mark_run(path: Path, mark: RunMark | None, before: RunMark | None, meant: str) -> None:
    """Write into a session which of several runs of one plan it is; None: it is alone.

    Args:
        path: The file.
        mark: What it says from now on.
        before: What it said when the user saw it.
        meant: Id of the session that is meant.

    Raises:
        ReplacedFileError: The file holds another session; nothing is written.
        ChangedFileError: It says something else by now; nothing is written.
        SessionFileError: It cannot be written.
    """
    with validating(path), editing(path) as connection:
        head, _plan, _machine = read_head(connection)
        if head.id != meant:
            raise ReplacedFileError(path)
        if read_run_mark(head) != before:
            raise ChangedFileError(f"{path.name} says otherwise by now which run it is; nothing was changed.")
        connection.execute("UPDATE session SET run_mark = ?", (None if mark is None else as_json(mark),))
