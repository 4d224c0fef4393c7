"""The NumPy kernels with clocks between their stages: the same answer to the bit, and clocks in order."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cpu import flash2
from flashscope.kernels.cpu.stages import CLOCKED, Bars, ClockedLaunch
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import LOAD, PV, QK, SOFTMAX, STAGES, STORE
from tests.kernels.scored import scored

each_kernel = pytest.mark.parametrize("kernel", sorted(CLOCKED))


class Ticks:
    """A clock that stands still but for one tick whenever it is read, and what it is told to add."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        self.now += 1
        return self.now


def clocked(kernel: str, problem: Problem, clock: Callable[[], int]) -> ClockedLaunch:
    return ClockedLaunch(find_kernel(kernel), problem, make_inputs(problem, "cpu"), clock)


def shares(bars: Bars) -> dict[str, float]:
    """The share of the run that each stage took."""
    took = np.bincount(bars.stage, weights=bars.end - bars.begin, minlength=len(STAGES))
    return dict(zip(STAGES, took / bars.span_ns, strict=True))


problems = st.builds(
    Problem,
    seqlen_q=st.sampled_from([1, 128, 300, 513]),
    seqlen_k=st.sampled_from([1, 512, 700, 1100]),
    batch=st.integers(1, 2),
    heads=st.just(2),
    kv_heads=st.integers(1, 2),
    head_dim=st.sampled_from([8, 64]),
    causal=st.booleans(),
    window=st.sampled_from([None, (64, 0)]),
    seed=st.integers(0, 99),
)


@each_kernel
@settings(max_examples=12, deadline=None)
@given(problem=problems | scored(problems))
def test_a_kernel_with_clocks_computes_the_same_bits_and_tells_every_tile_once(
    kernel: str, problem: Problem
) -> None:
    inputs = make_inputs(problem, "cpu")
    plain = prepare(find_kernel(kernel), problem, inputs, "cpu")
    plain.run()
    watched = ClockedLaunch(find_kernel(kernel), problem, inputs, Ticks())
    bars = watched.run()
    assert np.array_equal(watched.launch.output, plain.output)
    assert np.array_equal(watched.launch.lse, plain.lse)
    assert bars.begin[0] >= 0
    assert (bars.end > bars.begin).all()
    assert (bars.begin[1:] >= bars.end[:-1]).all()
    assert bars.end[-1] <= bars.span_ns
    assert tiles_of(bars, QK) == kept_tiles(problem, watched.block_q, watched.block_k)
    assert tiles_of(bars, QK) == tiles_of(bars, SOFTMAX) == tiles_of(bars, PV)
    blocks = {(head, i) for head in range(4 * problem.batch // 2) for i in range(-(-problem.seqlen_q // 128))}
    stored = {(head, i) for head, i, _j in tiles_of(bars, STORE) if head >= 0}
    assert stored == (blocks if kernel == "flash2" else {(head, i) for head, i, _j in tiles_of(bars, QK)})


def tiles_of(bars: Bars, stage: int) -> set[tuple[int, int, int]]:
    """The tiles that a stage worked on, each of which it did once."""
    found = [(head, i, j) for head, i, j in bars.tile[bars.stage == stage].tolist()]
    assert len(set(found)) == len(found)
    return set(found)


def kept_tiles(problem: Problem, block_q: int, block_k: int) -> set[tuple[int, int, int]]:
    """The tiles of which the mask keeps anything, asked pair by pair."""
    q, k = np.arange(problem.seqlen_q)[:, None], np.arange(problem.seqlen_k)[None]
    kept = (k - q <= problem.mask.highest) & (k - q >= problem.mask.lowest)
    heads = range(problem.batch * problem.heads)
    return {(h, i // block_q, j // block_k) for i, j in zip(*np.nonzero(kept), strict=True) for h in heads}


@each_kernel
def test_stages_and_waits_make_up_the_life_of_the_thread(kernel: str) -> None:
    watched = clocked(kernel, Problem(seqlen_q=600, seqlen_k=1200, batch=1, heads=2, head_dim=16), Ticks())
    bars = watched.run()
    waits = np.append(bars.begin, bars.span_ns) - np.append(0, bars.end)
    assert (waits >= 0).all()
    assert (bars.end - bars.begin).sum() + waits.sum() == bars.span_ns
    assert waits[1:-1].sum() == 0
    assert waits.sum() <= 3  # of the clock's own ticks, before the first mark and after the last


@pytest.mark.parametrize(
    ("function", "slow"),
    [("exp", {"softmax"}), ("matmul", {"QKᵀ", "PV"}), ("log", {"store"}), ("max", {"softmax"})],
)
@each_kernel
def test_a_stage_that_has_more_to_do_takes_the_share_that_this_takes(
    kernel: str, function: str, slow: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock goes on by a million ticks whenever this NumPy function is called."""
    ticks = Ticks()
    known = getattr(np, function)

    def late(*arguments: Any, **named: Any) -> Any:
        ticks.now += 1_000_000
        return known(*arguments, **named)

    watched = clocked(kernel, Problem(seqlen_q=256, seqlen_k=1024, batch=1, heads=1, head_dim=8), ticks)
    monkeypatch.setattr(np, function, late)
    found = shares(watched.run())
    assert sum(found[stage] for stage in slow) > 0.99
    assert min(found[stage] for stage in slow) > 0.4


@each_kernel
def test_a_second_run_tells_of_itself_alone(kernel: str) -> None:
    watched = clocked(kernel, Problem(seqlen_q=256, seqlen_k=600, batch=1, heads=2, head_dim=8), Ticks())
    one, two = watched.run(), watched.run()
    assert repr(one) == repr(two)


def test_flash1_takes_o_back_and_stores_it_at_every_tile_and_flash2_once_a_block() -> None:
    problem = Problem(seqlen_q=256, seqlen_k=1536, batch=1, heads=1, head_dim=8)
    counts = {
        kernel: np.bincount(clocked(kernel, problem, Ticks()).run().stage).tolist() for kernel in CLOCKED
    }
    assert counts["flash1"] == [2 * 6, 6, 6, 6, 6 + 1]  # the sums of all rows come last
    assert counts["flash2"] == [6, 6, 6, 6, 2]


def test_a_block_that_keeps_no_key_is_stored_under_its_own_number() -> None:
    problem = Problem(seqlen_q=384, seqlen_k=128, batch=1, heads=1, head_dim=8, causal=True)
    bars = clocked("flash2", problem, Ticks()).run()
    assert bars.tile.tolist()[:2] == [[0, 0, -1], [0, 1, -1]]
    assert bars.stage.tolist() == [STORE, STORE, LOAD, QK, SOFTMAX, PV, STORE]


def test_the_timed_kernel_is_left_alone() -> None:
    before = dict(vars(flash2))
    clocked("flash2", Problem(seqlen_q=128, seqlen_k=128, batch=1, heads=1, head_dim=8), Ticks()).run()
    assert dict(vars(flash2)) == before


def test_what_has_no_build_with_clocks_is_refused_with_what_has() -> None:
    problem = Problem(seqlen_q=8, seqlen_k=8, batch=1, heads=1, head_dim=8)
    with pytest.raises(UnsupportedError, match="standard has no build with clocks: choose flash1 or flash2"):
        clocked("standard", problem, Ticks())
    uneven = Problem(seqlen_q=8, seqlen_k=8, batch=1, heads=1, head_dim=8, key_lengths=(4,))
    with pytest.raises(UnsupportedError, match="On a CPU a timeline is of a forward pass"):
        clocked("flash2", uneven, Ticks())
