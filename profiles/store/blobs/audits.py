"""Audits from a file: every relation between their parts that the program relies on is checked."""

import math

import msgspec

from flashscope.kernels.workload.audit import AttentionCall, AuditedCall, ModelAudit
from flashscope.profiles.store.blobs.times import check_times

MOST_CALLS, MOST_LAYERS, MOST_ROUNDS, MOST_STEPS = 10_000, 100_000, 10_000, 100
MOST_OF_A_NUMBER = 1 << 40


def decode_audit(blob: bytes) -> ModelAudit:
    """An audit as it was written, unpacked.

    Raises:
        ValueError: It is none, or its parts do not fit together; the text says which.
    """
    audit = msgspec.msgpack.decode(blob, type=ModelAudit)
    if len(audit.calls) > MOST_CALLS or not 1 <= len(audit.steps) <= MOST_STEPS:
        raise ValueError(f"an audit of {len(audit.calls)} calls in {len(audit.steps)} steps")
    if not {one.phase for one in audit.calls} <= set(audit.phases):
        raise ValueError("an audit with calls of a step that it does not have")
    pairs = [(one.phase, one.implementation) for one in audit.steps]
    if len(set(pairs)) < len(pairs):
        raise ValueError("an audit with a step twice")
    if min(audit.parameters, audit.weight_bytes, audit.layers, audit.layers_in_all, audit.threads) < 0:
        raise ValueError("an audit with less than nothing of something")
    for call in audit.calls:
        _check_call(call)
    for step in audit.steps:
        for times in (step.step_ms, step.profiled_ms, step.attention_ms):
            check_times("an audit", times, MOST_ROUNDS)
        if len(step.profiled_ms) != len(step.attention_ms) or bool(step.refused) == bool(step.step_ms):
            raise ValueError("an audit with a step that has times and a reason against it, or parts of them")
    return audit


def _check_call(audited: AuditedCall) -> None:
    """Refuse shapes that no tensor has, and times that nobody can have taken."""
    check_times("an audit", audited.took_ms, MOST_ROUNDS)
    if not 1 <= len(audited.layers) <= MOST_LAYERS:
        raise ValueError(f"an audit with a call that {len(audited.layers)} layers make")
    call = audited.call
    if not all(1 <= n <= MOST_OF_A_NUMBER for n in (*call.q_shape, *call.k_shape, call.v_dim)):
        raise ValueError("an audit with a call of a shape that no tensor has")
    _check_numbers(call)


def _check_numbers(call: AttentionCall) -> None:
    numbers = (call.kept_share, call.dropout, call.scale or 0.0, call.softcap or 0.0)
    if not all(map(math.isfinite, numbers)) or not 0 <= call.kept_share <= 1:
        raise ValueError("an audit with a call whose numbers are none")
    lengths = [*(call.key_lengths or ()), *(call.query_lengths or ()), *(call.window or ())]
    if not all(abs(n) <= MOST_OF_A_NUMBER for n in lengths):
        raise ValueError("an audit with a call of lengths that no sequence has")
