"""A landscape from a file is what was written, or is refused with what is wrong with it."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.profiles.results.model.fresh_rounds import FreshRounds
from flashscope.profiles.store import SessionFileError, load
from flashscope.profiles.store import keeping as kept
from flashscope.profiles.store.blobs.landscapes import decode_landscape
from flashscope.profiles.store.migrations.v022_landscapes import keep_landscapes
from flashscope.profiles.store.schema import VERSION
from tests.profiles.store import builders

KNOWN = builders.landscape()
SESSION = builders.plan_started().session_id


def changed(place: int, **fields: Any) -> CutLandscape:
    """The known landscape with other fields of one of its cuts."""
    cells = list(KNOWN.cells)
    cells[place] = replace(cells[place], **fields)
    return replace(KNOWN, cells=tuple(cells))


def read(landscape: CutLandscape) -> CutLandscape:
    return decode_landscape(msgspec.msgpack.encode(landscape))


def test_a_landscape_is_read_as_it_was_written() -> None:
    assert read(KNOWN) == KNOWN


FLASH2 = Cut(kernel="flash2", groups=4)
WRONG: dict[str, tuple[CutLandscape, str]] = {
    "no cut": (replace(KNOWN, cells=()), "a landscape of 0 cuts"),
    "rows of no number": (replace(KNOWN, rows="block_k"), "with block_k for rows"),
    "a cut of another kernel": (changed(1, cut=FLASH2), "a cut that is none of its"),
    "a cut of no rows": (changed(2, cut=Cut(kernel="numpy", groups=0)), "a cut that is none of its"),
    "no shipped cut": (replace(KNOWN, shipped=Cut(kernel="numpy", groups=7)), "without the shipped one"),
    "a cut twice": (replace(KNOWN, cells=KNOWN.cells * 2), "a cut twice"),
    "a reason beside times": (changed(0, refused=("No.",)), "times and a reason against it"),
    "neither times nor a reason": (changed(3, refused=()), "or neither"),
    "fresh rounds alone": (changed(3, anew_ms=(1.0,)), "anew before it was timed"),
    "a time of nothing": (changed(0, first_ms=(0.0,)), "a time beyond a day, or of nothing"),
    "a time that is none": (changed(0, anew_ms=(float("nan"),)), "a time beyond a day, or of nothing"),
    "more rounds than anybody runs": (changed(0, first_ms=(1.0,) * 1001), "a landscape with 1001 times"),
    "fewer registers than none": (changed(0, registers=-1), "-1 registers"),
    "a GPU for NumPy": (replace(KNOWN, device=replace(KNOWN.device, backend="cuda")), "on the cuda backend"),
    "another pass": (replace(KNOWN, problem=replace(KNOWN.problem, passes="backward")), "a backward pass"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_nobody_can_have_timed_is_refused_with_what_it_is(what: str) -> None:
    landscape, told = WRONG[what]
    with pytest.raises(ValueError, match=told):
        read(landscape)


@given(st.data())
def test_bytes_that_were_changed_are_refused_in_words_or_are_a_landscape(data: st.DataObject) -> None:
    blob = bytearray(msgspec.msgpack.encode(KNOWN))
    for _ in range(data.draw(st.integers(1, 8))):
        blob[data.draw(st.integers(0, len(blob) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ValueError, msgspec.MsgspecError):
        fresh = FreshRounds.of_landscape(decode_landscape(bytes(blob)))
        assert fresh.distance is None or fresh.distance >= 1


def test_a_landscape_that_is_kept_later_is_there_and_can_be_taken_out_again(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    before = load(path)
    other = replace(KNOWN, build="another")
    number = kept.keep(path, other, SESSION)
    after = load(path)
    assert (after.landscapes, after.altered) == ([KNOWN, other], "")
    kept.drop(path, CutLandscape, number, SESSION)
    assert load(path) == before
    with pytest.raises(SessionFileError, match="has no landscape 2 any more"):
        kept.drop(path, CutLandscape, number, SESSION)


def test_a_file_from_before_there_were_landscapes_has_none_and_takes_one(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    builders.make_older(path, keep_landscapes)
    before = path.read_bytes()
    assert load(path).landscapes == []
    assert path.read_bytes() == before
    kept.keep(path, KNOWN, SESSION)
    assert load(path).landscapes == [KNOWN]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE landscapes SET landscape = zeroblob(99)",
        "DELETE FROM landscapes",
        "DELETE FROM batches WHERE name = 'landscapes'",
    ],
)
def test_a_landscape_that_was_altered_is_left_out_and_told(statement: str, tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
    found = load(path)
    assert (found.landscapes, found.altered) == ([], "1 landscape")
