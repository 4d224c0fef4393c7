"""A preview's curves are those of the session; what is altered is no part of them, and counted."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from flashscope.app.control.bundled import bundled_sessions
from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.store import glance as glancing
from flashscope.profiles.store import load
from flashscope.profiles.store.glance import glance
from tests.matrix import chosen
from tests.profiles.store import builders
from tests.profiles.store.test_altered import CHANGED, IMPOSSIBLE


def test_a_glance_shows_the_medians_of_the_first_problem() -> None:
    for path in bundled_sessions():
        every = by_curve(rows(load(path)))
        if not every:
            continue
        (label, members), *others = every.items()
        seen = glance(path)
        assert (seen.label, seen.others, seen.altered) == (label.label, len(others), 0)
        medians = {(row.kernel, row.seqlen): row.times.median for row in members if row.done and row.times}
        assert {(kernel, n): ms for kernel, curve in seen.curves.items() for n, ms in curve} == medians


def test_of_a_session_without_points_it_has_no_problem_and_no_curve() -> None:
    seen = glance(next(path for path in bundled_sessions() if path.stem == "h100-ranks"))
    assert (seen.label, seen.curves) == ("", {})


STATEMENTS = CHANGED | IMPOSSIBLE


@chosen("what", STATEMENTS, {"a time", "a figure more", "no samples", "a wrong output"})
def test_an_altered_point_is_not_drawn_but_counted(tmp_path: Path, what: str) -> None:
    statement = STATEMENTS[what]
    path = builders.recorded(tmp_path / "a.flashscope")
    assert glance(path).altered == 0
    assert glance(path).curves
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
    seen = glance(path)
    assert (seen.altered, seen.curves) == (1, {})


def test_of_many_lengths_some_are_read_the_ends_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glancing, "MOST_LENGTHS", 3)
    curve = glance(bundled_sessions()[0]).curves["flash2"]
    assert len(curve) == 3
    lengths = sorted(row.seqlen for row in rows(load(bundled_sessions()[0])) if row.kernel == "flash2")
    assert (curve[0][0], curve[-1][0]) == (lengths[0], lengths[-1])
