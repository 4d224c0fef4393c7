"""A copy of a session holds what the session shows, whatever was going on in its file."""

from pathlib import Path

import pytest

from flashscope.profiles.store import (
    Recorder,
    ReplacedFileError,
    SessionFileError,
    SessionMark,
    copy_session,
    load,
)
from flashscope.profiles.store.opening import being_written, checked
from tests.profiles.store import builders
from tests.profiles.store.test_reading_writes_nothing import (
    KILLED_MID_WRITE,
    KILLED_WHILE_WRITING_AHEAD,
    folder_as_it_is,
    run,
    written,
)

pytestmark = pytest.mark.timeout(60)
OLD = Path(__file__).with_name("version4.flashscope")


def test_a_copy_of_a_file_whose_writer_was_killed_shows_the_same(tmp_path: Path) -> None:
    path, target = tmp_path / "a.flashscope", tmp_path / "b.flashscope"
    run(KILLED_MID_WRITE, path)
    assert path.with_name("a.flashscope-journal").stat().st_size
    before = folder_as_it_is(tmp_path)
    copy_session(path, target)
    assert load(target) == load(path)
    after = folder_as_it_is(tmp_path)
    assert after.keys() - before.keys() == {target.name}
    assert {name: after[name] for name in before} == before


def test_a_copy_of_a_file_written_ahead_needs_nothing_beside_it(tmp_path: Path) -> None:
    path, target = written(tmp_path), tmp_path / "b.flashscope"
    run(KILLED_WHILE_WRITING_AHEAD, path)
    copy_session(path, target)
    target.chmod(0o444)
    assert load(target).note == "in the log"
    assert not list(tmp_path.glob("b.flashscope-*"))


def test_a_file_that_is_recorded_here_is_copied_and_stays_locked(tmp_path: Path) -> None:
    recorder, target = Recorder(tmp_path / "a.flashscope"), tmp_path / "b.flashscope"
    recorder.record(builders.plan_started())
    for event in builders.measured(0, 1):
        recorder.record(event)
    copy_session(recorder.path, target)
    assert being_written(recorder.path)
    recorder.close()
    assert load(target).points == load(recorder.path).points


def test_a_copy_of_an_older_version_is_of_that_version(tmp_path: Path) -> None:
    target = tmp_path / "b.flashscope"
    copy_session(OLD, target)
    versions = []
    for path in (OLD, target):
        with checked(path) as (_connection, version):
            versions.append(version)
    assert versions == [4, 4]
    assert load(target) == load(OLD)


def test_a_copy_that_fails_leaves_what_stood_there(tmp_path: Path) -> None:
    path, target = written(tmp_path), tmp_path / "b.flashscope"
    target.write_text("kept")
    with pytest.raises(SessionFileError, match="the session itself"):
        copy_session(path, path)
    path.write_bytes(b"no session" * 100)
    with pytest.raises(SessionFileError, match="not a Flashscope session"):
        copy_session(path, target)
    assert target.read_text() == "kept"


def test_another_session_than_the_one_meant_is_not_copied(tmp_path: Path) -> None:
    path, target = written(tmp_path), tmp_path / "b.flashscope"
    meant = SessionMark.of(load(path))
    copy_session(path, target, meant)
    assert load(target) == load(path)
    for other in (meant._replace(id="b" * 32), meant._replace(parts=2), meant._replace(ended_ns=1)):
        target.write_text("kept")
        with pytest.raises(ReplacedFileError, match="does not hold what is on show any more"):
            copy_session(path, target, other)
        assert target.read_text() == "kept"


def test_the_session_meant_is_copied_while_it_is_recorded_though_it_has_no_end_yet(tmp_path: Path) -> None:
    recorder, target = Recorder(tmp_path / "a.flashscope"), tmp_path / "b.flashscope"
    recorder.record(builders.plan_started())
    ended = SessionMark.of(load(recorder.path))._replace(outcome="finished", ended_ns=9)
    copy_session(recorder.path, target, ended)
    recorder.close()
    assert load(target).id == ended.id
