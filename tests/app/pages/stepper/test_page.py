import msgspec
import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QSlider,
)

from flashscope.app.control.appearance import appearance_of
from flashscope.app.look.contrast import contrast
from flashscope.app.look.kernel_marks import LEGIBLE
from flashscope.app.look.theme import LIGHT, THEMES
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.plots.stepper.ink import Role, role_ink
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import Array, TraceRequest
from tests.app.mouse import hover
from tests.app.pages.stepper.conftest import Bench
from tests.app.pages.stepper.position import at, here
from tests.app.stepper.builders import build_trace, random_trace


def seek_phase(page: StepperPage, tile: int, phase: str) -> None:
    steps = here(page).timeline.steps
    page.seek(next(k for k, step in enumerate(steps) if step.tile == tile and step.phase == phase))


def test_the_page_says_words_before_the_first_trace(bench: Bench) -> None:
    bench.engine.silent = True
    bench.page.show()
    assert "Recording the trace on the CPU" in bench.page.words()
    assert not bench.page.transport.isEnabled()


def test_the_first_trace_is_shown_where_its_first_tile_is_done_and_the_keys_step_at_once(
    bench: Bench,
) -> None:
    page = bench.show()
    assert page.position is not None
    first = page.position.timeline.tile_ends[0]
    assert at(page) == first > 0
    focused = page.focusWidget()
    assert focused is page.transport.scrubber
    bench.qtbot.keyClick(focused, Qt.Key.Key_Right)  # type: ignore[no-untyped-call]  # pytest-qt types none
    assert at(page) == first + 1


def test_the_panels_of_another_trace_are_painted_one_after_the_other(bench: Bench) -> None:
    page = bench.show()
    board = page.board
    board._turns.finish()
    page.show_trace(random_trace(64))
    assert not any(panel.updatesEnabled() for panel in board.panels)
    board._turns._next()
    assert [panel for panel in board.panels if panel.updatesEnabled()] == [board.panels[0]]
    board._turns.finish()
    assert all(panel.updatesEnabled() for panel in board.panels)


def test_a_first_trace_that_fails_leaves_the_page_as_it_was(bench: Bench) -> None:
    before = bench.page.words()
    bench.engine.refusal = "The GPU has gone; trace on the CPU."
    with bench.qtbot.waitSignal(bench.controller.trace_failed):
        bench.page.show()
        assert bench.page.words() != before
    assert bench.page.words() == before


def test_no_trace_is_asked_for_before_the_page_is_looked_at(bench: Bench) -> None:
    assert bench.engine.requests == []
    bench.show()
    assert len(bench.engine.requests) == 1


def test_the_slide_example_shows_the_numbers_of_the_slides(bench: Bench) -> None:
    page = bench.show("slide")
    seek_phase(page, 0, "weights")
    assert "= 1.135" in page.board.formulas.accessibleDescription()
    seek_phase(page, 1, "maximum")
    assert "max(3.000, 2.000) = 3.000" in page.words()
    assert "exp(3.000 − 3.000) = 1.000" in page.words()
    page.seek(10_000)
    words = page.words()
    for text in (
        "1.000 · 1.135 + 0.450 = 1.585",
        "= 2.250",
        "Σ = 2 · O = 5.063 · ÷2: 2.532",
        "exact: Σ = 1 · O = 2.250",
    ):
        assert text in words


def test_the_reversed_slide_example_rescales_by_0_368(bench: Bench) -> None:
    page = bench.show("slide-reversed")
    page.seek(10_000)
    words = page.words()
    assert "max(2.000, 3.000) = 3.000" in words
    assert "exp(2.000 − 3.000) = 0.368" in words
    assert "0.368 · 1.223 + 1.135 = 1.585" in words
    assert "= 2.250" in words


def test_after_the_last_step_the_measured_error_is_shown(bench: Bench) -> None:
    page = bench.show("random")
    assert page.bar.result.text() == ""
    page.seek(10_000)
    assert page.bar.result.text().startswith("max |O − exact| = ")
    assert "64 rows, measured" in page.bar.result.text()


def test_the_source_of_the_trace_is_named(bench: Bench) -> None:
    page = bench.show("slide")
    assert "Test bench" in page.bar.source.text()
    assert "NumPy, float64, in the tests" in page.bar.source.text()


