"""A copy without the files that come with the program says so, wherever it is asked."""

from pathlib import Path

import pytest

from flashscope.app import cli
from flashscope.app.commands import doctor
from flashscope.app.control.bundled import NAMES
from flashscope.app.look import assets
from flashscope.app.stage.story import BUNDLED_STORIES
from flashscope.installation import restore_command
from tests.end_to_end import program

NOT_READ = {"screenshots"}


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that has its icon alone."""
    (tmp_path / "icon.svg").touch()
    monkeypatch.setattr(assets, "ASSETS", tmp_path)


def test_what_is_looked_for_is_what_there_is() -> None:
    folder = program.ROOT / "assets"
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    read = {file.as_posix() for file in files if file.parts[0] not in NOT_READ and "LICENSE" not in file.name}
    assert read == {*assets.USED}
    assert {f"sessions/{name}.flashscope" for name in NAMES} <= read
    assert {f"stories/{name}.toml" for name in BUNDLED_STORIES} <= read


def test_a_whole_copy_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert assets.why_incomplete() == ""
    assert cli.main(["present"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("bare")
def test_every_command_of_an_incomplete_copy_says_so_beside_its_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["present"]) == 0
    told = capsys.readouterr()
    assert "why-tiling-wins" in told.out
    (line,) = told.err.splitlines()
    assert f"and {len(assets.USED) - 2} more of its files cannot be found" in line
    assert line.endswith(restore_command())


@pytest.mark.matrix
@pytest.mark.usefixtures("bare")
def test_the_doctor_names_each_file_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert doctor.run(as_json=False) == 1
    told = capsys.readouterr().out
    assert f"missing  Assets: {len(assets.USED) - 1} of {len(assets.USED)} files cannot be found" in told
    assert all(name in told for name in assets.USED if name != "icon.svg")
    assert f"\n         {restore_command()}\n" in told


def test_a_bundled_session_is_shown_by_its_name_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["show", "h200-standard-flash2"]) == 0
    assert "flash2" in capsys.readouterr().out


def test_a_file_goes_before_a_bundled_session_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("h200-standard-flash2").touch()
    assert cli.main(["show", "h200-standard-flash2"]) == 1
    assert "h200-standard-flash2 " in capsys.readouterr().err
