"""However a file is saved, each new content is told once, when it is whole."""

import os
from collections.abc import Callable
from itertools import count, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.own.files import LARGEST
from flashscope.profiles.watching.saves import PATIENCE, Missing, Save, Saves

MOMENTS = count(1_700_000_000)
LOOKS = 3  # after which a file that nobody writes is known


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text("first\n", encoding="utf-8")
    return path


@pytest.fixture
def saves(path: Path) -> Saves:
    saves = Saves(path)
    assert told(saves) == ["first\n"]
    return saves


def told(saves: Saves, looks: int = LOOKS) -> list[str]:
    """The contents that some looks tell; a file that is not there is a sentence."""
    found = [saves.look() for _ in range(looks)]
    return [one.text if isinstance(one, Missing) else one.data.decode() for one in found if one is not None]


def write(path: Path, text: str) -> None:
    """Write at a moment of its own: a clock of files ticks every few ms, and looks are 50 ms apart."""
    path.write_text(text, encoding="utf-8")
    moment = next(MOMENTS) * 10**9
    os.utime(path, ns=(moment, moment))


def in_place(path: Path, text: str) -> None:
    write(path, text)


def by_rename(path: Path, text: str) -> None:
    beside = path.with_suffix(".tmp")
    write(beside, text)
    beside.replace(path)


def deleted_first(path: Path, text: str) -> None:
    path.unlink()
    write(path, text)


def with_a_backup(path: Path, text: str) -> None:
    path.rename(path.with_suffix(".py~"))
    write(path, text)


WAYS = (in_place, by_rename, deleted_first, with_a_backup)


@pytest.mark.parametrize("save", WAYS)
def test_each_new_content_is_told_once_however_it_is_saved(
    save: Callable[[Path, str], None], path: Path, saves: Saves
) -> None:
    for text in ("second\n", "third\n", "first\n"):
        save(path, text)
        assert told(saves, 9) == [text]


@pytest.mark.parametrize("save", WAYS)
def test_a_save_that_changes_nothing_is_none(
    save: Callable[[Path, str], None], path: Path, saves: Saves
) -> None:
    save(path, "first\n")
    assert told(saves, 9) == []


def test_a_file_that_is_written_in_steps_is_told_when_it_is_whole(path: Path, saves: Saves) -> None:
    with path.open("w", encoding="utf-8") as file:
        assert told(saves) == []  # it is empty
        for part in ("def f(q, k, v):\n", "    return q\n"):
            file.write(part)
            file.flush()
            assert told(saves, 1) == []
    assert told(saves) == ["def f(q, k, v):\n    return q\n"]


def test_a_file_that_is_gone_is_said_once_and_told_when_it_is_back(path: Path, saves: Saves) -> None:
    path.unlink()
    assert told(saves, PATIENCE - 1) == []
    assert told(saves, 3 * PATIENCE) == [f"{path} is not there"]
    in_place(path, "first\n")
    assert told(saves) == []  # as it was
    in_place(path, "second\n")
    assert told(saves) == ["second\n"]


def test_two_saves_between_two_looks_are_the_last_one(path: Path, saves: Saves) -> None:
    in_place(path, "second\n")
    in_place(path, "third\n")
    assert told(saves, 9) == ["third\n"]


def test_a_time_that_was_set_back_and_a_size_that_is_the_same_hide_no_save(path: Path, saves: Saves) -> None:
    stamp = path.stat()
    by_rename(path, "First\n")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert told(saves) == ["First\n"]


def test_a_file_that_is_too_large_is_said_once_with_the_reason(path: Path, saves: Saves) -> None:
    path.write_bytes(b"#" * (LARGEST + 1))
    (said,) = told(saves, 9)
    assert "larger than 1 MiB" in said
    in_place(path, "second\n")
    assert told(saves) == ["second\n"]


def test_the_moment_is_that_of_the_first_sign_of_a_change(path: Path, saves: Saves) -> None:
    in_place(path, "second\n")
    saves.look()
    in_place(path, "second and third\n")
    early, late = saves.look(), saves.look()
    assert early is None
    assert isinstance(late, Save)
    in_place(path, "fourth\n")
    saves.look()
    newest = saves.look()
    assert isinstance(newest, Save)
    assert late.seen_ns < newest.seen_ns


@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(WAYS), st.sampled_from(("first\n", "second\n", "third\n")), st.integers(0, 4)
        ),
        max_size=12,
    )
)
def test_what_was_told_last_is_what_the_file_holds_and_none_is_told_twice_in_a_row(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[Callable[[Path, str], None], str, int]]
) -> None:
    path = tmp_path_factory.mktemp("saves") / "mine.py"
    in_place(path, "first\n")
    saves, found, text = Saves(path), list[str](), "first\n"
    for save, text, looks in steps:
        save(path, text)
        found += told(saves, looks)
    found += told(saves)
    assert found[-1] == (text if steps else "first\n")
    assert all(one != other for one, other in pairwise(found))


def test_a_file_that_stays_empty_is_said_to_be_so(path: Path, saves: Saves) -> None:
    write(path, "")
    assert told(saves, PATIENCE + 1) == [f"{path} is empty"]
