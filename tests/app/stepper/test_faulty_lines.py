"""A broken trace in Blocks: its formulas are true of its numbers, and its algorithm is marked."""

import math
import re

import pytest
from msgspec.structs import replace

from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.cursor import Cursor
from flashscope.app.stepper.formulas import Formula, formulas, terms
from flashscope.app.stepper.presets import Options, own
from flashscope.app.stepper.pseudocode import WRONG, lines
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import SteppedTrace, StepView
from flashscope.app.words.inside.tracing import broken, trace_words
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.workload.trace import FAULTS, Fault, LoopOrder

each_fault = pytest.mark.parametrize("fault", FAULTS)
each_order = pytest.mark.parametrize("order", ["flash1", "flash2"])


def views(fault: Fault, order: LoopOrder) -> list[StepView]:
    """The end of every tile of a small causal problem, of its row 5."""
    request = own(Options(order=order, seqlen=12, head_dim=4, block_q=4, block_k=3, causal=True, seed=3))
    story = SteppedTrace.of(Recording.of(record(replace(request, fault=fault))))
    ends = story.timeline.tile_ends
    made = [StepView(story, Cursor(story.timeline, at), RowChoice(5, follow=False)) for at in ends]
    return [view for view in made if view.local_row is not None]


def numbers_of(formula: Formula) -> tuple[float, float]:
    """Both sides of a formula with its numbers, worked out."""
    text = (
        re.sub(r"<[^>]*>", "", formula.numbers).replace("−", "-").replace("·", "*").replace(", forgotten", "")
    )
    left, _, right = re.sub("≈", "=", text).rpartition("=")
    names = {"max": max, "exp": math.exp, "inf": math.inf}
    return float(eval(left.replace("∞", "inf"), names)), float(right)  # noqa: S307 - our own arithmetic


@each_fault
@each_order
def test_every_formula_of_a_broken_trace_works_out(fault: Fault, order: LoopOrder) -> None:
    checked = 0
    for view in views(fault, order):
        for formula in formulas(view):
            if "=" in formula.numbers.replace("≈", "="):
                found, said = numbers_of(formula)
                tolerance = 0.02 * (1 + abs(said))
                assert found == pytest.approx(said, abs=tolerance), (formula.symbols, formula.numbers)
                checked += 1
    assert checked


@each_fault
@each_order
def test_the_result_of_a_formula_is_what_the_trace_holds(fault: Fault, order: LoopOrder) -> None:
    for view in views(fault, order):
        local = view.local_row
        assert local is not None
        x = terms(view, local)
        assert x.l_new == view.recording.l[view.step.tile, local]
        assert x.o_new == view.recording.o[view.step.tile, local, 0]


@each_fault
@each_order
def test_the_lines_that_a_fault_changes_are_marked_and_no_others(fault: Fault, order: LoopOrder) -> None:
    right = lines(order, local_max=False, reverse=False, memory="HBM")
    wrong = lines(order, local_max=False, reverse=False, memory="HBM", fault=fault)
    changed = [(a, b) for a, b in zip(right, wrong, strict=True) if a != b]
    assert changed
    for before, after in changed:
        assert after.text.startswith(WRONG)
        assert (after.phases, after.depth) == (before.phases, before.depth)


@each_fault
def test_a_list_names_the_fault_of_a_trace_first(fault: Fault) -> None:
    words = trace_words(own(Options()))
    assert "BROKEN" not in words
    assert trace_words(replace(own(Options()), fault=fault)) == f"{broken(fault)}, {words}"
