"""The mark by which runs of one plan are known as one family."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.plan.run_mark import RunMark, run_marks
from flashscope.profiles.results.model.recorded_events import RecordedEvents
from flashscope.profiles.store import CorruptFileError, list_sessions, load
from tests.profiles.store.builders import plan_started, recorded, whole_sweep
from tests.profiles.store.test_suspicion import tamper

MARK = RunMark(family="f" * 32, run=2, of=5)


def marked(path: Path) -> Path:
    _first, *rest = whole_sweep()
    return recorded(path, replace(plan_started(), run_mark=MARK), *rest)


def test_the_marks_of_several_runs_share_a_family_and_count_from_1() -> None:
    marks = run_marks(3)
    assert [(mark.run, mark.of) for mark in marks] == [(1, 3), (2, 3), (3, 3)]
    assert len({mark.family for mark in marks}) == 1
    assert marks[0].family != run_marks(1)[0].family


def test_a_mark_is_read_as_it_was_written() -> None:
    assert RunMark.read(MARK.written) == MARK
    assert RunMark.read("") is None


@pytest.mark.parametrize("word", ["x", "a/b/c", "a/0/5", "/1/1", "a/1/1/1"])
def test_a_word_that_is_no_mark_is_refused(word: str) -> None:
    with pytest.raises(InputError, match="FLASHSCOPE_RUN"):
        RunMark.read(word)


def test_a_file_keeps_the_mark_and_a_list_shows_it(tmp_path: Path) -> None:
    path = marked(tmp_path / "a.flashscope")
    recorded(tmp_path / "b.flashscope", *whole_sweep())
    assert load(path).run_mark == MARK
    assert {info.path.stem: info.run_mark for info in list_sessions(tmp_path)} == {"a": MARK, "b": None}


def test_a_session_that_is_replayed_keeps_its_mark(tmp_path: Path) -> None:
    session = load(marked(tmp_path / "a.flashscope"))
    events = RecordedEvents(session)
    assert events.at(events.end_ns).run_mark == MARK


@pytest.mark.parametrize("stored", ["'[]'", """'{"family": "a", "run": 0, "of": 2}'""", "'nothing'"])
def test_a_file_whose_mark_is_none_is_refused(stored: str, tmp_path: Path) -> None:
    path = marked(tmp_path / "a.flashscope")
    tamper(path, f"UPDATE session SET run_mark = {stored}")  # noqa: S608 - our own words
    with pytest.raises(CorruptFileError):
        load(path)
