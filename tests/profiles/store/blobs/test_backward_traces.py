"""A trace of a backward pass from a file is what was written, or is refused with what is wrong with it."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.cpu.backward_trace import record
from flashscope.kernels.workload.backward_trace import BackwardTrace, BackwardTraceRequest
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.store import keeping as kept
from flashscope.profiles.store import load
from flashscope.profiles.store.blobs.backward_traces import decode_backward_trace
from flashscope.profiles.store.migrations.v026_backward_traces import keep_backward_traces
from flashscope.profiles.store.schema import VERSION
from tests.profiles.store import builders
from tests.profiles.store.test_resuming import version_of

KNOWN, APART = builders.backward_trace(), builders.backward_trace(apart=True)
DQ_PASS = APART.dq_pass
assert DQ_PASS is not None
SESSION = builders.plan_started().session_id


def read(trace: BackwardTrace) -> BackwardTrace:
    return decode_backward_trace(msgspec.msgpack.encode(trace))


def tiles(*places: tuple[int, int, int]) -> Array:
    return Array.of(np.array(places, np.int32))


@pytest.mark.parametrize("trace", [KNOWN, APART], ids=["together", "apart"])
def test_a_trace_is_read_as_it_was_written(trace: BackwardTrace) -> None:
    assert read(trace) == trace


def test_a_recorded_trace_of_grouped_heads_and_ragged_tiles_is_read_as_it_was_written() -> None:
    problem = Problem(seqlen_q=50, seqlen_k=37, batch=2, heads=4, kv_heads=2, head_dim=16, causal=True)
    trace = record(BackwardTraceRequest(problem=problem, head=2))
    assert read(trace) == trace


def of_request(**fields: Any) -> BackwardTrace:
    return replace(KNOWN, request=replace(KNOWN.request, **fields))


WRONG: dict[str, tuple[BackwardTrace, str]] = {
    "a head that there is not": (of_request(head=1), "no K/V head 1"),
    "a block of nothing": (of_request(block_q=0), "must be at least 1 long"),
    "more places than are shown": (
        of_request(problem=Problem(seqlen_q=1 << 13, seqlen_k=1 << 13), block_q=1, block_k=1),
        "tiles where at most",
    ),
    "a tile twice": (replace(KNOWN, tile=tiles((0, 0, 0), (0, 0, 0))), "or ran twice"),
    "a tile of another head": (replace(KNOWN, tile=tiles((0, 0, 0), (2, 0, 0))), "outside of 2 x 1 x 1"),
    "tiles without heads": (replace(KNOWN, tile=Array.of(np.zeros((2, 2), np.int32))), "tile of a trace"),
    "another shape": (replace(KNOWN, dv=KNOWN.dq), "dv of a trace"),
    "floats for tiles": (replace(KNOWN, tile=Array.of(np.zeros((2, 3), np.float32))), "tile of a trace"),
    "fewer bytes": (replace(KNOWN, p=replace(KNOWN.p, data=b"")), "p of a trace"),
    "dQ twice": (replace(KNOWN, dq_pass=APART.dq_pass), "in two launches"),
    "dQ nowhere": (replace(KNOWN, dq=None), "or in none"),
    "a tile of dQ outside": (
        replace(APART, dq_pass=replace(DQ_PASS, tile=tiles((0, 0, 0), (0, 1, 0)))),
        "outside of 2 x 1 x 1",
    ),
    "a block of dQ of nothing": (
        replace(APART, dq_pass=replace(DQ_PASS, block_k=0)),
        "at least 1 long",
    ),
    "dQ in another shape": (replace(APART, dq_pass=replace(DQ_PASS, dq=APART.p)), "dq of a trace"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_no_pass_can_have_recorded_is_refused_with_what_it_is(what: str) -> None:
    trace, told = WRONG[what]
    with pytest.raises(ValueError, match=told):
        read(trace)


@given(st.data())
def test_bytes_that_were_changed_are_refused_in_words_or_are_a_trace(data: st.DataObject) -> None:
    blob = bytearray(msgspec.msgpack.encode(data.draw(st.sampled_from([KNOWN, APART]))))
    for _ in range(data.draw(st.integers(1, 8))):
        blob[data.draw(st.integers(0, len(blob) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ValueError, msgspec.MsgspecError):
        assert decode_backward_trace(bytes(blob)).tile.numpy().shape[1] == 3


def test_a_trace_that_is_kept_later_is_there_and_can_be_taken_out_again(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    before = load(path)
    number = kept.keep(path, APART, SESSION)
    after = load(path)
    assert (after.backward_traces, after.altered) == ([KNOWN, APART], "")
    kept.drop(path, BackwardTrace, number, SESSION)
    assert load(path) == before


def test_a_file_from_before_there_were_such_traces_has_none_and_takes_one(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    builders.make_older(path, keep_backward_traces)
    before = path.read_bytes()
    session = load(path)
    assert (session.backward_traces, len(session.traces), path.read_bytes()) == ([], 1, before)
    kept.keep(path, KNOWN, SESSION)
    assert load(path).backward_traces == [KNOWN]
    assert version_of(path) == VERSION
