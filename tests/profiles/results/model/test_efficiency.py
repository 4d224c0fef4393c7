"""Where the wall time of a sweep went."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.app.words.results.efficiency import efficiency_lines, efficiency_short
from flashscope.profiles.plan.seqlens import short_seqlen
from flashscope.profiles.results.formats.export import to_json
from flashscope.profiles.results.model.efficiency import NOT_ENDED, UNKNOWN, by_problem, efficiency
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import Recorder, load
from flashscope.profiles.wire.events import Event, PointChecked
from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.wire.spent import spent_key
from tests.app.fakes import sweep
from tests.profiles.sessions import session_of
from tests.profiles.store import builders

MS = 1_000_000
SPENT = {  # of each point, in ms
    spent_key("trial", "launch"): 100.0,
    spent_key("trial", "check"): 50.0,
    spent_key("trial", "prepare"): 200.0,
    spent_key("sampling", "launch"): 300.0,
    spent_key("sampling", "flush"): 25.0,
    spent_key("sampling", "count"): 75.0,
}


def ended(figures: dict[str, float] | None = None) -> Session:
    """A whole sweep whose points told where their time went."""
    session = session_of(sweep())
    told = SPENT if figures is None else figures
    for state in session.points:
        assert state.measurement is not None
        known = {key: Figure(value=value, source="perf_counter") for key, value in told.items()}
        state.measurement = replace(state.measurement, figures=state.measurement.figures | known)
    return session


def wall_ms(session: Session) -> float:
    assert session.ended_ns is not None
    return (session.ended_ns - session.t0_ns) / MS


def test_launches_ceilings_and_checks_are_what_a_sweep_is_for() -> None:
    session = ended()
    session.ceilings[1] = replace(builders.CEILINGS, took_ms=60.0)
    count, wall = len(session.points), wall_ms(session)
    spent = efficiency(session)
    assert spent is not None
    assert spent.wall_s == pytest.approx(wall / 1e3)
    assert spent.launches_s == pytest.approx(0.4 * count)
    assert spent.efficiency == pytest.approx((450 * count + 60) / wall)
    assert (spent.preparing_s, spent.flushing_s, spent.counting_s) == pytest.approx(
        (0.2 * count, 0.025 * count, 0.075 * count)
    )
    assert spent.other_s == pytest.approx((wall - 750 * count - 60) / 1e3)


def test_each_problem_has_a_share_of_its_own_and_the_drift_check_none() -> None:
    session = ended()
    found = by_problem(session)
    assert [one.problem for one in found] == list(session.plan.problems)
    for one in found:
        assert one.spent.launches_s == pytest.approx(0.4 * len(session.plan.kernels))


def test_nothing_is_said_of_a_sweep_that_runs_nor_of_one_that_told_nothing() -> None:
    running = ended()
    running.outcome = None
    assert efficiency(running) is None
    assert json.loads(to_json(running))["efficiency"]["missing"] == NOT_ENDED
    silent = ended({})
    assert efficiency(silent) is None
    assert by_problem(silent) == []
    assert json.loads(to_json(silent))["efficiency"] == {
        "share": None,
        "missing": UNKNOWN,
        "spent": None,
        "by_problem": [],
    }
    assert (efficiency_short(silent), list(efficiency_lines(silent))) == ("", [])


@given(st.sampled_from(list(SPENT)), st.floats(allow_nan=True, allow_infinity=True))
def test_whatever_a_file_holds_no_share_is_beyond_the_whole(key: str, absurd: float) -> None:
    session = ended(SPENT | {key: absurd})
    for spent in (efficiency(session), *(one.spent for one in by_problem(session))):
        assert spent is None or 0 <= spent.efficiency <= 1
    assert all(len(text) < 300 for text in efficiency_lines(session))


def test_a_file_keeps_it_and_json_has_it(tmp_path: Path) -> None:
    session = ended()
    recorder = Recorder(tmp_path / "a.flashscope")
    for event in _events(session):
        recorder.record(event)
    recorder.close()
    read = load(tmp_path / "a.flashscope")
    assert efficiency(read) == efficiency(session)
    document: dict[str, Any] = json.loads(to_json(read))["efficiency"]
    spent = efficiency(read)
    assert spent is not None
    assert document["share"] == spent.efficiency
    assert document["spent"]["launches_s"] == spent.launches_s
    assert len(document["by_problem"]) == len(session.plan.problems)


def _events(session: Session) -> Iterator[Event]:
    """The events of the sweep, their points with the figures of this session."""
    for event in sweep():
        told = session.points[event.index].measurement if isinstance(event, PointChecked) else None
        if isinstance(event, PointChecked) and told is not None:
            yield replace(event, measurement=replace(event.measurement, figures=told.figures))
        else:
            yield event


def test_the_words_name_each_part_and_every_n() -> None:
    session = ended()
    first, second = efficiency_lines(session)
    assert first.startswith("Sweep efficiency: ")
    for name in ("launches", "checks", "preparing", "emptying the cache", "counting"):
        assert name in first
    assert all(f"N = {short_seqlen(problem.seqlen_q)} " in second for problem in session.plan.problems)
    assert efficiency_short(session).startswith("efficiency ")
