"""What is written whole never takes the place of a session or of a device."""

import errno
import os
import stat
from pathlib import Path

import pytest

from flashscope.profiles.store import Recorder, SessionFileError, load, write_atomically
from flashscope.profiles.store.errors import explain_os
from tests.profiles.store import builders


def test_an_older_export_is_replaced_and_a_session_never_is(tmp_path: Path) -> None:
    page, session = tmp_path / "page.html", builders.recorded(tmp_path / "a.flashscope")
    write_atomically(page, b"old", replace=False)
    write_atomically(page, b"new", replace=True)
    assert page.read_bytes() == b"new"
    (tmp_path / "link.html").symlink_to(session)
    for target in (session, tmp_path / "link.html"):
        with pytest.raises(SessionFileError, match="is a session, which nothing is written over"):
            write_atomically(target, b"a page", replace=True)
    assert load(session).points


def test_a_session_that_is_being_recorded_is_kept_and_keeps_its_lock(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started())
    with pytest.raises(SessionFileError, match="is a session"):
        write_atomically(recorder.path, b"a page", replace=True)
    recorder.close()
    assert load(recorder.path).plan


def test_what_may_only_be_read_is_kept_and_the_mode_of_what_is_replaced_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    write_atomically(page, b"old", replace=False)
    page.chmod(0o444)
    with pytest.raises(SessionFileError, match="may only be read; change its permissions"):
        write_atomically(page, b"new", replace=True)
    assert (page.read_bytes(), stat.S_IMODE(page.stat().st_mode)) == (b"old", 0o444)
    page.chmod(0o640)
    write_atomically(page, b"new", replace=True)
    assert (page.read_bytes(), stat.S_IMODE(page.stat().st_mode)) == (b"new", 0o640)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_disk_that_may_only_be_read_has_no_permissions_to_change(tmp_path: Path) -> None:
    told = str(explain_os(OSError(errno.EROFS, "Read-only file system"), tmp_path))
    assert "choose a folder you can write to" in told
    assert "permissions" not in told


def test_what_is_no_plain_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for target in (tmp_path / "pipe", tmp_path):
        with pytest.raises(SessionFileError):
            write_atomically(target, b"a page", replace=True)
    assert (tmp_path / "pipe").is_fifo()