def test_the_row_watched_can_be_chosen_and_pinned(bench: Bench) -> None:
    page = bench.show("random")
    page.transport.row.setValue(21)
    seek_phase(page, 20, "weights")
    assert page.transport.row.value() == 21
    page.transport.follow.setChecked(False)
    page.seek(1)
    assert "Row 21 is in another query block: its state does not change here." in page.words()
    page.transport.follow.setChecked(True)
    assert page.transport.row.value() == 5


def test_hovering_a_cell_lights_it_in_both_tiles(bench: Bench) -> None:
    page = bench.show("random")
    seek_phase(page, 3, "output")
    hover(page.board.scores)
    assert page.board.scores.hovered is not None
    assert page.board.weights.hovered == page.board.scores.hovered
    assert "] = " in page.board.weights.readout()


def test_levels_stay_fixed_over_a_trace_and_are_symmetric(bench: Bench) -> None:
    page = bench.show("random")
    heatmap = page.board.scores
    found = set()
    for value in range(0, page.transport.scrubber.maximum(), 11):
        page.seek(value)
        assert heatmap.view is not None
        found.add(heatmap.levels(heatmap.view))
        assert page.board.weights.levels(heatmap.view) == (0.0, 1.0)
    (levels,) = found
    assert levels[0] == -levels[1]
    assert page.story is not None
    recording = page.story.recording
    assert levels[1] == np.abs(recording.s[np.isfinite(recording.s)]).max()
    assert heatmap.colour_of(levels[0], levels) != heatmap.colour_of(levels[1], levels)


def test_a_tile_without_room_for_its_values_has_the_colour_of_each_of_them(bench: Bench) -> None:
    page = bench.page
    page.show_trace(random_trace(96, block=96))
    page.seek(page.transport.scrubber.maximum())
    for heatmap, size in ((page.board.scores, (900, 900)), (page.board.weights, (460, 300))):
        heatmap.setParent(None)  # no layout has a word in its size
        heatmap.resize(*size)
        view = heatmap.view
        assert view is not None
        values, area, levels = heatmap.values(view), heatmap._area(heatmap.frame(view)), heatmap.levels(view)
        assert values is not None
        image = heatmap.grab().toImage()
        for row, column in ((10, 20), (50, 3), (90, 80)):
            centre = area.rect(row, column).center()
            fill = heatmap.colour_of(float(values[row, column]), levels)
            assert image.pixelColor(int(centre.x()), int(centre.y())).name() == fill.name()


def test_masked_scores_are_hatched_and_written_as_words(bench: Bench) -> None:
    page = bench.show("causal")
    seek_phase(page, 0, "scores")
    page.transport.row.setValue(0)
    assert "−∞" in page.board.scores.accessibleDescription()
    assert "masked" in page.board.tiles.accessibleDescription()


def test_a_theme_switch_recolours_the_panels(bench: Bench, qapp: QApplication) -> None:
    page = bench.show("random")
    page.seek(40)
    dark = {panel: panel.grab().toImage() for panel in page.board.panels}
    appearance_of().use(LIGHT)
    page.apply_theme(LIGHT)
    for panel in page.board.panels:
        assert panel.theme is LIGHT
        assert panel.grab().toImage() != dark[panel], panel.accessibleName()


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
@pytest.mark.parametrize("role", ["m", "a", "l", "o"])
def test_coloured_numbers_are_readable(theme: object, role: Role) -> None:
    ink = role_ink(theme, role)  # type: ignore[arg-type]  # parametrize hides the type
    assert contrast(ink, theme.panel) >= LEGIBLE  # type: ignore[attr-defined]  # as above


def test_every_interactive_widget_and_panel_has_an_accessible_name(bench: Bench) -> None:
    page = bench.show("slide")
    kinds = (QAbstractButton, QComboBox, QSlider, QAbstractSpinBox)
    nameless = [
        widget
        for kind in kinds
        for widget in page.findChildren(kind)
        if not widget.accessibleName()
        and not (isinstance(widget, QAbstractButton) and widget.text())
        and not widget.objectName().startswith("qt_")
    ]
    assert nameless == []
    assert all(panel.accessibleName() and panel.accessibleDescription() for panel in page.board.panels)


def test_an_own_problem_is_traced_as_the_form_says(bench: Bench) -> None:
    page = bench.show()
    form = page.bar.form
    form.seqlen.setValue(24)
    form.block_k.setValue(5)
    form.reverse.setChecked(True)
    before = page.story
    form.go.click()
    bench.qtbot.waitUntil(lambda: page.story is not before)
    request = bench.engine.requests[-1]
    assert (request.problem.seqlen_k, request.block_k, request.reverse) == (24, 5, True)
    assert page.bar.chosen_preset == "own"


