"""Attention on several ranks from a file: what the program relies on between its parts is checked."""

import math

import msgspec

from flashscope.kernels.workload.problem import ONE_PASS
from flashscope.profiles.store.blobs.times import LONGEST_MS, POSITIVE_MS, check_times
from flashscope.profiles.wire.ranks import PassMeasured, RankMeasured, RanksCompared, RanksResult

MOST_RANKS, MOST_RUNS, MOST_STEPS, MOST_ERRORS = 4_096, 10_000, 100_000, 100
MOST_OF_A_NUMBER = 1 << 62


def decode_ranks(blob: bytes) -> RanksResult:
    """A result as it was written, unpacked.

    Raises:
        ValueError: It is none, or its parts do not fit together; the text says which.
    """
    result = msgspec.msgpack.decode(blob, type=RanksResult)
    named = [one.passes for one in result.passes]
    if len(set(named)) < len(named) or not set(named) <= set(ONE_PASS):
        raise ValueError("a result of ranks with a pass twice, or with two in one")
    if not result.passes and not result.ended.reason:
        raise ValueError("a result of ranks with no pass and no reason why")
    for one in result.passes:
        if one.backend != result.asked.backend:
            raise ValueError("a result of ranks with a pass of another backend")
        _check_pass(one)
    return result


def _check_pass(one: PassMeasured) -> None:
    """Refuse times that nobody can have taken, and ranks that are not there."""
    if not 1 <= len(one.ranks) <= MOST_RANKS or len(one.devices) != len(one.ranks):
        raise ValueError(f"a pass of {len(one.ranks)} ranks on {len(one.devices)} devices")
    if [rank.rank for rank in one.ranks] != list(range(len(one.ranks))):
        raise ValueError("a pass whose ranks are not numbered")
    if not one.ms or (one.alone_ms and one.alone_missing):
        raise ValueError("a pass without a run, or with a time alone and a reason against it")
    for times in (one.ms, one.alone_ms):
        check_times("a pass", times, MOST_RUNS, least=POSITIVE_MS)
    if not 0 < one.limit <= 1 or not 0 < one.flops <= MOST_OF_A_NUMBER:
        raise ValueError("a pass with a limit or operations that none has")
    if not 1 <= len(one.errors) <= MOST_ERRORS or not all(map(math.isfinite, _errors(one))):
        raise ValueError("a pass without errors, or with one that is no number")
    if one.compared is not None:
        _check_compared(one.compared)
    for rank in one.ranks:
        _check_rank(rank)


def _check_compared(compared: RanksCompared) -> None:
    """Refuse a comparison of nothing."""
    counts = (compared.heads, 1 if compared.rows is None else compared.rows)
    if not all(1 <= count <= MOST_OF_A_NUMBER for count in counts):
        raise ValueError("a pass that was compared in no head, or in no row")
    if (compared.rows is None) != (compared.seed is None):
        raise ValueError("a pass compared in drawn rows without a seed, or in all with one")


def _errors(one: PassMeasured) -> list[float]:
    known = [error.error for error in one.errors if error.error is not None]
    return [*known, *(error.bound for error in one.errors)]


def _check_rank(rank: RankMeasured) -> None:
    if not all(0 <= count <= MOST_OF_A_NUMBER for count in (rank.sent_bytes, rank.held_bytes)):
        raise ValueError("a rank with bytes that no memory has")
    check_times("a rank", (rank.product_ms, rank.transfer_ms, rank.exposed_ms), most=3)
    if len(rank.steps) > MOST_STEPS:
        raise ValueError(f"a rank with {len(rank.steps)} steps")
    for step in rank.steps:
        if not -LONGEST_MS <= step.begin_ms <= step.end_ms <= LONGEST_MS or not 0 <= step.step <= MOST_STEPS:
            raise ValueError("a step that ends before it begins, or that has no number")
