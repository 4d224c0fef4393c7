"""Cuts compiled in the background: what is told on the window's thread, and what no longer is."""

from collections.abc import Callable, Sequence

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.inside.cut_work import CutWork
from flashscope.kernels.workload.cut import CompiledCut, Cut
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.cuts import CutAnswer, CutCompiled, CutRequest, CutsAsked, CutsEnded

CUT = Cut(kernel="flash2", groups=4)
ASKED = CutsAsked(
    problem=Problem(seqlen_q=64, seqlen_k=64, dtype="float16"), compute_capability=(9, 0), cuts=(CUT,)
)
DONE = CutCompiled(compiled=CompiledCut(cut=CUT, registers=7))


class FakeCompiler:
    """Says what a test has it say."""

    def __init__(self, asked: Sequence[CutRequest], told: Callable[[CutAnswer], None]) -> None:
        self.asked, self.say, self.ended = asked, told, False

    def end(self) -> None:
        self.ended = True


@pytest.fixture
def cuts(qapp: object) -> CutWork:
    return CutWork(FakeCompiler)


def compiler(cuts: CutWork) -> FakeCompiler:
    assert isinstance(cuts._process, FakeCompiler)
    return cuts._process


def test_every_answer_is_told_and_then_nothing_is_compiled(cuts: CutWork, qtbot: QtBot) -> None:
    cuts.ask(ASKED)
    made = compiler(cuts)
    with qtbot.waitSignal(cuts.compiled) as told:
        made.say(DONE)
    assert told.args == [ASKED, DONE.compiled]
    assert cuts.asked
    with qtbot.waitSignal(cuts.changed):
        made.say(CutsEnded())
    assert not cuts.asked
    assert made.ended


def test_a_reason_why_nothing_comes_is_told(cuts: CutWork, qtbot: QtBot) -> None:
    cuts.ask(ASKED)
    with qtbot.waitSignal(cuts.failed) as told:
        compiler(cuts).say(CutsEnded(reason="No compiler.", detail="more"))
    assert told.args == ["No compiler.", "more"]


def test_what_was_given_up_is_not_told_any_more(cuts: CutWork, qtbot: QtBot) -> None:
    cuts.ask(ASKED)
    made = compiler(cuts)
    made.say(DONE)
    cuts.cancel()
    with qtbot.assertNotEmitted(cuts.compiled, wait=0):
        qtbot.wait(0)
    assert made.ended
    assert cuts.asked is None


def test_a_new_request_takes_the_place_of_the_one_before(cuts: CutWork) -> None:
    cuts.ask(ASKED)
    before = compiler(cuts)
    cuts.ask(ASKED)
    assert before.ended
    assert not compiler(cuts).ended
    cuts.close()
    assert cuts.asked is None
