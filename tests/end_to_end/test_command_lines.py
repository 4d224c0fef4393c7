"""Command lines of every kind: what is right is done, what is not is told in one line."""

import json
import random
from pathlib import Path

import pytest

from flashscope.app.commands.program import run_command
from flashscope.profiles.store import load
from tests.end_to_end.command_lines import Line, draw, placed, taken_here
from tests.profiles.store import builders

MANY, SOME, EACH = 2_000, 16, 100


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """What a command line can name, in a folder where it is typed."""
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    junk, folder = tmp_path / "junk", tmp_path / "folder"
    junk.write_bytes(b"no session")
    folder.mkdir()
    monkeypatch.chdir(folder)
    session = builders.recorded(tmp_path / "session.flashscope")
    return {"session": session, "missing": tmp_path / "missing", "junk": junk, "folder": folder}


def try_out(line: Line, places: dict[str, Path], capfd: pytest.CaptureFixture[str]) -> int:
    """Run a line; whatever it is, it ends as the program promises. Returns the exit code."""
    words = placed(line.words, places)
    code = run_command(words)
    printed, told = capfd.readouterr()
    assert code in {0, 1, 2}, (words, told)
    assert "Traceback" not in printed + told, (words, told)
    if code == 2:
        assert (printed, told.count("\n")) == ("", 1), (words, told)
    if code == 1 and words[0] != "doctor":
        assert told or printed, words
    if code == 0 and "--json" in words:
        assert isinstance(json.loads(printed), dict), words
    return code


def check_sweep(line: Line, code: int, file: Path) -> None:
    """A sweep that is spelled right has measured what was asked, where a kernel takes it, and no more."""
    if line.refused:
        assert code == 2, line.words
        assert not file.exists(), line.words
    elif line.plan:
        session, taken = load(file), taken_here(line.plan)
        assert session.plan == line.plan, line.words
        assert [one.status for one in session.points] == [
            "done" if takes else "unsupported" for takes in taken
        ], line.words
        assert code == int(not all(taken)), line.words


def run_lines(seed: int, count: int, places: dict[str, Path], capfd: pytest.CaptureFixture[str]) -> None:
    dice = random.Random(seed)  # noqa: S311 - the same lines each time
    file = places["folder"] / "swept.flashscope"
    for _ in range(count):
        line = draw(dice)
        code = try_out(line, places, capfd)
        check_sweep(line, code, file)
        for made in places["folder"].iterdir():
            made.unlink()


@pytest.mark.matrix  # it takes seconds
def test_a_share_of_all_command_lines_ends_as_promised(
    places: dict[str, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    run_lines(-1, SOME, places, capfd)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(MANY // EACH))
def test_every_command_line_ends_as_promised(
    seed: int, places: dict[str, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    run_lines(seed, EACH, places, capfd)
