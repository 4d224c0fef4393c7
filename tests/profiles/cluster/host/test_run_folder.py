"""Folders of runs of a host, of which some were killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flashscope.profiles.cluster.host.run_folder import LOCK, PREFIX, remove_stale, run_folder
from tests.end_to_end import program

HOLDS = """
import sys
from flashscope.profiles.cluster.host.run_folder import run_folder
with run_folder() as folder:
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def runs(folder: Path) -> set[Path]:
    return set(folder.glob(f"{PREFIX}*"))


def test_a_run_takes_its_folder_away_and_leaves_those_of_others(temporary: Path) -> None:
    with run_folder() as first:
        with run_folder() as second:
            assert runs(temporary) == {first, second}
        assert runs(temporary) == {first}
    assert not runs(temporary)


def test_the_folder_of_a_killed_run_is_taken_away_by_the_next_and_not_before_it_was_killed(
    temporary: Path,
) -> None:
    environment = program.environment(TMPDIR=str(temporary), PYTHONPATH=program.PYTHONPATH)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HOLDS], env=environment, **pipes) as process:  # type: ignore[call-overload]
        held = Path(process.stdout.readline().strip())
        (held / "host.key").touch()
        with run_folder() as own:
            assert runs(temporary) == {held, own}
        process.kill()
    assert held.exists()
    with run_folder() as own:
        assert runs(temporary) == {own}


def test_what_is_no_run_of_the_users_or_cannot_be_asked_is_left(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere, link = temporary / "elsewhere", temporary / f"{PREFIX}link"
    older, others = temporary / f"{PREFIX}older", temporary / f"{PREFIX}others"
    for folder in (elsewhere, older, others):
        folder.mkdir()
    (elsewhere / LOCK).touch()
    link.symlink_to(elsewhere)
    remove_stale(temporary)
    assert runs(temporary) == {link, older, others}
    (others / LOCK).touch()
    owner = os.getuid()
    monkeypatch.setattr("os.getuid", lambda: owner + 1)
    remove_stale(temporary)
    assert others.exists()
