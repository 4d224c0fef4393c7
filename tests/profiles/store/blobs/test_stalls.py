"""A stall profile from a file is what was written, or is refused with what is wrong with it."""

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

from flashscope.kernels.workload.stalls import StallProfile
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.store import SessionFileError, load
from flashscope.profiles.store import keeping as kept
from flashscope.profiles.store.blobs.packing import packed
from flashscope.profiles.store.blobs.stalls import decode_stalls
from flashscope.profiles.store.migrations.v020_stalls import keep_stalls
from flashscope.profiles.store.schema import VERSION
from tests.profiles.store import builders

KNOWN = builders.stalls()
encode = msgspec.msgpack.encode
SESSION = builders.plan_started().session_id


def changed(name: str, place: Any, value: int) -> StallProfile:
    """The known profile with one number of an array changed."""
    array = getattr(KNOWN, name).numpy().copy()
    array[place] = value
    return replace(KNOWN, **{name: Array.of(array)})


def test_a_profile_is_read_as_it_was_written() -> None:
    assert decode_stalls(encode(KNOWN)) == KNOWN


WRONG: dict[str, tuple[StallProfile, str]] = {
    "no instruction": (replace(KNOWN, text=()), "of 0 instructions"),
    "fewer texts than addresses": (replace(KNOWN, text=KNOWN.text[:2]), "address of a stall profile has"),
    "no reason": (replace(KNOWN, reasons=()), "of the reasons"),
    "a reason twice": (replace(KNOWN, reasons=("wait", "wait", "barrier")), "of the reasons"),
    "a reason without samples": (replace(KNOWN, reasons=KNOWN.reasons[:2]), "samples of a stall profile has"),
    "a text without end": (replace(KNOWN, text=("x" * 2000, "", "")), "too long"),
    "moments at once": (replace(KNOWN, interval=0), "0 cycles apart"),
    "no launch": (replace(KNOWN, launches=0), "of 0 launches"),
    "a launch of less than nothing": (replace(KNOWN, sampled_ns=-1), "sampled_ns is -1"),
    "others of less than nothing": (replace(KNOWN, others=-1), "-1 samples of other kernels"),
    "instructions out of order": (changed("address", 1, 48), "order of their addresses"),
    "an address before the first": (changed("address", 0, -16), "address of a stall profile beyond"),
    "a line that is none": (changed("line", 0, -1), "line of a stall profile beyond"),
    "less than no sample": (changed("samples", (0, 1), -1), "samples of a stall profile beyond"),
    "more idle than there are": (changed("idle", 2, 1), "more idle samples than samples"),
    "samples that are no integers": (replace(KNOWN, samples=Array.of(np.zeros((3, 3)))), "samples of a"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_no_launch_can_have_is_refused_with_what_it_is(what: str) -> None:
    profile, told = WRONG[what]
    with pytest.raises(ValueError, match=told):
        decode_stalls(encode(profile))


@given(st.data())
def test_bytes_that_were_changed_are_refused_in_words_or_are_a_profile_in_order(data: st.DataObject) -> None:
    blob = bytearray(encode(KNOWN))
    for _ in range(data.draw(st.integers(1, 8))):
        blob[data.draw(st.integers(0, len(blob) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ValueError, msgspec.MsgspecError):
        found = decode_stalls(bytes(blob))
        assert (np.diff(found.address.numpy()) > 0).all()
        assert (found.idle.numpy() <= found.samples.numpy().sum(axis=1)).all()
        assert found.samples.shape == (len(found.text), len(found.reasons))


def test_a_profile_is_kept_in_a_session_and_taken_out_again(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    other = replace(KNOWN, sampled_ns=5)
    number = kept.keep(path, other, SESSION)
    assert (number, load(path).stalls) == (2, [KNOWN, other])
    kept.drop(path, StallProfile, number, SESSION)
    assert load(path).stalls == [KNOWN]
    with pytest.raises(SessionFileError, match="has no stall profile 2 any more"):
        kept.drop(path, StallProfile, number, SESSION)


def test_a_file_from_before_there_were_profiles_has_none_and_takes_one(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    builders.make_older(path, keep_stalls)
    before = path.read_bytes()
    session = load(path)
    assert (session.stalls, len(session.timelines), path.read_bytes()) == ([], 1, before)
    kept.keep(path, KNOWN, SESSION)
    assert load(path).stalls == [KNOWN]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_profile_that_was_altered_is_left_out_and_told(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        blob = packed(replace(KNOWN, sampled_ns=1))
        connection.execute("UPDATE stall_profiles SET profile = ?", (blob,))
    session = load(path)
    assert (session.stalls, session.altered) == ([], "1 stall profile")
