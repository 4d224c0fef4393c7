"""What CUDA launches keep between calls, and that calls at once do not meet in it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from flashscope.kernels import BlockMask, attention
from flashscope.kernels.cuda.kept import Kept, Sized
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.running import TAKE_BLOCK_MASKS, by_name, skip_unsupported

THREADS, CALLS = 6, 15


def test_a_value_is_made_once_and_the_one_longest_unasked_goes_first() -> None:
    kept: Kept[str] = Kept(most=2, most_bytes=100)
    made = []

    def ask(key: str) -> str:
        return kept.get(key, lambda: made.append(key) or Sized(key, 1))  # type: ignore[func-returns-value]

    assert [ask(key) for key in "abacb"] == list("abacb")
    assert made == list("abcb")
    assert len(kept) == 2


def test_the_bytes_kept_are_bounded_and_what_is_too_large_puts_nothing_out() -> None:
    kept: Kept[int] = Kept(most=10, most_bytes=100)
    for key, nbytes in enumerate((40, 40, 101)):
        assert kept.get(key, lambda key=key, nbytes=nbytes: Sized(key, nbytes)) == key  # type: ignore[misc]
    assert (len(kept), kept.nbytes) == (2, 80)
    kept.get(3, lambda: Sized(3, 60))
    assert (len(kept), kept.nbytes) == (2, 100)


def test_what_fails_is_asked_again() -> None:
    kept: Kept[int] = Kept(most=1, most_bytes=1)

    def fail() -> Sized[int]:
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError):  # noqa: PT011 - its own
            kept.get(0, fail)
    assert kept.get(0, lambda: Sized(7, 0)) == 7


def test_threads_that_ask_at_once_all_get_the_value() -> None:
    kept: Kept[int] = Kept(most=1, most_bytes=1)
    together = threading.Barrier(THREADS)

    def make() -> Sized[int]:
        together.wait()
        return Sized(7, 1)

    with ThreadPoolExecutor(THREADS) as pool:
        assert set(pool.map(lambda _: kept.get(0, make), range(THREADS))) == {7}
    assert (len(kept), kept.nbytes) == (1, 1)


@pytest.mark.gpu
@by_name(TAKE_BLOCK_MASKS)
def test_calls_at_once_on_streams_of_their_own_agree_to_the_bit_with_calls_alone(cp: Any, name: str) -> None:
    """Fresh inputs in each call, so that pointers come and go under what is kept."""
    masks = [BlockMask.random(515, 771, block_q=128, block_k=128, kept_share=0.5, seed=s) for s in range(2)]
    options: list[dict[str, Any]] = [
        {"causal": True},
        {"scale": -0.3},
        *({"block_mask": mask} for mask in masks),
    ]
    problem = Problem(heads=4, seqlen_q=515, seqlen_k=771, dtype="float16", block_mask=masks[0])
    skip_unsupported(name, problem)
    draw = cp.random.default_rng(0).standard_normal
    shapes = (problem.q_shape, problem.k_shape, problem.k_shape)
    inputs = [[draw(shape, dtype=cp.float32).astype(cp.float16) for shape in shapes] for _ in range(3)]
    cases = [(arrays, more) for arrays in inputs for more in options]

    def ask(case: int) -> tuple[bytes, ...]:
        arrays, more = cases[case]
        copies = [array.copy() for array in arrays]
        return tuple(x.tobytes() for x in attention(*copies, kernel=name, return_lse=True, **more))

    alone = [ask(case) for case in range(len(cases))]

    def work(thread: int) -> bool:
        with cp.cuda.Stream(non_blocking=True):
            order = [(thread + step) % len(cases) for step in range(CALLS)]
            return all(ask(case) == alone[case] for case in order)

    cp.cuda.Device().synchronize()
    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(work, range(THREADS)))


@pytest.mark.gpu
@by_name(TAKE_BLOCK_MASKS)
def test_calls_that_follow_each_other_unawaited_agree_to_the_bit(cp: Any, name: str) -> None:
    """On a stream that no other waits for: a tile counter in memory that the call before may still use."""
    problem = Problem(heads=16, seqlen_q=2048, seqlen_k=2048, dtype="float16", causal=True)
    skip_unsupported(name, problem)
    q = cp.random.default_rng(0).standard_normal(problem.q_shape, dtype=cp.float32).astype(cp.float16)
    cp.cuda.Device().synchronize()
    with cp.cuda.Stream(non_blocking=True) as stream:
        found = [attention(q, q, q, kernel=name, causal=True) for _ in range(CALLS)]
        stream.synchronize()
    assert all(bool((one.view(cp.uint16) == found[0].view(cp.uint16)).all()) for one in found)
