"""A timeline from a file is what was written, or is refused with what is wrong with it."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.timeline import STAGES, StageTimeline
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.store import ReplacedFileError, SessionFileError, load
from flashscope.profiles.store import keeping as kept
from flashscope.profiles.store.blobs.places import PLACES
from flashscope.profiles.store.blobs.timelines import decode_timeline
from flashscope.profiles.store.migrations.v018_timelines import keep_timelines
from flashscope.profiles.store.schema import VERSION
from tests.profiles.store import builders

KNOWN = builders.timeline()
SESSION = builders.plan_started().session_id


def changed(name: str, place: Any, value: int) -> StageTimeline:
    """The known timeline with one number of an array changed."""
    array = getattr(KNOWN, name).numpy().copy()
    array[place] = value
    return replace(KNOWN, **{name: Array.of(array)})


def read(timeline: StageTimeline) -> StageTimeline:
    return decode_timeline(msgspec.msgpack.encode(timeline))


def test_a_timeline_is_read_as_it_was_written() -> None:
    assert read(KNOWN) == KNOWN


WRONG: dict[str, tuple[StageTimeline, str]] = {
    "a bar that ends before it begins": (changed("end", 1, 5), "order of their lanes and clocks"),
    "bars that overlap": (changed("begin", 2, 30), "order of their lanes and clocks"),
    "lanes out of order": (changed("lane", 0, 1), "order of their lanes and clocks"),
    "a lane that is none": (changed("lane", 3, 2), "lane of a timeline beyond 0 to 1"),
    "a stage that is none": (changed("stage", 0, len(STAGES)), "stage of a timeline beyond 0 to"),
    "a head that is none": (changed("tile", (0, 0), 2), "head of a tile"),
    "a tile beyond the scores": (changed("tile", (3, 2), 2), "j of a tile"),
    "a bar after the run": (changed("end", 3, 101), "end of a timeline beyond 0 to 100"),
    "a block of no lane": (changed("block_lane", 1, 2), "block_lane"),
    "a block that goes back": (changed("block_end", 1, 4), "ends before it begins"),
    "a round of less than nothing": (changed("plain_ns", 0, -1), "plain_ns"),
    "a run of less than nothing": (replace(KNOWN, span_ns=-1), "a timeline of -1 ns"),
    "no lane at all": (replace(KNOWN, lanes=()), "a timeline of 0 lanes"),
    "too many lanes": (replace(KNOWN, lanes=("a",) * 4096), "a timeline of 8192 lanes"),
    "no head in one": (replace(KNOWN, packed=0), "a timeline of 0 heads in one"),
    "more heads in one than there are": (replace(KNOWN, packed=3), "a timeline of 3 heads in one"),
    "no register": (replace(KNOWN, registers=(0, 9)), r"a timeline of \(0, 9\) registers a thread"),
    "more registers than there are": (replace(KNOWN, registers=(9, 256)), r"\(9, 256\) registers a thread"),
    "tiles of nothing": (replace(KNOWN, block_q=0), "tiles of 0 x 1"),
    "fewer ends than bars": (replace(KNOWN, end=Array.of(np.zeros(3, np.int64))), "end of a timeline has"),
    "times that are no integers": (replace(KNOWN, begin=Array.of(np.zeros(4))), "begin of a timeline has"),
    "fewer rounds than asked for": (replace(KNOWN, plain_ns=Array.of(np.zeros(1, np.int64))), "plain_ns"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_no_run_can_have_recorded_is_refused_with_what_it_is(what: str) -> None:
    timeline, told = WRONG[what]
    with pytest.raises(ValueError, match=told):
        read(timeline)


def test_sms_that_there_are_not_are_refused() -> None:
    for backend, sms, told in (("cpu", 4, "A CPU has no SMs"), ("cuda", 0, "of one SM at least, not of 0")):
        with pytest.raises(InputError, match=told):
            read(replace(KNOWN, request=replace(KNOWN.request, backend=backend, sms=sms)))


def test_a_number_of_rounds_that_nobody_runs_is_refused() -> None:
    with pytest.raises(InputError, match="1 to 100 rounds"):
        read(replace(KNOWN, request=replace(KNOWN.request, rounds=0)))


@given(st.data())
def test_bytes_that_were_changed_are_refused_in_words_or_are_a_timeline_in_order(data: st.DataObject) -> None:
    blob = bytearray(msgspec.msgpack.encode(KNOWN))
    for _ in range(data.draw(st.integers(1, 8))):
        blob[data.draw(st.integers(0, len(blob) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ValueError, msgspec.MsgspecError):
        found = decode_timeline(bytes(blob))
        begin, end, lane = (getattr(found, name).numpy() for name in ("begin", "end", "lane"))
        assert (end >= begin).all()
        assert ((lane[1:] > lane[:-1]) | (begin[1:] >= end[:-1])).all()
        assert end.max(initial=0) <= found.span_ns


def test_a_timeline_that_is_kept_later_is_there_and_can_be_taken_out_again(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    before = load(path)
    other = replace(KNOWN, device="another CPU")
    number = kept.keep(path, other, SESSION)
    after = load(path)
    assert (after.timelines, after.altered) == ([KNOWN, other], "")
    kept.drop(path, StageTimeline, number, SESSION)
    assert load(path) == before


def test_a_timeline_in_the_middle_leaves_the_others_whole_when_it_is_taken_out(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    one, two = (replace(KNOWN, device=name) for name in ("one", "two"))
    number = kept.keep(path, one, SESSION)
    kept.keep(path, two, SESSION)
    kept.drop(path, StageTimeline, number, SESSION)
    found = load(path)
    assert (found.timelines, found.altered) == ([KNOWN, two], "")
    with pytest.raises(SessionFileError, match="has no timeline 2 any more"):
        kept.drop(path, StageTimeline, number, SESSION)


def test_a_file_from_before_there_were_timelines_has_none_and_takes_one(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    builders.make_older(path, keep_timelines)
    before = path.read_bytes()
    assert load(path).timelines == []
    assert path.read_bytes() == before
    kept.keep(path, KNOWN, SESSION)
    assert load(path).timelines == [KNOWN]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE timelines SET timeline = zeroblob(99)",
        "DELETE FROM timelines",
        "DELETE FROM batches WHERE name = 'timelines'",
    ],
)
def test_a_timeline_that_was_altered_is_left_out_and_told(statement: str, tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
    found = load(path)
    assert (found.timelines, found.altered) == ([], "1 timeline")
    assert len(found.traces) == 1


def test_another_session_in_the_file_gets_nothing(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    with pytest.raises(ReplacedFileError):
        kept.keep(path, KNOWN, "f" * 32)
    with pytest.raises(ReplacedFileError):
        kept.drop(path, StageTimeline, 1, "f" * 32)
    assert load(path).timelines == [KNOWN]


def test_a_full_session_takes_no_more_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    monkeypatch.setitem(PLACES, StageTimeline, PLACES[StageTimeline]._replace(most=1))
    with pytest.raises(SessionFileError, match="has 1 timelines; it takes no more"):
        kept.keep(path, KNOWN, SESSION)
    monkeypatch.setattr(kept, "MAX_VALUE_BYTES", 10)
    with pytest.raises(SessionFileError, match="no session file holds so much"):
        kept.keep(path, KNOWN, SESSION)
