"""A trace that is kept later is there, whole, and can be taken out again."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.kernels.cpu.trace import record
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import Trace, TraceRequest
from flashscope.profiles.store import ReplacedFileError, SessionFileError, load
from flashscope.profiles.store import keeping as kept
from flashscope.profiles.store.blobs.places import PLACES
from tests.profiles.store import builders

SESSION = builders.plan_started().session_id
MADE = record(TraceRequest(problem=Problem(seqlen_q=24, seqlen_k=24, head_dim=16, causal=True), block_q=8))


def test_it_stands_behind_those_that_were_recorded_and_leaves_them_as_they_were(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    before = load(path)
    number = kept.keep(path, MADE, SESSION)
    after = load(path)
    assert (after.traces, after.altered) == ([*before.traces, MADE], "")
    assert after.timelines == before.timelines
    kept.drop(path, Trace, number, SESSION)
    assert load(path) == before


def test_one_in_the_middle_leaves_the_others_whole_when_it_is_taken_out(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    before = load(path).traces
    number = kept.keep(path, MADE, SESSION)
    last = replace(MADE, device="another CPU")
    kept.keep(path, last, SESSION)
    kept.drop(path, Trace, number, SESSION)
    found = load(path)
    assert (found.traces, found.altered) == ([*before, last], "")
    with pytest.raises(SessionFileError, match=f"has no trace {number} any more"):
        kept.drop(path, Trace, number, SESSION)


def test_another_session_in_the_file_gets_none(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    before = load(path).traces
    with pytest.raises(ReplacedFileError):
        kept.keep(path, MADE, "f" * 32)
    with pytest.raises(ReplacedFileError):
        kept.drop(path, Trace, 1, "f" * 32)
    assert load(path).traces == before


def test_a_full_session_takes_no_more_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    monkeypatch.setitem(PLACES, Trace, PLACES[Trace]._replace(most=1))
    with pytest.raises(SessionFileError, match="has 1 traces; it takes no more"):
        kept.keep(path, MADE, SESSION)