def test_another_loop_order_asks_for_another_trace(bench: Bench) -> None:
    page = bench.show("random")
    before = page.story
    page.bar.order.setCurrentIndex(1 - page.bar.order.currentIndex())
    bench.qtbot.waitUntil(lambda: page.story is not before)
    assert bench.engine.requests[-1].order != bench.engine.requests[-2].order


def test_a_trace_nobody_waits_for_any_more_is_not_shown(bench: Bench) -> None:
    page = bench.show("slide")
    bench.engine.silent = True
    page.show_preset("random")
    before = page.story
    bench.controller.trace_ready.emit(random_trace(seed=9))
    assert page.story is before


def test_a_preset_asked_for_from_another_page_is_recorded_once(bench: Bench) -> None:
    bench.page.page_requested.connect(bench.page.show)
    bench.page.show_preset("random")
    bench.qtbot.waitUntil(lambda: bench.page.story is not None)
    assert len(bench.engine.requests) == 1
    assert bench.engine.requests[0].problem.seqlen_q == 64


def test_a_preset_chosen_while_another_is_recorded_comes_next(bench: Bench) -> None:
    page = bench.show("slide")
    bench.engine.silent = True
    for preset in ("causal", "overflow", "random"):
        page.show_preset(preset)
    assert [request.problem.causal for request in bench.engine.requests[2:]] == [True]
    bench.engine.silent = False
    bench.engine.answer(bench.engine.requests[-1])
    bench.qtbot.waitUntil(lambda: "of 64 done" in page.words())
    assert page.story is not None
    assert not page.story.recording.trace.request.problem.causal
    assert len(bench.engine.requests) == 4


@pytest.mark.matrix
def test_a_broken_trace_says_so_and_paints(bench: Bench, qapp: QApplication) -> None:
    page = bench.show("slide")
    trace = random_trace(16)
    s, output = trace.s.numpy().copy(), trace.output.numpy().copy()
    s[1, 0, 0], output[3] = np.nan, np.nan
    page.show_trace(msgspec.structs.replace(trace, s=Array.of(s), output=Array.of(output)))
    for step in range(len(here(page).timeline.steps)):
        page.seek(step)
        qapp.processEvents()
    assert page.bar.result.text().startswith("max |O − exact| = NaN")
    assert page.bar.result.property("role") == "error"


def test_rows_that_keep_no_key_are_shown_as_empty(bench: Bench, qapp: QApplication) -> None:
    page = bench.show("slide")
    problem = Problem(seqlen_q=24, seqlen_k=8, head_dim=8, causal=True)
    page.show_trace(build_trace(TraceRequest(problem=problem, block_q=8, block_k=8)))
    page.transport.follow.setChecked(False)
    page.transport.row.setValue(3)
    for step in range(len(here(page).timeline.steps)):
        page.seek(step)
        qapp.processEvents()
    assert "Row 3 is in another query block" in page.words()
    assert page.bar.result.property("role") == "ok"


@pytest.mark.parametrize(("row", "wrong"), [(0, False), (7, True)])
def test_a_softmax_for_each_tile_is_called_wrong_where_a_row_keeps_keys_of_several(
    bench: Bench, row: int, wrong: bool
) -> None:
    page = bench.show("slide")
    problem = Problem(seqlen_q=8, seqlen_k=8, head_dim=8, causal=True)
    page.show_trace(build_trace(TraceRequest(problem=problem, block_q=8, block_k=4)))
    page.transport.follow.setChecked(False)
    page.transport.row.setValue(row)
    assert "per tile: ;" not in page.words()  # there is nothing to say of it yet
    page.seek(here(page).last)
    assert ("a softmax for each tile is not" in page.words()) is wrong


def test_the_slides_notation_shows_beta(bench: Bench) -> None:
    page = bench.show("slide")
    page.seek(10_000)
    assert "β" not in page.words()
    page.bar.notation.setChecked(True)
    assert "exp(2.000 − 3.000) = 0.368" in page.words()


def test_the_next_trace_runs_where_the_top_bar_says(bench: Bench) -> None:
    bench.page.controller.choose_backend("cuda")
    assert bench.page.bar.chosen_backend == "cuda"
    assert bench.engine.requests == []
    bench.page.show_preset("slide")
    assert bench.engine.requests[-1].backend == "cuda"
