"""A recording writes what it is given in order, tells what goes wrong, and never gets in the way of a run."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

import pytest

from flashscope.profiles.running import recording
from flashscope.profiles.running.recording import (
    BackgroundRecording,
    FileMade,
    FileNote,
    FileTrouble,
    RunRecording,
)
from flashscope.profiles.store import (
    MovedFileError,
    Recorder,
    SessionFileError,
    TakenFileError,
    load,
    opening,
)
from flashscope.profiles.wire.events import Event
from tests.profiles.store import builders

PATIENCE_S = 120.0
EVENTS = list(builders.whole_sweep())
FULL = SessionFileError("the disk is full; free some space.")


class Scripted:
    """A recorder that writes into a list, unless something is in its way.

    Attributes:
        written: What it has written.
        waiting: What it could not write.
        wrong: What is in its way, None: nothing.
        closed: Whether it let go of its file.
    """

    def __init__(self, path: Path = Path("a.flashscope")) -> None:
        self.path = path
        self.written: list[Event] = []
        self.waiting: list[Event] = []
        self.wrong: Exception | None = None
        self.closed = False

    @property
    def created(self) -> bool:
        return bool(self.written)

    def record(self, event: Event) -> None:
        self.waiting.append(event)
        self.catch_up()

    def catch_up(self) -> None:
        if self.wrong is not None:
            raise self.wrong
        self.written += self.waiting
        self.waiting.clear()

    def close(self) -> None:
        self.closed = True
        self.catch_up()


class Notes(SimpleQueue[FileNote]):
    """What recordings tell."""

    def all(self) -> list[FileNote]:
        return [self.get_nowait() for _ in range(self.qsize())]

    def troubles(self) -> list[str]:
        return [note.text for note in self.all() if isinstance(note, FileTrouble)]

    def next(self, kind: type[FileNote]) -> FileNote:
        """The next of a kind, waited for."""
        while not isinstance(note := self.get(timeout=PATIENCE_S), kind):
            pass
        return note


@pytest.fixture
def notes() -> Notes:
    return Notes()


def test_each_event_is_written_before_record_returns(notes: Notes) -> None:
    recorder = Scripted()
    kept = RunRecording(recorder, notes.put)
    before = kept.path
    assert before is None
    for number, event in enumerate(EVENTS, 1):
        kept.record(event)
        assert recorder.written == EVENTS[:number]
    assert notes.all() == [FileMade(recorder.path)]
    assert kept.path == recorder.path
    kept.finish()
    assert (recorder.closed, kept.finished) == (True, True)


def test_a_trouble_is_told_once_until_another_comes_and_what_waited_is_written(notes: Notes) -> None:
    recorder = Scripted()
    kept = RunRecording(recorder, notes.put)
    recorder.wrong = FULL
    for event in EVENTS[:3]:
        kept.record(event)
    assert notes.troubles() == [str(FULL)]
    recorder.wrong = SessionFileError("the folder is gone.")
    kept.record(EVENTS[3])
    assert notes.troubles() == ["the folder is gone."]
    recorder.wrong = None
    kept.record(EVENTS[4])
    assert recorder.written == EVENTS[:5]
    assert notes.all() == [FileMade(recorder.path)]


def test_what_fails_last_is_told_by_finish_and_the_file_is_let_go_of(notes: Notes) -> None:
    recorder = Scripted()
    kept = RunRecording(recorder, notes.put)
    kept.record(EVENTS[0])
    recorder.wrong = FULL
    kept.finish()
    assert notes.troubles() == [str(FULL)]
    assert recorder.closed


def test_an_error_without_words_is_told_by_its_name(notes: Notes) -> None:
    recorder = Scripted()
    recorder.wrong = MemoryError()
    RunRecording(recorder, notes.put).record(EVENTS[0])
    assert notes.troubles() == ["MemoryError"]


@pytest.mark.parametrize(
    ("error", "passing", "refused"),
    [(FULL, True, False), (MovedFileError("moved."), False, False), (TakenFileError("taken."), False, True)],
)
def test_only_what_may_pass_is_worth_another_attempt_and_only_a_file_of_others_is_refused(
    notes: Notes, error: Exception, passing: bool, refused: bool
) -> None:
    recorder = Scripted()
    kept = RunRecording(recorder, notes.put)
    recorder.wrong = error
    kept.record(EVENTS[0])
    (told,) = notes.all()
    assert isinstance(told, FileTrouble)
    assert (told.error, told.path) == (error, recorder.path)
    assert (told.passing, kept.refused) == (passing, refused)


def test_a_slow_disk_holds_nobody_up(notes: Notes) -> None:
    let = threading.Event()

    class Slow(Scripted):
        def catch_up(self) -> None:
            assert let.wait(PATIENCE_S)
            super().catch_up()

    recorder = Slow()
    kept = BackgroundRecording(recorder, notes.put)
    for event in EVENTS:
        kept.record(event)
    kept.finish()
    assert (recorder.written, kept.finished) == ([], False)
    let.set()
    kept.wait()
    assert (recorder.written, recorder.closed, kept.finished) == (EVENTS, True, True)


def filled(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let no file be made, as on a full disk, until what this returns is called."""
    full, connect = [True], opening.connect

    def connected(path: Path, mode: str) -> sqlite3.Connection:
        if full:
            raise sqlite3.OperationalError("database or disk is full")
        return connect(path, mode)

    monkeypatch.setattr("flashscope.profiles.store.writer.connect", connected)
    return full.clear


def test_a_run_that_ended_on_a_full_disk_is_in_its_file_once_there_is_room(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty = filled(monkeypatch)
    monkeypatch.setattr(recording, "RETRY_S", 0.01)
    kept = BackgroundRecording(Recorder(tmp_path / "a.flashscope"), notes.put)
    for event in EVENTS:
        kept.record(event)
    kept.finish()
    told = notes.next(FileTrouble)
    assert isinstance(told, FileTrouble)
    assert "the disk is full" in told.text
    assert kept.path is None
    empty()
    assert notes.next(FileMade) == FileMade(tmp_path / "a.flashscope")
    kept.wait()
    assert load(tmp_path / "a.flashscope").outcome == "cancelled"


def test_who_cannot_wait_for_room_gets_one_more_attempt(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty = filled(monkeypatch)
    kept = BackgroundRecording(Recorder(tmp_path / "a.flashscope"), notes.put)
    for event in EVENTS:
        kept.record(event)
    notes.next(FileTrouble)
    empty()
    kept.finish()
    kept.wait()
    assert load(tmp_path / "a.flashscope").outcome == "cancelled"


def test_who_leaves_while_the_disk_is_full_is_not_held_up(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    filled(monkeypatch)
    kept = BackgroundRecording(Recorder(tmp_path / "a.flashscope"), notes.put)
    for event in EVENTS:
        kept.record(event)
    kept.finish()
    kept.wait()
    assert kept.finished
    assert len(notes.troubles()) == 1
