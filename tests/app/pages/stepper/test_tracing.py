"""Traces beside a sweep: what needs the GPU waits and says so, and the bar always describes the board."""

from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.stepper.tracing import Tracing
from flashscope.profiles.wire.events import PlanFinished, RequestFailed, TraceReady
from tests.app.fakes import PLAN
from tests.app.pages.stepper.conftest import Bench
from tests.app.rig import Rig
from tests.app.stepper.builders import random_trace


def end_sweep(bench: Bench) -> None:
    bench.engine.sink(PlanFinished(t_ns=1, outcome="finished"))


def described(page: StepperPage) -> tuple[str, str, str]:
    """What the bar says of the board: preset, backend, loop order."""
    return (page.bar.chosen_preset, page.bar.chosen_backend, page.bar.chosen_order)


def choose_gpu(page: StepperPage) -> None:
    page.bar.backend.setCurrentIndex(page.bar.backend.findData("cuda"))


def test_the_first_trace_during_a_sweep_is_recorded_on_the_cpu(bench: Bench) -> None:
    bench.controller.run(replace(PLAN, backend="cuda"))
    page = bench.show()
    assert [request.backend for request in bench.engine.requests] == ["cpu"]
    assert described(page) == ("slide", "cpu", "flash1")


def test_a_trace_on_the_gpu_waits_for_the_sweep_and_then_comes_by_itself(bench: Bench) -> None:
    page = bench.show("causal")
    bench.controller.run(PLAN)
    choose_gpu(page)
    assert [request.backend for request in bench.engine.requests] == ["cpu", "cpu"]
    assert page.bar.result.text() == "Next: Causal, N = 64 on the GPU, when the sweep has ended"
    assert described(page) == ("causal", "cpu", "flash2")
    page.seek(3)
    assert "Next: Causal" in page.bar.result.text()
    before = page.story
    end_sweep(bench)
    bench.qtbot.waitUntil(lambda: page.story is not before)
    assert described(page) == ("causal", "cuda", "flash2")
    assert page.bar.result.text() == ""


def test_a_trace_on_the_cpu_takes_the_place_of_one_that_waits(bench: Bench) -> None:
    page = bench.show("causal")
    bench.controller.run(PLAN)
    choose_gpu(page)
    before = page.story
    page.show_preset("random")
    bench.qtbot.waitUntil(lambda: page.story is not before)
    end_sweep(bench)
    bench.qtbot.waitUntil(lambda: not bench.controller.running)
    assert [request.backend for request in bench.engine.requests] == ["cpu", "cpu", "cpu"]


def test_a_trace_that_fails_leaves_the_bar_describing_the_board(bench: Bench) -> None:
    page = bench.show("causal")
    before = page.story
    bench.engine.refusal = "No tile fits."
    with bench.qtbot.waitSignal(bench.controller.trace_failed):
        page.show_preset("overflow")
    assert page.bar.result.text() == ""
    assert page.story is before
    assert described(page) == ("causal", "cpu", "flash2")


def test_what_fails_beside_a_trace_is_not_taken_for_its_failure(bench: Bench) -> None:
    page = bench.show("causal")
    bench.engine.silent = True
    page.show_preset("random")
    bench.engine.sink(RequestFailed(request="watch", reason="The device has no telemetry."))
    with bench.qtbot.waitSignal(bench.controller.error_raised):
        pass
    assert "Recording the trace" in page.bar.result.text()
    before = page.story
    bench.engine.answer(bench.engine.requests[-1])
    bench.qtbot.waitUntil(lambda: page.story is not before)


def test_the_top_bars_backend_does_not_rename_what_is_on_show(bench: Bench) -> None:
    page = bench.show("causal")
    bench.controller.choose_backend("cuda")
    assert described(page) == ("causal", "cpu", "flash2")


def test_a_trace_of_a_file_is_described_by_its_own_problem(bench: Bench) -> None:
    page = bench.show("slide")
    page.show_trace(random_trace(seed=9, order="flash1"))
    assert described(page) == ("own", "cpu", "flash1")
    assert (page.bar.form.seqlen.value(), page.bar.form.seed.value()) == (32, 9)


def test_a_trace_that_devices_out_of_use_were_asked_for_is_asked_of_those_in_use(
    rig: Rig, qtbot: QtBot
) -> None:
    tracing = Tracing(rig.controller)
    request = random_trace().request
    tracing.ask(request)
    rig.controller.devices.moved.emit()  # the answer of those before is not heard any more
    assert rig.engine.traces == [request, request]
    with qtbot.waitSignal(tracing.recorded):
        rig.say([TraceReady(trace=random_trace())])
