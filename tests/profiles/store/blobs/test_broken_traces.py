"""A broken trace keeps its fault in a file, and an older version does not show it as a right one."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from flashscope.kernels.cpu.trace import record
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import FAULTS, Array, Fault, TraceRequest
from flashscope.profiles.store import SessionFileError, load, opening
from flashscope.profiles.store.blobs.traces import decode_trace
from flashscope.profiles.store.migrations import MIGRATIONS
from flashscope.profiles.store.migrations.v017_faults import name_faults
from flashscope.profiles.store.migrations.v021_heads import name_heads
from flashscope.profiles.wire.events import PlanFinished, TraceReady
from tests.profiles.store import builders

REQUEST = TraceRequest(problem=Problem(seqlen_q=6, seqlen_k=6, head_dim=2), block_q=2, block_k=3)
BEFORE = MIGRATIONS.index(name_faults)  # the last version without faults


def session(path: Path, fault: Fault) -> Path:
    trace = record(replace(REQUEST, fault=fault))
    finished = PlanFinished(t_ns=6_000, outcome="finished")
    return builders.recorded(path, builders.plan_started(), TraceReady(trace=trace), finished)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_there_again_when_the_file_is_opened(tmp_path: Path, fault: Fault) -> None:
    (again,) = load(session(tmp_path / "a.flashscope", fault)).traces
    assert again.request.fault == fault
    assert again == record(replace(REQUEST, fault=fault))


def test_a_version_that_knows_no_faults_refuses_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session(tmp_path / "a.flashscope", "no-rescale")
    monkeypatch.setattr(opening, "VERSION", BEFORE)
    with pytest.raises(SessionFileError, match="format version"):
        load(path)


def test_a_version_that_knows_one_head_alone_refuses_a_trace_of_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = record(replace(REQUEST, head=1, problem=replace(REQUEST.problem, heads=2)))
    finished = PlanFinished(t_ns=6_000, outcome="finished")
    path = builders.recorded(
        tmp_path / "a.flashscope", builders.plan_started(), TraceReady(trace=trace), finished
    )
    assert [*load(path).traces] == [trace]
    monkeypatch.setattr(opening, "VERSION", MIGRATIONS.index(name_heads))
    with pytest.raises(SessionFileError, match="format version"):
        load(path)


def test_a_trace_of_an_older_file_is_of_one_head_in_one_part() -> None:
    known = msgspec.msgpack.decode(msgspec.msgpack.encode(record(REQUEST)))
    for name in ("head", "packed", "splits"):
        del known["request"][name]
    for name in ("merge_m", "merge_l", "merge_o", "pages", "twice"):
        del known[name]
    assert decode_trace(msgspec.msgpack.encode(known)) == record(REQUEST)


def test_rows_that_8_bits_computed_twice_are_there_again_and_of_other_numbers_refused() -> None:
    trace = record(REQUEST)
    rows = np.zeros((len(trace.tile.numpy()), REQUEST.block_q), np.uint8)
    rows[1, 0] = 1
    trace = replace(trace, twice=Array.of(rows))
    assert decode_trace(msgspec.msgpack.encode(trace)) == trace
    with pytest.raises(ValueError, match="twice of a trace"):
        decode_trace(msgspec.msgpack.encode(replace(trace, twice=Array.of(rows.astype(np.float32)))))


def test_inputs_are_given_for_one_head_alone() -> None:
    trace = record(REQUEST)
    given = replace(trace.request, inputs=(trace.q, trace.k, trace.v))
    assert decode_trace(msgspec.msgpack.encode(replace(trace, request=given))).request == given
    many = replace(given, problem=replace(given.problem, heads=2))
    with pytest.raises(ValueError, match="other than one head"):
        decode_trace(msgspec.msgpack.encode(replace(trace, request=many)))


def test_a_fault_that_there_is_not_makes_no_trace() -> None:
    known = msgspec.msgpack.decode(msgspec.msgpack.encode(record(REQUEST)))
    known["request"]["fault"] = "of a later version"
    with pytest.raises(ValueError, match="Invalid enum value"):
        decode_trace(msgspec.msgpack.encode(known))
