"""The page with a trace of packed heads, keys in parts and pages: what it says, draws and refuses."""

from flashscope.app.pages.registry import VIEWS
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.stepper.from_point import PointTrace, StandIn
from flashscope.app.words.inside.tracing import BLOCKS_ALONE
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.wire.events import TraceReady
from tests.app.pages.stepper.conftest import Bench
from tests.app.stepper.builders import random_trace
from tests.app.stepper.shared_traces import FEW_ROWS, shared_trace


def shown(bench: Bench) -> StepperPage:
    page = bench.show()
    page.show_trace(shared_trace())
    return page


def seek_merge(page: StepperPage) -> None:
    assert page.position is not None
    page.seek(next(at for at, step in enumerate(page.position.timeline.steps) if step.merges))


def test_the_badge_says_which_heads_of_which_sequence_are_on_show(bench: Bench) -> None:
    page = shown(bench)
    assert "heads 2 to 3 of 4, sequence 1 of 2, keys in 4 parts" in page.bar.source.text()


def test_a_merge_has_its_formulas_and_its_lines_and_no_scores(bench: Bench) -> None:
    page = shown(bench)
    seek_merge(page)
    words = page.words()
    assert "share of the row" in words
    assert "no scores: parts are merged" in words
    assert "m′ = max(m, mx)" in words
    assert page.view is not None
    tiles = page.view.recording.tiles
    assert f"{tiles} of {tiles}" in words


def test_the_last_step_equals_the_exact_result(bench: Bench) -> None:
    page = shown(bench)
    assert page.position is not None
    page.seek(page.position.last)
    assert "max |O − exact|" in page.bar.result.text()


def test_a_trace_comes_once_whatever_tile_and_share_the_kernel_chose_for_it(bench: Bench) -> None:
    page, trace = bench.show(), shared_trace()
    before = len(bench.engine.requests)
    bench.engine.silent = True
    found = PointTrace("flash3", FEW_ROWS, trace.request.subject, StandIn("flash3", timed="flash3"), ())
    bench.controller.insides.origin = next(iter(VIEWS))
    bench.controller.insides.trace_asked.emit(found)
    assert bench.engine.requests[before:] == [trace.request.subject] != [trace.request]
    bench.engine.sink(TraceReady(trace=trace))
    bench.qtbot.waitUntil(lambda: page.story is not None and page.story.recording.trace == trace)
    assert len(bench.engine.requests) == before + 1
    assert page.bar.chosen_preset == "point"


def test_another_head_is_chosen_and_traced_and_there_is_no_choice_of_one(bench: Bench) -> None:
    page = bench.show()
    assert not page.bar.head.isVisible()
    problem = Problem(seqlen_q=10, seqlen_k=20, heads=3, head_dim=8)
    page.show_trace(record(TraceRequest(problem=problem, block_q=4, block_k=8, head=1)))
    assert page.bar.head.isVisible()
    assert (page.bar.head.value(), page.bar.head.maximum()) == (1, 2)
    bench.engine.real = True
    page.bar.head.setValue(2)
    bench.qtbot.waitUntil(lambda: page.story is not None and page.story.recording.request.head == 2)
    assert bench.engine.requests[-1].problem == problem
    assert "head 2 of 3" in page.bar.source.text()


def test_a_head_that_only_a_gpu_could_trace_cannot_be_chosen_without_one(bench: Bench) -> None:
    page = shown(bench)
    assert page.bar.head.isVisible()
    assert not page.bar.head.isEnabled()
    assert page.bar.head.toolTip()


def test_other_modes_stay_with_blocks_and_say_why_until_another_trace_comes(bench: Bench) -> None:
    page = bench.show()
    page.show_mode("lanes")
    page.show_trace(shared_trace())
    assert page.modes.key == "blocks"
    page.show_mode("predict")
    assert page.modes.key == "blocks"
    assert BLOCKS_ALONE in page.bar.result.text()
    page.show_trace(random_trace(16, block=4))
    page.show_mode("predict")
    assert page.modes.key == "predict"


def test_the_keys_of_the_mode_broken_say_that_such_a_trace_is_not_broken(bench: Bench) -> None:
    page = shown(bench)
    for act in (page.commands.show_first_wrong, lambda: page.commands.show_fault("no-rescale")):
        page.bar.result.setText("")
        act()
        assert page.modes.key == "blocks"
        assert BLOCKS_ALONE in page.bar.result.text()
