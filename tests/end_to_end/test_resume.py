"""A sweep that was broken off goes on: `sweep --resume FILE`."""

import csv
import random
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from flashscope.app.control.bundled import bundled_sessions
from flashscope.profiles.store import load
from tests.end_to_end import program
from tests.end_to_end.kills import Run
from tests.profiles.store import builders

SMALL = (
    *("sweep", "--backend", "cpu", "--kernels", "standard,flash2", "--heads", "1", "--head-dim", "16"),
    *("--seqlen", "64:512:64", "--repeats", "10", "--no-drift-check"),
)
LONGER = "64,128,192,2048,2560,3072,3584,4096"
SLOW = (*SMALL, "--seqlen", LONGER)  # seconds after the fifth point, for whoever breaks it off


@pytest.fixture
def broken_off(tmp_path: Path) -> Path:
    """A session that Ctrl-C ended after some of its points."""
    path = tmp_path / "a.flashscope"
    with program.started(*SLOW, "--out", str(path)) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if line.startswith("5 of "))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=program.TIMEOUT_S)
    assert load(path).outcome == "cancelled"
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A session whose writer was killed."""
    return builders.recorded(tmp_path / "a.flashscope", *builders.first_part())


@pytest.mark.matrix
def test_a_sweep_that_is_killed_and_resumed_and_killed_again_ends_with_every_point_once(
    tmp_path: Path,
) -> None:
    run = Run(tmp_path / "a.flashscope", SMALL, longest_s=2.0, victims=("main",))
    run.run(random.Random(7), most=3)  # noqa: S311 - no secret
    assert run.killed == {"main": 3}
    assert run.told
    assert run.lost == set()


@pytest.mark.matrix
def test_the_resumed_part_is_told_by_every_form_of_show_and_then_nothing_is_left(broken_off: Path) -> None:
    before = {state.point.index: state for state in load(broken_off).points if state.status == "done"}
    done = program.run("sweep", "--resume", str(broken_off), "--json")
    assert done.returncode == 0, done.stderr
    assert "check of part 2  standard  N = 64: " in done.stderr
    session = load(broken_off)
    assert {state.status for state in session.points} == {"done"}
    assert all(session.points[index] == state for index, state in before.items())
    document = program.document(done)
    measured = [point["part"] for point in document["points"]]
    assert measured == [1 if index in before else 2 for index in range(16)]
    assert [(part["number"], part["outcome"]) for part in document["parts"]] == [
        (1, "cancelled"),
        (2, "finished"),
    ]
    drifted = document["parts"][1]["drifts"]
    assert [drift["kernel"] for drift in drifted] == ["standard", "flash2"]
    assert all(drift["ratio"] > 0 and drift["first_ms"] > 0 for drift in drifted)
    shown = program.run("show", str(broken_off)).stdout
    assert "Part 1: " in shown
    assert "at its begin N = 64 took, of its first time: standard " in shown
    table = [line for line in shown.splitlines() if line.startswith(("standard ", "flash2 "))]
    assert [line.split()[-1] for line in table if " done " in line] == [str(part) for part in measured]
    lines = program.run("show", str(broken_off), "--csv").stdout.splitlines()
    assert any(line.startswith("# parts: Part 1: ") for line in lines)
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    assert [row["part"] for row in rows] == [str(part) for part in measured]
    whole = broken_off.read_bytes()
    again = program.run("sweep", "--resume", str(broken_off))
    assert (again.returncode, again.stdout) == (0, "")
    assert "is finished: there is nothing to resume" in again.stderr
    assert broken_off.read_bytes() == whole


def test_choices_beside_resume_are_named_and_refused(path: Path) -> None:
    done = program.inside(
        *("sweep", "--resume", str(path), "--repeats", "9", "--warm", "--out", "b.flashscope", "--json")
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "leave out --repeats and --warm and --out" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.matrix
def test_a_file_that_another_process_records_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    with program.started(*SLOW, "--out", str(path)) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if line.startswith("3 of "))
        process.send_signal(signal.SIGSTOP)  # it must not finish first
        done = program.run("sweep", "--resume", str(path))
    assert (done.returncode, done.stdout) == (1, "")
    told = ("is being recorded", "is being written by another process")  # the second while it writes
    assert any(f"{path} {words}" in done.stderr for words in told)
    assert done.stderr.count("\n") == 1


REFUSED = {
    "altered": (
        "UPDATE samples SET ms = ms / 2 WHERE point = 0",
        "1 of its points are not what was measured",
    ),
    "kernel": (
        """UPDATE session SET plan = replace(plan, 'flash2', 'flash9');
UPDATE points SET kernel = 'flash9', digest = '' WHERE kernel = 'flash2'""",
        "does not have: flash9",
    ),
}


@pytest.mark.parametrize(("statements", "reason"), REFUSED.values(), ids=list(REFUSED))
def test_what_cannot_go_on_is_said_in_one_line_and_nothing_is_written(
    path: Path, statements: str, reason: str
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)
    before = path.read_bytes()
    done = program.inside("sweep", "--resume", str(path))
    assert (done.returncode, done.stdout) == (1, "")
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1
    assert path.read_bytes() == before


def test_files_that_are_missing_damaged_or_come_with_the_program_are_named(path: Path) -> None:
    bundled = {one.stem: one for one in bundled_sessions()}
    finished, cut_short = bundled["h200-thin"], bundled["h200-peers"]
    path.write_bytes(path.read_bytes()[:9000])
    for file in (path.with_name("none.flashscope"), path, finished, cut_short):
        done = program.inside("sweep", "--resume", str(file))
        assert done.stdout == ""
        assert str(file) in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.returncode == (0 if file == finished else 1)
