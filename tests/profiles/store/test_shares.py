"""Shares of a reading: kept, guarded by its digest, and no change to digests from before there were any."""

import sqlite3
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

import msgspec
import pytest

from flashscope.profiles.store import Recorder, load
from flashscope.profiles.wire.events import Event, Reading, Readings
from tests.profiles.store import builders

BARE = tuple(Reading(t_ns=5 + k, memory_used=10 * k, power_w=1.5) for k in range(3))
SHARED = tuple(
    Reading(t_ns=5 + k, sm_share=0.5, tensor_share=0.25, dram_share=None if k else 0.125) for k in range(3)
)


def recorded(path: Path, readings: tuple[Reading, ...]) -> Path:
    events: list[Event] = [event for event in builders.whole_sweep() if not isinstance(event, Readings)]
    recorder = Recorder(path)
    for event in (*events[:-1], Readings(readings=readings), events[-1]):
        recorder.record(event)
    recorder.close()
    return path


def digests(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [one for (one,) in connection.execute("SELECT digest FROM batches WHERE name = 'readings'")]


def test_readings_come_back_with_their_shares(tmp_path: Path) -> None:
    assert tuple(load(recorded(tmp_path / "a.flashscope", SHARED)).readings) == SHARED


def test_a_digest_of_readings_without_shares_is_the_one_of_the_versions_before(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.flashscope", BARE)
    rows = [
        (n, r.t_ns, r.memory_used, None, r.power_w, None, None, None, None) for n, r in enumerate(BARE, 1)
    ]
    with closing(sqlite3.connect(path)) as connection:
        places = [n for (n,) in connection.execute("SELECT n FROM readings ORDER BY n")]
    known = [(place, *row[1:]) for place, row in zip(places, rows, strict=True)]
    assert digests(path) == [blake2b(msgspec.msgpack.encode(known), digest_size=16).hexdigest()]


@pytest.mark.parametrize("share", ["sm_share", "tensor_share", "dram_share"])
@pytest.mark.parametrize("readings", [BARE, SHARED], ids=["had none", "had some"])
def test_a_share_that_was_changed_is_left_out(
    tmp_path: Path, readings: tuple[Reading, ...], share: str
) -> None:
    path = recorded(tmp_path / "a.flashscope", readings)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"UPDATE readings SET {share} = 0.75")  # noqa: S608 - our names
    assert load(path).readings == []
