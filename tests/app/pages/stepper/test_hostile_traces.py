"""A trace from a file is shown from its first to its last step, or refused with a sentence."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from flashscope.app.pages.stepper import StepperPage
from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.modes import MODES
from flashscope.kernels.workload.trace import Trace
from flashscope.profiles.store import CorruptFileError, Recorder, load
from flashscope.profiles.store.blobs.traces import decode_trace
from flashscope.profiles.wire.events import TraceReady
from tests.app.pages.stepper.conftest import Bench
from tests.app.pages.stepper.hostile import KNOWN, drawn, with_array
from tests.app.stepper.builders import random_trace
from tests.matrix import chosen, on_demand
from tests.profiles.store import builders

TRACES = 25  # drawn in one test
EVERY = [mode.key for mode in MODES]
pytestmark = [pytest.mark.timeout(120), pytest.mark.filterwarnings("ignore::RuntimeWarning")]


def decoded(trace: Trace) -> Trace | None:
    try:
        return decode_trace(msgspec.msgpack.encode(trace))
    except ValueError as error:
        assert str(error)  # noqa: PT017 - many of the drawn ones are fine
        return None


def walk(page: StepperPage, trace: Trace) -> None:
    """Show every step of a trace, and some of them for its last row."""
    page.show_trace(trace)
    assert page.position is not None
    for at in range(page.position.last + 1):
        page.seek(at)
    page._choose_row(RowChoice(row=trace.request.problem.seqlen_q - 1, follow=False))
    page.seek(page.position.last // 2)
    page.grab()


@pytest.mark.parametrize("change", KNOWN.values(), ids=list(KNOWN))
def test_a_file_with_a_trace_whose_parts_do_not_fit_together_is_refused(
    tmp_path: Path, change: Callable[[Trace], Trace]
) -> None:
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started())
    recorder.record(TraceReady(trace=change(random_trace(16, block=4, head_dim=2))))
    recorder.close()
    with pytest.raises(CorruptFileError, match="no session holds"):
        load(recorder.path)


@pytest.mark.matrix
@pytest.mark.parametrize("mode", [mode.key for mode in MODES])
@on_demand("turn", range(20), range(5))
def test_a_drawn_trace_is_shown_or_refused(bench: Bench, turn: int, mode: str) -> None:
    bench.page.show_mode(mode)
    shown = 0
    for seed in range(turn * TRACES, (turn + 1) * TRACES):
        trace = decoded(drawn(seed))
        if trace is not None:
            walk(bench.show(), trace)
            shown += 1
    assert 0 < shown < TRACES


@chosen("mode", EVERY, EVERY[:2])
def test_traces_as_they_are_recorded_are_read_whole(bench: Bench, mode: str) -> None:
    bench.page.show_mode(mode)
    for n, block, causal in ((1, 1, False), (7, 3, True), (16, 32, False)):
        trace = random_trace(n, block=block, head_dim=2, causal=causal)
        assert decoded(trace) == trace
        walk(bench.show(), trace)


@chosen("mode", EVERY, EVERY[:2])
def test_a_trace_of_which_the_mask_keeps_nothing_is_shown(bench: Bench, mode: str) -> None:
    bench.page.show_mode(mode)
    trace = random_trace(4, block=4, head_dim=2)
    for name in ("tile", "s", "m", "l", "alpha", "o"):
        trace = with_array(trace, name, lambda array: array[:0])
    assert decoded(trace) == trace
    walk(bench.show(), trace)


@chosen("mode", ["broken", "predict"], ())
def test_a_drawn_trace_is_shown_in_every_mode(bench: Bench, mode: str) -> None:
    bench.show("slide").choose_mode(mode)
    shown = 0
    for seed in range(TRACES):
        trace = decoded(drawn(seed))
        if trace is not None:
            walk(bench.page, trace)
            bench.qtbot.waitUntil(lambda: bench.page.modes.board.settled)
            walk(bench.page, trace)
            assert bench.page.words()
            shown += 1
    assert shown
