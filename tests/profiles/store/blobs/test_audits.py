"""An audit from a file is what was written, or is refused with what is wrong with it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.workload.audit import ModelAudit
from flashscope.profiles.store import load
from flashscope.profiles.store.blobs.audits import decode_audit
from flashscope.profiles.store.keeping import keep
from tests.profiles.store import builders

KNOWN = builders.audit()


def called(**fields: Any) -> ModelAudit:
    """The known audit, whose first call asks for something else."""
    first, *others = KNOWN.calls
    return replace(KNOWN, calls=(replace(first, call=replace(first.call, **fields)), *others))


def first_call(**fields: Any) -> ModelAudit:
    """The known audit with other fields of its first call."""
    first, *others = KNOWN.calls
    return replace(KNOWN, calls=(replace(first, **fields), *others))


def step(**fields: Any) -> ModelAudit:
    """The known audit with other fields of its first step."""
    first, *others = KNOWN.steps
    return replace(KNOWN, steps=(replace(first, **fields), *others))


WRONG: dict[str, tuple[ModelAudit, str]] = {
    "no step": (replace(KNOWN, steps=()), "2 calls in 0 steps"),
    "a step twice": (replace(KNOWN, steps=KNOWN.steps * 2), "a step twice"),
    "calls of no step": (first_call(phase="decode"), "a step that it does not have"),
    "a call of nobody": (first_call(layers=()), "a call that 0 layers make"),
    "fewer layers than none": (replace(KNOWN, layers=-1), "less than nothing"),
    "a shape of nothing": (called(q_shape=(1, 0, 1, 1)), "a shape that no tensor has"),
    "a scale that is none": (called(scale=float("nan")), "numbers are none"),
    "more pairs than all": (called(kept_share=1.5), "numbers are none"),
    "lengths of no sequence": (called(key_lengths=(1 << 50,)), "lengths that no sequence has"),
    "a time before the begin": (first_call(took_ms=(-1.0,)), "less than nothing"),
    "a time that is none": (step(step_ms=(float("inf"),)), "beyond a day"),
    "times beside a reason": (step(refused="No."), "a reason against it"),
    "neither": (step(step_ms=()), "a reason against it"),
    "attention of no profile": (step(attention_ms=(1.0,)), "parts of them"),
}


def test_an_audit_is_read_as_it_was_written() -> None:
    assert decode_audit(msgspec.msgpack.encode(KNOWN)) == KNOWN


@pytest.mark.parametrize("case", WRONG)
def test_an_audit_that_cannot_be_is_refused(case: str) -> None:
    audit, told = WRONG[case]
    with pytest.raises(ValueError, match=told):
        decode_audit(msgspec.msgpack.encode(audit))


@given(st.binary(max_size=200))
def test_bytes_that_are_no_audit_are_refused(blob: bytes) -> None:
    with pytest.raises((ValueError, msgspec.MsgspecError)):
        decode_audit(blob)


def test_an_audit_is_kept_in_a_session_that_is_there(tmp_path: Path) -> None:
    started = builders.plan_started()
    path = builders.recorded(tmp_path / "a.flashscope", started)
    assert keep(path, KNOWN, started.session_id) == 1
    assert load(path).audits == [KNOWN]
