"""Whatever stands in a story's file, it is read or refused in time; and a stop never spoils it."""

import os
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.app.stage.story import Stop, StoryError, find_story, read_story
from flashscope.app.stage.writing import add_stop
from flashscope.profiles.store import SessionFileError
from tests.app.stage.stories import GOOD, HEAD, STRANGE
from tests.limits import limited
from tests.matrix import chosen

STOP = Stop(page="profile")
SLOW = {
    *("dotted keys of 15 parts", "tables without end", "60,000 stops", "keys without end"),
    *("a comment of a million letters", "wrong pages beside notes of the same words"),
    *("a seqlen in binary of a million digits", "just as many bytes as may be", "a byte too many"),
}
MOST_SAID = 2000  # characters of a refusal


def is_refusal(error: StoryError, path: Path) -> None:
    assert str(path) in str(error)
    assert str(error).isprintable()
    assert len(str(error)) <= MOST_SAID


@chosen("name", STRANGE, STRANGE.keys() - SLOW)
def test_a_strange_story_is_read_or_refused_and_a_stop_does_not_spoil_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(STRANGE[name])
    os.mkfifo(tmp_path / "fifo")
    stops = 0
    try:
        with limited():
            stops = len(read_story(path).stops)
    except StoryError as error:
        is_refusal(error, path)
    try:
        with limited():
            assert add_stop(path, STOP) == stops + 1
    except StoryError as error:
        is_refusal(error, path)
        assert path.read_bytes() == STRANGE[name]
    else:
        assert len(read_story(path).stops) == stops + 1
        assert path.read_bytes().startswith(STRANGE[name].rstrip())


def test_there_are_a_hundred() -> None:
    assert len(STRANGE) >= 100


@pytest.mark.parametrize("target", ["/dev/zero", "pipe", "folder", "loop.toml", "nowhere"])
def test_what_is_no_plain_file_is_refused_and_not_waited_for(tmp_path: Path, target: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    path = tmp_path / "loop.toml"
    path.symlink_to(target)
    with limited(), pytest.raises(StoryError) as caught:
        read_story(path)
    is_refusal(caught.value, path)


@pytest.mark.parametrize("name", ["x" * 900, "x" * 100_000, "a\0b", "/" * 900])
def test_a_name_that_no_file_can_have_is_no_story(name: str) -> None:
    with limited(), pytest.raises(StoryError):
        read_story(find_story(name))


UNREADABLE = {
    "a kernel of 300 letters": replace(STOP, kernels=("k" * 300,)),
    "33 kernels": replace(STOP, kernels=tuple(f"k{n}" for n in range(33))),
    "a curve of 300 letters": replace(STOP, curve="c" * 300),
    "a baseline of 300 letters": replace(STOP, baseline="b" * 300),
    "a seqlen of 2^40": replace(STOP, seqlen=1 << 40),
    "a session whose name is no text": replace(STOP, session="a\udcff.flashscope"),
    "a session that is not there": replace(STOP, session="nowhere.flashscope"),
}


@pytest.mark.parametrize("stop", UNREADABLE.values(), ids=list(UNREADABLE))
def test_a_stop_that_could_not_be_read_again_is_not_written(tmp_path: Path, stop: Stop) -> None:
    path, new = tmp_path / "mine.toml", tmp_path / "new.toml"
    path.write_text(GOOD)
    for one in (path, new):
        with pytest.raises(StoryError) as caught:
            add_stop(one, stop)
        is_refusal(caught.value, one)
    assert path.read_text() == GOOD
    assert not new.exists()


def test_a_stop_is_added_behind_a_link_which_stays_one(tmp_path: Path) -> None:
    path, link, dangling = (tmp_path / name for name in ("mine.toml", "link.toml", "new.toml"))
    path.write_text(GOOD)
    link.symlink_to(path)
    dangling.symlink_to(tmp_path / "made.toml")
    assert [add_stop(link, STOP), add_stop(dangling, STOP)] == [2, 1]
    assert link.is_symlink()
    assert dangling.is_symlink()
    assert len(read_story(path).stops) == 2
    assert len(read_story(tmp_path / "made.toml").stops) == 1


def test_a_story_that_may_only_be_read_stays_as_it_is_and_the_mode_of_another_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    path.chmod(0o400)
    with pytest.raises(SessionFileError, match="may only be read"):
        add_stop(path, STOP)
    assert path.read_text() == GOOD
    path.chmod(0o664)
    add_stop(path, STOP)
    assert stat.S_IMODE(path.stat().st_mode) == 0o664


def test_lines_that_end_as_on_windows_do_so_in_what_is_added(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(GOOD.replace("\n", "\r\n").encode())
    assert add_stop(path, STOP) == 2
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")


@pytest.mark.parametrize("name", ["y" * 130, "x\udcff"])
def test_a_new_story_is_called_as_its_file_as_far_as_a_title_can_be(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.toml"
    assert add_stop(path, STOP) == 1
    assert read_story(path).title.startswith(name[:1])
    assert HEAD[:5] in path.read_text()
