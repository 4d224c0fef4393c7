"""The files recorded, changed or opened last: newest first, each once."""

import os
from pathlib import Path

import pytest

from flashscope.profiles.store import latest
from tests.profiles.store.builders import recorded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four files; the first was written last."""
    made = tmp_path / "sessions"
    for age in range(4):
        path = recorded(made / f"{age}.flashscope")
        os.utime(path, ns=(0, 1000 - 10 * age))
    return made


def names(folder: Path, opened: dict[Path, int], most: int = 9) -> list[str]:
    return [info.path.stem for info in latest(folder, opened, most)]


def test_what_was_written_last_comes_first_and_no_more_than_asked_for(folder: Path) -> None:
    assert names(folder, {}, 3) == ["0", "1", "2"]


def test_what_was_opened_since_comes_before_what_was_written(folder: Path) -> None:
    assert names(folder, {folder / "3.flashscope": 2000}) == ["3", "0", "1", "2"]
    assert names(folder, {folder / "1.flashscope": 0}) == ["0", "1", "2", "3"], "it was written since"


def test_files_of_other_folders_stand_among_them(folder: Path, tmp_path: Path) -> None:
    away = recorded(tmp_path / "away.flashscope")
    assert names(folder, {away: 995}) == ["0", "away", "1", "2", "3"]


def test_a_file_that_two_paths_lead_to_is_listed_once(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert names(folder, {link / "2.flashscope": 2000}) == ["2", "0", "1", "3"]


def test_a_file_that_cannot_be_read_says_why(folder: Path) -> None:
    (folder / "0.flashscope").write_bytes(b"no session")
    (first, *_) = latest(folder, {folder / "0.flashscope": 2000}, 9)
    assert "0.flashscope" in first.error


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert latest(tmp_path / "none", {}, 9) == []
