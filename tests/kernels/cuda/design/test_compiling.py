"""What the compiler makes of a cut, and its refusals in words."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.cuda import compile as cuda_compile
from flashscope.kernels.cuda.design import compiling
from flashscope.kernels.cuda.design.compiling import compile_cut, refusal_words
from flashscope.kernels.cuda.design.cut import shipped
from flashscope.kernels.cuda.design.refusals import refusals
from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.workload.cut import CUT_KERNELS, Cut, CutKernel
from flashscope.kernels.workload.errors import DeviceUnavailableError
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.design.drawn import cuts, problems
from tests.matrix import chosen

H200 = CARDS[0]
PROBLEM = Problem(batch=2, heads=16, seqlen_q=4096, seqlen_k=4096, head_dim=64, dtype="bfloat16")
WIDE = replace(PROBLEM, head_dim=128)
FLASH3 = Cut(kernel="flash3", groups=2, block_k=128, q_stages=2)
LONG = replace(PROBLEM, heads=1, batch=1, seqlen_q=16384, seqlen_k=16384)  # whose tiles are not drawn
BY_THE_SOURCE = {
    "keys": (PROBLEM, replace(FLASH3, block_k=144), "no instance of overloaded function"),
    "warpgroups": (PROBLEM, replace(FLASH3, groups=4), "it needs !MOVES_REGISTERS ||"),
    "residents": (PROBLEM, replace(FLASH3, residents=2), "two blocks of one warpgroup"),
    "passes": (WIDE, Cut(kernel="flash2", groups=16, block_k=48), "whole rows, and whole passes"),
    "barriers": (LONG, replace(FLASH3, groups=3), "room for Q's barriers"),
    "sums": (PROBLEM, replace(FLASH3, groups=3, block_k=224), "register target of 138 or higher."),
    "columns": (replace(PROBLEM, head_dim=224), replace(FLASH3, groups=3, block_k=64), "target of 142"),
}


@chosen("name", BY_THE_SOURCE, BY_THE_SOURCE.keys() - {"columns", "sums"})
def test_what_is_refused_by_the_source_is_refused_by_the_compiler_in_words(name: str) -> None:
    problem, cut, words = BY_THE_SOURCE[name]
    assert refusals(cut, problem, H200)
    found = compile_cut(cut, problem, H200.target)
    assert found.registers == 0
    assert words in found.failure
    assert " refuses this cut: " in found.failure
    assert "/" not in found.failure
    assert "\n" not in found.failure


@pytest.mark.matrix
@pytest.mark.parametrize("kernel", CUT_KERNELS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_the_compiler_refuses_no_cut_of_which_that_is_not_known(
    kernel: CutKernel, data: st.DataObject
) -> None:
    problem, cut = data.draw(problems(kernel)), data.draw(cuts(kernel))
    found = compile_cut(cut, problem, H200.target)
    assert bool(found.failure) <= bool(refusals(cut, problem, H200)), found.failure


def test_a_shipped_cut_compiles_to_what_its_launch_has_room_for() -> None:
    found = compile_cut(shipped("flash2", WIDE, H200.target), WIDE, H200.target)
    assert found.failure == ""
    assert 0 < found.registers <= 255
    assert (found.spilled, found.stack, found.notes) == (0, 0, ())


@pytest.mark.matrix
@pytest.mark.parametrize("head_dim", [64, 128, 256])
def test_flash3s_shipped_cut_has_the_registers_of_its_launch(head_dim: int) -> None:
    problem = replace(PROBLEM, head_dim=head_dim)
    cut = shipped("flash3", problem, H200.target)
    assert compile_cut(cut, problem, H200.target).registers == (128 if cut.groups == 3 else 168)


@pytest.mark.matrix
def test_a_cut_whose_threads_hold_too_little_says_what_it_spills() -> None:
    wide = Cut(kernel="flash2", groups=4, subtiles=4, block_k=64, residents=2)
    found = compile_cut(wide, WIDE, H200.target)
    assert found.spilled > 0
    assert found.notes[0].startswith(f"Each thread spills {found.spilled:,} bytes")


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (
            '/a/b/copy.cuh(35): error: static assertion failed with "whole rows"\n  static_assert(X);\n',
            "The source refuses this cut: whole rows (copy.cuh, line 35).",
        ),
        (
            "/a/layout.cuh(53): error: static assertion failed\n  static_assert(A <= B);\n",
            "The source refuses this cut: it needs A <= B (layout.cuh, line 53).",
        ),
        (
            "flash3.cu(65): error: no such function\n   wgmma_ss<0>(s);\n",
            "The compiler refuses this cut: no such function (flash3.cu, line 65).",
        ),
        (
            "ptxas error   : Entry function 'flash2' uses too much shared data",
            "The assembler refuses this cut: Entry function 'flash2' uses too much shared data.",
        ),
        ("nvrtc: out of memory\nmore", "The compiler refuses this cut: nvrtc: out of memory."),
        ("", "The compiler refuses this cut: it does not say why."),
    ],
)
def test_a_compilers_log_is_one_sentence(log: str, words: str) -> None:
    assert refusal_words(log) == words


def test_without_a_compiler_it_is_said_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_compile, "installed", lambda _: False)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(DeviceUnavailableError, match=r"No CUDA compiler is here .*cuda13"):
        compile_cut(shipped("flash2", PROBLEM, H200.target), PROBLEM, H200.target)


def test_a_compiler_that_says_nothing_of_what_it_kept_is_told_how_to_be_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiling, "compile_anywhere", lambda *_: (b"code", ""))
    with pytest.raises(DeviceUnavailableError, match="set CUDA_CACHE_DISABLE to 1"):
        compile_cut(shipped("flash2", PROBLEM, H200.target), PROBLEM, H200.target)
