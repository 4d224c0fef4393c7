"""`show` tells what the device reached, and with --why what binds each point."""

from pathlib import Path

import pytest

from flashscope.app.cli import main
from flashscope.app.control.bundled import bundled_sessions
from tests.profiles.store import builders


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return builders.recorded(tmp_path / "a.flashscope")


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[str]:
    main(["show", *map(str, arguments)])
    return capsys.readouterr().out.splitlines()


def test_show_prints_the_ceilings_with_their_spread_and_what_is_missing(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = "Ceilings: copy 40.0 GB/s (39.0 GB/s .. 41.5 GB/s), exponentials: none (ValueError: no)"
    assert told in printed(capsys, file)


def test_why_prints_a_sentence_for_each_point_that_is_done(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line for line in printed(capsys, file, "--why") if line.startswith(("standard at", "flash2 at"))]
    assert len(lines) == 1
    words = "standard at N = 256, 1.38 ms: What binds it is not known: alone, bytes would take "
    assert lines[0].startswith(words)


def test_why_of_a_recording_without_ceilings_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, bundled_sessions()[0], "--why")
    assert lines[-1].endswith("What binds it is not known: no ceilings were measured with it.")


def test_why_excludes_the_other_forms(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(file), "--why", "--json"]) == 2
    assert "--json and --why exclude each other" in capsys.readouterr().err
