"""Tiles of flash2 in NumPy run in turns, for real; the fastest run anew."""

import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.sources import source_digest
from flashscope.kernels.cuda.design.cut import shipped
from flashscope.kernels.cuda.design.refusals import refusals
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.cuda.reading.cards import card_of
from flashscope.kernels.launching.passes import Given, PassLaunch, draw_given
from flashscope.kernels.workload.cut import BACKWARD, CUT_KERNELS, Cut, CutKernel
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.wire.cuts import CutAnswer, CutCompiled, CutsRound, CutsToTime, CutTimed, CutTimes
from flashscope.profiles.worker import cut_times
from flashscope.profiles.worker.cut_times import CutTimer, launch_of

SHIPPED = Cut(kernel="numpy", groups=16, block_k=16)
CUTS = (*(Cut(kernel="numpy", groups=rows, block_k=64) for rows in (16, 32, 64)), SHIPPED)
ASKED = CutsToTime(
    problem=Problem(seqlen_q=64, seqlen_k=64, head_dim=16),
    backend="cpu",
    cuts=CUTS,
    shipped=SHIPPED,
    rounds=3,
    fresh_rounds=5,
    finalists=1,
)


def timed(heard: list[CutAnswer], *, anew: bool) -> list[CutTimes]:
    return [one.timed for one in heard if isinstance(one, CutTimed) and one.timed.anew is anew]


def test_every_tile_is_timed_and_the_fastest_and_the_shipped_one_anew() -> None:
    heard: list[CutAnswer] = []
    ended = CutTimer().time(ASKED, heard.append)
    assert (ended.timer, ended.reason) == ("perf_counter", "")
    first, anew = (timed(heard, anew=fresh) for fresh in (False, True))
    assert [one.cut for one in first] == [*CUTS]
    assert all(len(one.ms) == 3 and min(one.ms) > 0 for one in first)
    assert all(len(one.ms) == ASKED.fresh_rounds and min(one.ms) > 0 for one in anew)
    assert SHIPPED in {one.cut for one in anew}
    assert 1 <= len(anew) <= 2
    rounds = [one for one in heard if isinstance(one, CutsRound)]
    assert [one.done for one in rounds] == [*range(1, len(rounds) + 1)]
    assert rounds[-1].total >= len(rounds)


def test_a_tile_whose_answer_is_wrong_is_told_and_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    def launched(cut: Cut, problem: Problem, given: Given, backend: Backend) -> PassLaunch:
        others = draw_given(replace(problem, seed=1), "cpu")
        return launch_of(cut, problem, others if cut.groups == 32 else given, backend)

    monkeypatch.setattr(cut_times, "launch_of", launched)
    heard: list[CutAnswer] = []
    CutTimer().time(replace(ASKED, rounds=1), heard.append)
    (failed,) = [one for one in timed(heard, anew=False) if one.failure]
    assert failed.cut.groups == 32
    assert "differs from the float64 oracle" in failed.failure
    assert failed.ms == ()


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", CUT_KERNELS)
def test_cuts_of_a_gpu_are_checked_and_timed(kernel: CutKernel) -> None:
    """Shipped and with fewer keys, or of backward passes stages or queries; flash3 on Hopper alone."""
    device = describe()
    card = card_of(device)
    problem = Problem(
        heads=16,
        seqlen_q=1024,
        seqlen_k=1024,
        head_dim=64,
        dtype="bfloat16",
        passes="backward" if kernel.endswith(BACKWARD) else "forward",
    )
    own = Cut(kernel=kernel, groups=1)
    if card is None or find_kernel(own.spec).unsupported(problem, device) is not None:
        pytest.skip(f"{kernel} has no cut on {device.name}")
    own = shipped(kernel, problem, card.target)
    others = {"flash2 backward": {"queries": 32}, "flash3 backward": {"stages": 1}}
    cuts = (own, replace(own, **others.get(kernel, {"block_k": 80})))
    assert not any(refusals(cut, problem, card) for cut in cuts)
    heard: list[CutAnswer] = []
    ended = CutTimer().time(
        CutsToTime(problem=problem, backend="cuda", cuts=cuts, shipped=own, rounds=3), heard.append
    )
    assert ended.device == device
    assert ended.build == source_digest("cuda", kernel)
    compiled = [one.compiled for one in heard if isinstance(one, CutCompiled)]
    assert [one.cut for one in compiled] == [*cuts]
    assert all(one.registers > 0 and not one.failure for one in compiled)
    assert [one.failure for one in timed(heard, anew=False)] == [""] * len(cuts)
    assert own in {one.cut for one in timed(heard, anew=True)}
