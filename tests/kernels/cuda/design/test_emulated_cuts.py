"""Cuts that nothing refuses compute the right answer: in the emulator, against the oracle."""

from functools import partial

import pytest
from msgspec.structs import replace

from flashscope.kernels.cuda.design.cut import program_of, spec_of
from flashscope.kernels.cuda.design.refusals import refusals
from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.emulator.running import backward, forward, needs_compiler

pytestmark = [needs_compiler, pytest.mark.matrix]
FLASH2 = Cut(kernel="flash2", groups=4, subtiles=2)
FLASH3 = Cut(kernel="flash3", groups=2, block_k=128)
FLASH2_BACKWARD = Cut(kernel="flash2 backward", groups=4, subtiles=2)
FLASH3_BACKWARD = Cut(kernel="flash3 backward", groups=2, queries=128)
FEW, MANY = (4, 470), (140, 190)  # heads and N: tiles that have a block each, and that are drawn
CUTS = {
    "flash2, two warps": replace(FLASH2, groups=2),
    "flash2, one fragment and 128 keys": replace(FLASH2, subtiles=1, block_k=128),
    "flash2, three fragments and 16 keys": replace(FLASH2, subtiles=3, block_k=16),
    "flash3, one stage": replace(FLASH3, stages=1),
    "flash3, one warpgroup": replace(FLASH3, groups=1, stages=3),
    "flash3, two blocks an SM": replace(FLASH3, groups=1, block_k=64, residents=2),
    "flash3, three warpgroups and 96 keys": replace(FLASH3, groups=3, block_k=96, stages=4, q_stages=2),
}


BACKWARD_CUTS = {
    "flash2, one warp and 16 queries": (64, replace(FLASH2_BACKWARD, groups=1, subtiles=1, queries=16)),
    "flash2, three fragments and 32 queries": (64, replace(FLASH2_BACKWARD, groups=2, subtiles=3, columns=4)),
    "flash2, four warps a group": (128, replace(FLASH2_BACKWARD, groups=2, columns=4, queries=128)),
    "flash3, one stage of keys": (64, replace(FLASH3_BACKWARD, stages=1)),
    "flash3, one stage of keys and 64 queries": (128, replace(FLASH3_BACKWARD, stages=1, queries=64)),
    "flash3, 96 queries": (128, replace(FLASH3_BACKWARD, stages=1, queries=96)),
}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", CUTS)
def test_a_cut_that_nothing_refuses_agrees_with_the_oracle(name: str, causal: bool) -> None:
    cut = CUTS[name]
    heads, seqlen = MANY if cut.q_stages > 1 else FEW
    problem = Problem(
        heads=heads, seqlen_q=seqlen, seqlen_k=seqlen, head_dim=64, dtype="bfloat16", causal=causal
    )
    assert refusals(cut, problem, CARDS[0]) == ()
    verdict = forward(cut.kernel, problem, partial(program_of, cut))
    assert verdict.passed, verdict


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", BACKWARD_CUTS)
def test_a_cut_of_a_backward_pass_agrees_with_the_oracle(name: str, causal: bool) -> None:
    head_dim, cut = BACKWARD_CUTS[name]
    problem = Problem(
        heads=2,
        seqlen_q=300,
        seqlen_k=300,
        head_dim=head_dim,
        dtype="bfloat16",
        causal=causal,
        passes="backward",
    )
    assert refusals(cut, problem, CARDS[0]) == ()
    verdict = backward(spec_of(cut), problem, partial(program_of, cut))
    assert verdict.passed, verdict
