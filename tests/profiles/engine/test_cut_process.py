"""Cuts compiled in a process of its own: real answers, and its end when it is asked to end."""

import signal
from queue import SimpleQueue
from typing import Any

import pytest
from msgspec.structs import replace

from flashscope.kernels.workload.cut import CompiledCut, Cut
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.engine.line_kinds import LINE_KINDS, start_lines
from flashscope.profiles.wire.cuts import CutAnswer, CutCompiled, CutsAsked, CutsEnded

PATIENCE_S = 120.0
PROBLEM = Problem(seqlen_q=1024, seqlen_k=1024, head_dim=64, dtype="float16")
REFUSED = Cut(kernel="flash3", groups=4, block_k=128)
SOUND = Cut(kernel="flash2", groups=4, block_k=32)


def asked(*cuts: Cut) -> list[CutsAsked]:
    return [CutsAsked(problem=PROBLEM, compute_capability=(9, 0), cuts=cuts)]


def test_every_cut_is_answered_in_order_and_then_the_end() -> None:
    heard: SimpleQueue[CutAnswer] = SimpleQueue()
    compiler = start_lines("cuts", asked(REFUSED, SOUND), heard.put)
    refused, sound, end = (heard.get(timeout=PATIENCE_S) for _ in range(3))
    compiler.end()
    assert isinstance(refused, CutCompiled)
    assert isinstance(sound, CutCompiled)
    assert (refused.compiled.cut, sound.compiled.cut) == (REFUSED, SOUND)
    assert "refuses this cut" in refused.compiled.failure
    assert sound.compiled.failure == ""
    assert sound.compiled.registers > 0
    assert end == CutsEnded()


@pytest.mark.gpu
def test_a_cut_that_the_compiler_has_in_its_cache_says_what_it_takes_again() -> None:
    found = []
    for _ in range(2):
        heard: SimpleQueue[CutAnswer] = SimpleQueue()
        compiler = start_lines("cuts", asked(SOUND), heard.put)
        found.append(heard.get(timeout=PATIENCE_S))
        assert heard.get(timeout=PATIENCE_S) == CutsEnded()
        compiler.end()
    first, again = map(without_compile_time, found)
    assert first == again
    assert first.registers > 0


def without_compile_time(answer: CutAnswer) -> CompiledCut:
    """What was found, without how long the compiler took for it, which is another time each time."""
    assert isinstance(answer, CutCompiled)
    lines = answer.compiled.log.splitlines()
    assert any("Compile time" in line for line in lines)
    return replace(answer.compiled, log="\n".join(line for line in lines if "Compile time" not in line))


def test_one_that_is_ended_says_nothing_more_and_leaves_no_process() -> None:
    heard: list[CutAnswer] = []
    compiler = start_lines(
        "cuts", asked(*(replace(SOUND, block_k=16 * k) for k in range(1, 17))), heard.append
    )
    compiler.end()
    assert heard == []
    assert compiler._process.returncode == -signal.SIGKILL


def test_several_requests_are_done_one_after_the_other_each_with_its_end() -> None:
    heard: SimpleQueue[CutAnswer] = SimpleQueue()
    compiler = start_lines("cuts", [*asked(REFUSED), *asked(SOUND)], heard.put)
    found = [heard.get(timeout=PATIENCE_S) for _ in range(4)]
    compiler.end()
    assert [type(one) for one in found] == [CutCompiled, CutsEnded, CutCompiled, CutsEnded]
    assert heard.empty()


def test_a_process_that_dies_is_told_with_what_it_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: SimpleQueue[Any] = SimpleQueue()
    monkeypatch.setitem(LINE_KINDS, "cuts", LINE_KINDS["cuts"]._replace(main="flashscope.nowhere:main"))
    compiler = start_lines("cuts", asked(SOUND), heard.put)
    end = heard.get(timeout=PATIENCE_S)
    compiler.end()
    assert end.reason == LINE_KINDS["cuts"].cut_off
    assert "compiles or times cuts" in end.reason
    assert "flashscope.nowhere" in end.detail
