"""`sweep --runs`: the same sweep in processes of its own, alone or in turns with another program."""

import signal
from pathlib import Path

import psutil
import pytest

from flashscope.profiles.store import load
from tests.end_to_end import program

SMALL = (
    "sweep",
    "--backend",
    "cpu",
    "--heads",
    "1",
    "--head-dim",
    "16",
    "--repeats",
    "3",
    "--kernels",
    "flash2",
)
LONG = ("sweep", "--backend", "cpu", "--seqlen", "256:4096", "--heads", "4", "--head-dim", "64")
MAIN = program.ROOT / "main.py"


def files(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@pytest.mark.matrix  # four sweeps
def test_runs_of_two_programs_take_turns_and_are_compared(tmp_path: Path) -> None:
    out = tmp_path / "a.flashscope"
    said = (*SMALL, "--seqlen", "32", "--runs", "2", "--beside", str(MAIN), "--out", str(out))
    done = program.run(*said, home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert files(tmp_path) == [
        "a-1.flashscope",
        "a-2.flashscope",
        "a-beside-1.flashscope",
        "a-beside-2.flashscope",
    ]
    starts = {name: load(tmp_path / name).started_at for name in files(tmp_path)}
    assert [name[2:-11] for name in sorted(starts, key=lambda name: starts[name])] == [
        "1",
        "beside-1",
        "beside-2",
        "2",
    ]
    assert "2 runs of one sweep" in done.stdout
    assert "the baseline 2 runs of a-beside (" in done.stdout


@pytest.mark.matrix
def test_a_document_names_the_files_of_the_runs(tmp_path: Path) -> None:
    out = tmp_path / "a.flashscope"
    done = program.run(*SMALL, "--seqlen", "32", "--runs", "2", "--out", str(out), "--json")
    assert program.document(done) == {
        "runs": [str(tmp_path / f"a-{number}.flashscope") for number in (1, 2)],
        "beside": [],
    }
    first, second = (load(tmp_path / name) for name in files(tmp_path))
    assert first.plan == second.plan
    assert first.run_mark is not None
    assert second.run_mark is not None
    assert first.run_mark.family == second.run_mark.family
    assert [(one.run, one.of) for one in (first.run_mark, second.run_mark)] == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--runs", "2"], "several runs need a name"),
        (["--runs", "2", "--out", "taken.flashscope"], "taken-2.flashscope exists already"),
        (["--runs", "2", "--out", "new.flashscope", "--beside", "other.py"], "is no Flashscope"),
        (["--runs", "2", "--resume", "taken-2.flashscope"], " and --runs (see"),
    ],
)
def test_runs_that_cannot_be_made_are_refused_before_the_first(
    words: list[str], told: str, tmp_path: Path
) -> None:
    (tmp_path / "other.py").write_text("print('something else')\n")
    (tmp_path / "taken-2.flashscope").write_text("mine")
    placed = [str(tmp_path / word) if "." in word else word for word in words]
    done = program.inside(*SMALL, "--seqlen", "32", *placed, home=tmp_path / "home")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert told in done.stderr
    assert files(tmp_path) == ["other.py", "taken-2.flashscope"]


@pytest.mark.matrix  # a sweep that takes long
def test_a_signal_ends_the_run_and_the_rest_and_keeps_what_was_measured(tmp_path: Path) -> None:
    out = tmp_path / "a.flashscope"
    with program.started(*LONG, "--runs", "3", "--out", str(out)) as process:
        assert process.stderr is not None
        while "4 of " not in process.stderr.readline():
            pass
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=program.TIMEOUT_S)
    assert process.returncode == 143
    assert files(tmp_path) == ["a-1.flashscope"]
    assert load(tmp_path / "a-1.flashscope").outcome == "cancelled"
    assert psutil.wait_procs(children, timeout=60)[1] == []


@pytest.mark.matrix  # as above
def test_a_run_stops_when_whoever_makes_it_is_killed_and_keeps_what_was_measured(tmp_path: Path) -> None:
    out = tmp_path / "a.flashscope"
    with program.started(*LONG, "--runs", "3", "--out", str(out)) as process:
        assert process.stderr is not None
        while "4 of " not in process.stderr.readline():
            pass
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.stderr.read()  # until all who write to it are gone
    assert psutil.wait_procs(children, timeout=60)[1] == []
    assert files(tmp_path) == ["a-1.flashscope"]
    assert load(tmp_path / "a-1.flashscope").outcome == "cancelled"
