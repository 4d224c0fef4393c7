"""Large values are packed in a file, and those of older files are read as they are."""

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from flashscope.profiles.store import CorruptFileError, Recorder, SessionFileError, keeping, load, rows
from flashscope.profiles.store.blobs import packing, places
from flashscope.profiles.store.blobs.packing import packed, unpacked
from flashscope.profiles.store.blobs.places import PLACES
from flashscope.profiles.store.keeping import keep
from flashscope.profiles.store.migrations import migrate
from flashscope.profiles.store.rows import write_event
from flashscope.profiles.store.statements import TooLargeError
from flashscope.profiles.wire.events import TraceReady
from tests.profiles.store import builders

TRACE = builders.trace()
VALUES = [TRACE, builders.timeline(), builders.stalls(), builders.landscape(), builders.backward_trace()]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_is_read_packed_and_as_older_files_have_it(value: msgspec.Struct) -> None:
    decode = PLACES[type(value)].decode  # type: ignore[index]  # one of those above
    assert packed(value)[0] == packing.ZLIB != msgspec.msgpack.encode(value)[0]
    plain = msgspec.msgpack.encode(value)
    assert unpacked(packed(value)) == unpacked(plain) == plain
    assert decode(plain) == value


@pytest.mark.parametrize("cut", [1, 10, -1])
def test_what_is_cut_off_is_refused(cut: int) -> None:
    with pytest.raises(ValueError, match=r"cut off|cannot be unpacked"):
        unpacked(packed(VALUES[1])[:cut])


def test_what_has_more_behind_it_is_refused() -> None:
    with pytest.raises(ValueError, match="more behind it"):
        unpacked(packed(VALUES[1]) + b"more")


def test_what_would_fill_the_memory_is_refused_before_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MAX_VALUE_BYTES", 1 << 16)
    with pytest.raises(ValueError, match="too large"):
        unpacked(zlib.compress(bytes(1 << 20)))


def test_what_is_too_large_for_a_file_is_not_packed_so_that_it_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packing, "MAX_VALUE_BYTES", 100)
    assert packed(VALUES[0]) == msgspec.msgpack.encode(VALUES[0])


def test_a_session_takes_no_value_with_which_its_values_would_not_be_unpacked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = builders.recorded(tmp_path / "a.flashscope", builders.plan_started())
    most = 2 * len(msgspec.msgpack.encode(TRACE))
    for module in (packing, places):
        monkeypatch.setattr(module, "MAX_UNPACKED_BYTES", most)
    for _ in range(2):
        keep(path, TRACE, builders.plan_started().session_id)
    with pytest.raises(SessionFileError, match="MiB of memory with this trace"):
        keep(path, TRACE, builders.plan_started().session_id)
    assert load(path).traces == [TRACE] * 2
    monkeypatch.setattr(packing, "MAX_UNPACKED_BYTES", most - 1)
    with pytest.raises(CorruptFileError, match="MiB together"):
        load(path)


def test_a_session_takes_no_value_with_which_it_would_be_too_large_to_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = builders.recorded(tmp_path / "a.flashscope", builders.plan_started())
    before = path.read_bytes()
    monkeypatch.setattr(keeping, "MAX_FILE_BYTES", len(before) + keeping.SPARE_BYTES)
    with pytest.raises(SessionFileError, match="larger than a session may be"):
        keep(path, TRACE, builders.plan_started().session_id)
    assert path.read_bytes() == before


def test_a_recorder_refuses_such_a_value_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MAX_UNPACKED_BYTES", len(msgspec.msgpack.encode(TRACE)))
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    write_event(connection, TraceReady(trace=TRACE))
    with pytest.raises(TooLargeError, match="more traces: they take too much memory"):
        write_event(connection, TraceReady(trace=TRACE))


def test_a_recorder_refuses_one_value_that_is_too_large_and_does_not_call_its_file_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (packing, rows):
        monkeypatch.setattr(module, "MAX_VALUE_BYTES", 100)
    path = tmp_path / "a.flashscope"
    with closing(Recorder(path)) as recorder:
        recorder.record(builders.plan_started())
        with pytest.raises(SessionFileError, match="cannot hold the trace: it takes 0 MiB where at most"):
            recorder.record(TraceReady(trace=TRACE))
    assert load(path).traces == []
