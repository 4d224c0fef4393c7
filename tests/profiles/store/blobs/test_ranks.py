"""Attention on several ranks from a file is what was written, or is refused with what is wrong with it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.store import load
from flashscope.profiles.store.blobs.ranks import decode_ranks
from flashscope.profiles.store.keeping import drop, keep
from flashscope.profiles.store.migrations.v028_ranks import keep_ranks
from flashscope.profiles.wire.events import PlanFinished
from flashscope.profiles.wire.ranks import RanksCompared, RanksError, RanksResult, StepTime
from tests.profiles.rank_results import measured, result
from tests.profiles.store import builders

KNOWN = result()


def of_pass(**fields: Any) -> RanksResult:
    """The known result with other fields of its pass."""
    return result(measured(**fields))


def of_rank(**fields: Any) -> RanksResult:
    """The known result with other fields of its first rank."""
    first, *others = measured().ranks
    return of_pass(ranks=(replace(first, **fields), *others))


WRONG: dict[str, tuple[RanksResult, str]] = {
    "nothing and no reason": (replace(KNOWN, passes=()), "no pass and no reason"),
    "a pass twice": (replace(KNOWN, passes=KNOWN.passes * 2), "a pass twice"),
    "two passes in one": (of_pass(passes="both"), "two in one"),
    "another backend": (replace(KNOWN, passes=(measured(backend="cpu"),)), "another backend"),
    "fewer devices than ranks": (of_pass(devices=(0,)), "2 ranks on 1 devices"),
    "no rank": (of_pass(ranks=(), devices=()), "0 ranks"),
    "a rank twice": (of_rank(rank=1), "not numbered"),
    "no run": (of_pass(ms=()), "without a run"),
    "alone, and why not": (of_pass(alone_missing="No."), "a reason against it"),
    "a time of nothing": (of_pass(ms=(0.0,)), "beyond a day, or of nothing"),
    "a time that is none": (of_pass(alone_ms=(float("nan"),)), "beyond a day, or of nothing"),
    "more runs than anybody has": (of_pass(ms=(1.0,) * 10_001), "a pass with 10001 times"),
    "a transfer of less than nothing": (of_rank(transfer_ms=-1.0), "a rank with a time beyond a day"),
    "a limit beyond all": (of_pass(limit=1.5), "a limit or operations"),
    "no error": (of_pass(errors=()), "without errors"),
    "an error that is none": (
        of_pass(errors=(RanksError(output="O", error=float("inf"), bound=1.0),)),
        "no number",
    ),
    "compared in no head": (of_pass(compared=RanksCompared(heads=0)), "in no head"),
    "compared in no row": (of_pass(compared=RanksCompared(heads=1, rows=0, seed=1)), "in no row"),
    "drawn by nothing": (of_pass(compared=RanksCompared(heads=1, rows=66)), "without a seed"),
    "bytes that were not sent": (of_rank(sent_bytes=-1), "bytes that no memory has"),
    "a step that ends first": (
        of_rank(steps=(StepTime(lane="product", step=0, begin_ms=2.0, end_ms=1.0),)),
        "ends before it begins",
    ),
}


def test_a_result_is_read_as_it_was_written() -> None:
    assert decode_ranks(msgspec.msgpack.encode(KNOWN)) == KNOWN


@pytest.mark.parametrize("case", WRONG)
def test_a_result_that_cannot_be_is_refused(case: str) -> None:
    wrong, told = WRONG[case]
    with pytest.raises(ValueError, match=told):
        decode_ranks(msgspec.msgpack.encode(wrong))


@given(st.binary(max_size=200))
def test_bytes_that_are_no_result_are_refused(blob: bytes) -> None:
    with pytest.raises((ValueError, msgspec.MsgspecError)):
        decode_ranks(blob)


def test_a_session_without_points_takes_results_and_lets_them_go(tmp_path: Path) -> None:
    started = builders.plan_started(Plan(backend="cpu", kernels=(), problems=()))
    path = builders.recorded(tmp_path / "a.flashscope", started, PlanFinished(t_ns=2_000, outcome="finished"))
    refused = replace(KNOWN, passes=(), ended=replace(KNOWN.ended, reason="It is too large."))
    assert [keep(path, one, started.session_id) for one in (KNOWN, refused)] == [1, 2]
    found = load(path)
    assert (found.points, found.ranks, found.outcome) == ([], [KNOWN, refused], "finished")
    drop(path, RanksResult, 1, started.session_id)
    assert load(path).ranks == [refused]


def test_a_file_from_before_there_were_ranks_has_none_and_takes_one(tmp_path: Path) -> None:
    started = builders.plan_started()
    path = builders.recorded(tmp_path / "a.flashscope", started)
    builders.make_older(path, keep_ranks)
    assert load(path).ranks == []
    keep(path, KNOWN, started.session_id)
    assert load(path).ranks == [KNOWN]


@pytest.mark.parametrize("statement", ["UPDATE ranks SET result = zeroblob(99)", "DELETE FROM ranks"])
def test_a_result_that_was_altered_is_left_out_and_told(statement: str, tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    found = load(path)
    assert (found.ranks, found.altered) == ([], "1 result of ranks")
