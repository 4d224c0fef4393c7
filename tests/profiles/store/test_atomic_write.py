"""What is written whole never takes the place of a session or of a device."""

import os
from pathlib import Path

import pytest

from flashscope.profiles.store import Recorder, SessionFileError, load, write_atomically
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


def test_what_is_no_plain_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for target in (tmp_path / "pipe", tmp_path):
        with pytest.raises(SessionFileError):
            write_atomically(target, b"a page", replace=True)
    assert (tmp_path / "pipe").is_fifo()
